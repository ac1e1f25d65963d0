"""All arguments of a training run of the labeler `web2text`; the model card prints them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """As in the paper (3.4, 4.2), where nothing else is said."""

    steps: int = 4000
    """5,000 in the paper, which sees no improvement after."""
    excerpts: int = 128
    """Excerpts of pages a step."""
    excerpt_leaves: int = 9
    """Leaves of an excerpt; shorter pages are filled up with nothing."""
    learning_rate: float = 1e-3
    dropout: float = 0.2
    """Share of the activations of each hidden layer that is dropped; in the published code weights
    are."""
    weight_decay: float = 1e-4
    """Factor of half the sum of squared weights."""
    pair_weight: float = 0.1
    """The paper's lambda."""
    seed: int = 0

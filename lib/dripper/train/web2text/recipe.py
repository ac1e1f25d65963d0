"""All arguments of a training run of the labeler `web2text`; the model card prints them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """As in the paper (3.4, 4.2), where nothing else is said."""

    steps: int = 5000
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
    word_exponent: float = 0.0
    """A leaf weighs its words to this power; 0: all weigh the same."""
    average_from: float = 0.0
    """Share of the steps after which weights are averaged, while the learning rate falls to 0 along
    a cosine; 0: neither."""
    average_decay: float = 0.995
    pair_weight: float = 0.1
    """The paper's lambda."""
    seed: int = 0


PAPER = Recipe()
SHIPPED = Recipe(steps=4000, excerpts=48, excerpt_leaves=32, word_exponent=0.5, average_from=0.5)
"""Of the weights in the package: whole stretches of pages, and what the labels are scored by."""

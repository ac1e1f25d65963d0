"""All arguments of a training run of the labeler `encoder`; the model card prints them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """Chosen for an hour of one CPU core."""

    layers: int = 6
    """The lower ones of the base model."""
    context_tokens: int = 512
    block_tokens: int = 24
    overlap_blocks: int = 8
    chunks_a_page: int = 2
    """Of a page an epoch, at random places."""
    epochs: int = 1
    batch_chunks: int = 8
    learning_rate: float = 3e-4
    warmup: float = 0.06
    """Share of the steps in which the learning rate rises; then it falls to 0 in a line."""
    weight_decay: float = 0.01
    balance: float = 0.5
    """0: every page comes once an epoch; 1: every kind of page as often as any other; between: see
    `dripper.train.mix`."""
    edge_words: int = 4
    """A block weighs the square root of its words and so many more."""
    bfloat16: bool = True
    """Matrix products in half precision, sums and weights in full."""
    seed: int = 0

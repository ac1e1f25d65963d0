"""The settings of the labeler `neuscraper`: the section `labels.neuscraper`."""

from typing import Literal

from pydantic import Field

from dripper.settings import Section


class NeuScraperSettings(Section):
    """The labeler `neuscraper`: in PyTorch, small enough for a CPU."""

    model: str = ""
    """A folder with a checkpoint, as `python -m dripper.train.neuscraper` writes it."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """auto: a GPU where there is one."""
    batch_nodes: int | None = Field(default=None, ge=1)
    """Nodes, padding included, of the chunks that share a forward pass. null: 98,304 on a GPU, as
    the paper's 256 chunks; on a CPU each chunk goes alone."""
    threshold: float | None = Field(default=None, gt=0, lt=1)
    """A block is main where its probability is above it. null: as the checkpoint says."""

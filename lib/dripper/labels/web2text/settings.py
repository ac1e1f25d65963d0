"""The settings of the labeler `web2text`: the section `labels.web2text`."""

from pydantic import Field

from dripper.settings import Section


class Web2TextSettings(Section):
    """The labeler `web2text`."""

    pair_weight: float | None = Field(default=None, ge=0)
    """How much the potentials of pairs of neighbours count beside those of single blocks (the
    paper's lambda). null: as the weights were chosen with; 0: each block by itself."""

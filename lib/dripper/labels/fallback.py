"""What a page becomes where its labeler finds nothing main: a page is never lost for that."""

from enum import StrEnum

import numpy as np

from dripper.blocks.page import Page
from dripper.labels.base import Labeler, Labels
from dripper.labels.baselines import trafilatura_labels


class Fallback(StrEnum):
    """The setting: what to try. What was used ends up in the column `method` as
    "fallback:<value>"."""

    CPU = "cpu"
    """What the labeler `cpu` marks; the whole body where that is nothing either."""
    TRAFILATURA = "trafilatura"
    """The blocks that Trafilatura extracts; the whole body where it extracts nothing either."""
    BODY = "body"
    """Every block."""
    EMPTY = "empty"
    """No block: the page's row says that nothing was found."""


def fall_back(page: Page, html: str, fallback: Fallback, second: Labeler | None = None) -> tuple[Labels, str]:
    """Return labels for a page without main blocks, and the `method` that gave them.

    html: the decoded page as served: Trafilatura also reads what the mapping HTML leaves out.
    second: the labeler of Fallback.CPU. A page without blocks always ends as "fallback:empty".
    Raises ValueError where `second` is needed and missing.
    """
    if not page.blocks:
        fallback = Fallback.EMPTY
    if fallback in (Fallback.CPU, Fallback.TRAFILATURA):
        if fallback is Fallback.TRAFILATURA:
            labels = Labels.certain(trafilatura_labels(page, html))
        elif second is not None:
            labels = second.label([page])[0]
        else:
            raise ValueError("the fallback `cpu` needs its labeler")
        if labels.main.any():
            return labels, f"fallback:{fallback}"
        fallback = Fallback.BODY
    return Labels.certain(np.full(len(page.blocks), fallback is Fallback.BODY)), f"fallback:{fallback}"

"""The committed labelled pages, and helpers on top of them."""

from functools import cache
from pathlib import Path

from dripper.html import Page, preprocess
from dripper.warc import decode
from dripper_lab.datasets import LabelledPage, read_pages

FOLDER = Path(__file__).parents[1] / "data" / "labelled"


@cache
def labelled_pages() -> tuple[LabelledPage, ...]:
    """Return the 11 labelled pages, in order."""
    return tuple(read_pages(FOLDER, "wcxb-dev"))


@cache
def pages() -> tuple[Page, ...]:
    """Return the same pages, split into blocks."""
    return tuple(preprocess(decode(page.html).text) for page in labelled_pages())

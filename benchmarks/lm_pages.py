"""Chooses the pages for benchmarks of the `lm` labeler: pages from the training sets, always the
same ones."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dripper.html import preprocess
from dripper.labels.base import SimplifiedPage
from dripper.warc import decode
from dripper_lab.datasets import LabelledPage, Role, names_with, read_pages
from support.warcs import write_warc

# The number of candidates per chosen page. This is enough if half of them are too long.
SPARE = 2.5
ONE_BLOCK = SimplifiedPage('<html><body><p _item_id="1">One.</p></body></html>', 1)
"""A page for warming up an engine."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen pages, in random order. sources: the labelled page behind each page. tokens: the
    number of tokens of each page, without the prompt. share: the fraction of all candidates within
    the limits."""

    pages: list[SimplifiedPage]
    sources: list[LabelledPage]
    tokens: list[int]
    share: float


def choose(data: Path, n_pages: int, least: int, most: int, count_tokens: Callable[[str], int]) -> Choice:
    """Return `n_pages` random pages with `least` to `most` tokens. Each training set contributes
    equally many candidates. Raises SystemExit if there are too few pages."""
    sets = names_with(Role.TRAIN_SHIPS, folder=data)
    per_set = -(-int(n_pages * SPARE) // len(sets))
    sources = [page for name in sets for page in read_pages(data, name, sample=per_set)]
    made = [(simplified(source), source) for source in sources]
    counted = [(page, source, count_tokens(page.simplified_html)) for page, source in made if page.n_blocks]
    fitting = [(page, source, tokens) for page, source, tokens in counted if least <= tokens <= most]
    if len(fitting) < n_pages:
        raise SystemExit(
            f"only {len(fitting)} of {len(counted)} pages have {least} to {most} tokens: ask for fewer pages"
        )
    random.Random(0).shuffle(fitting)
    pages, sources, tokens = (list(column) for column in zip(*fitting[:n_pages], strict=True))
    return Choice(pages, sources, tokens, len(fitting) / len(counted))


def simplified(page: LabelledPage) -> SimplifiedPage:
    """Return a labelled page in the form in which the label stage receives it."""
    made = preprocess(decode(page.html, page.content_type).text)
    return SimplifiedPage.of(made)


def write_archive(file: Path, pages: Sequence[LabelledPage]) -> None:
    """Write the pages as a WARC file."""
    write_warc(file, [(f"http://example.org/{page.data_set}/{i}", page.html) for i, page in enumerate(pages)])

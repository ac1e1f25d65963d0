"""Which pages the benchmarks of the labeler `lm` run on: real ones of the training sets, the same
every time."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dripper.html import preprocess
from dripper.labels.base import SimplifiedPage
from dripper.warc import decode
from dripper_lab.datasets import LabelledPage, Role, names_with, read_pages
from support.warcs import write_warc

# Pages looked at for one that is taken: enough where half of them are too long.
SPARE = 2.5
ONE_BLOCK = SimplifiedPage('<html><body><p _item_id="1">One.</p></body></html>', 1)
"""A page for what an engine does at its first call alone."""


@dataclass(frozen=True, slots=True)
class Choice:
    """pages: in random order. sources: where each comes from. tokens: of each, as the model reads
    it without the prompt. share: of all pages looked at that are within the limits."""

    pages: list[SimplifiedPage]
    sources: list[LabelledPage]
    tokens: list[int]
    share: float


def choose(data: Path, n_pages: int, least: int, most: int, count_tokens: Callable[[str], int]) -> Choice:
    """Return n_pages pages of `least` to `most` tokens, drawn at random: each training set is
    looked at for as many pages as the next. Raises SystemExit where there are not so many."""
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
    """Return a labelled page as the label stage gets it."""
    made = preprocess(decode(page.html, page.content_type).text)
    return SimplifiedPage.of(made)


def write_archive(file: Path, pages: Sequence[LabelledPage]) -> None:
    """Write the pages as a WARC file."""
    write_warc(file, [(f"http://example.org/{page.data_set}/{i}", page.html) for i, page in enumerate(pages)])

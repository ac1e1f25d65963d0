"""No construct makes a stage's work grow faster than the page.

Work is counted, not timed: lines of the package that run, which are the same on every machine. Work
in C within a line (regular expressions, the parser) is not counted. So those constructs go through
the page process, with a limit on CPU time that is many times their cost now, and a small part of
their earlier cost."""

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dripper
from dripper.errors import ErrorCode, PageError
from dripper.guard import Guard, GuardLimits
from dripper.page.extraction import Extractor
from dripper.settings import LabelerSettings, Settings
from dripper.tree.parser import refuse_costly
from dripper.write.tei import TeiSource, to_tei
from support.constructs import CONSTRUCTS

PACKAGE = str(Path(dripper.__file__).parent)
SIZE = 1_500
AT_THE_LIMIT = 200_000
"""Characters; constructs that a limit of the parser refuses at that size may grow faster up to
there."""
MOST = 2.5
"""The largest allowed ratio of the growth of work from 2n to 4n and from n to 2n: 2 if linear, 4 if
quadratic."""
BY_DEPTH = {"<code> nested", "<table> nested", "katex nested", "MathJax nested"}
"""Work grows with the depth, and Markdown limits the depth to 500: at most 3 s per MB."""
QUICK = [
    *("<h1><span> nested", "itemprop=author nested", "itemprop=datePublished nested", "class=byline nested"),
    *("bylines below 900", "dates below 900", "itemprop=author many", "<blockquote> nested", "<h1> nested"),
    *("rules that hide", "rules that show again", "@media nested", "hidden beside buttons", "isolates open"),
    "headings that announce nothing",
]
"""Constructs that once grew faster; all constructs take half a minute."""
IN_C = {
    "srcset of commas": 250_000,
    "srcset of ', '": 250_000,
    "data-src of .jpg": 250_000,
    "JSON-LD authors of one long name": 250_000,
    "text of \\(": 250_000,
    "text of \\begin{a}": 500_000,
    "text of [tex]": 500_000,
    "text of *": 600_000,
    "notes with links back": 600_000,
    "note with links back": 500_000,
}
"""With the size at which each took more than 10 s."""
CPU_SECONDS = 10


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor(Settings(labeler=LabelerSettings(name="all")))


def lines_run(extractor: Extractor, html: str) -> int:
    """Return how many lines of the package run for a page."""
    count = 0

    def of_frame(frame: FrameType, event: str, _: Any) -> Any:
        return of_line if frame.f_code.co_filename.startswith(PACKAGE) else None

    def of_line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += 1
        return of_line

    before = sys.gettrace()
    sys.settrace(of_frame)
    try:
        extraction = extractor.extract(html)
        to_tei(extraction.main_html, TeiSource())
        dripper.passages(extraction)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CONSTRUCTS]
)
def test_the_work_grows_no_faster_than_the_page(name: str, extractor: Extractor) -> None:
    construct = CONSTRUCTS[name]
    if name in BY_DEPTH or is_refused(construct(AT_THE_LIMIT)):
        return
    one, two, four = (lines_run(extractor, construct(factor * SIZE)) for factor in (1, 2, 4))
    assert four - two <= MOST * max(two - one, two / 2), (one, two, four)


def is_refused(html: str) -> bool:
    """Tell whether a limit of the parser refuses a page."""
    try:
        refuse_costly(html.encode("utf-8", "ignore"))
    except PageError:
        return True
    return False


@pytest.mark.parametrize("name", IN_C)
def test_what_c_does_within_a_line_takes_a_small_part_of_a_pages_time(name: str, extractor: Extractor) -> None:
    html = CONSTRUCTS[name](IN_C[name])
    with Guard(extractor.extract, GuardLimits(CPU_SECONDS, 600, 1 << 30)) as guard:
        assert guard.call(html).error_code is None


def test_a_page_whose_formatting_would_be_repeated_has_an_error_instead_of_gigabytes(extractor: Extractor) -> None:
    html = CONSTRUCTS["<p><i class> unclosed"](140_000)
    with Guard(extractor.extract, GuardLimits(CPU_SECONDS, 600, 1 << 30)) as guard:
        assert guard.call(html).error_code is ErrorCode.PARSE_FAILED

"""The page of a run: whole, escaped, and with nothing in it that runs."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dripper.spark.reports.account import PageFacts, RunFacts, page
from dripper.spark.reports.account.charts import duration
from support.chromium import Chromium, find_chromium
from support.run_facts import EVIL, FACTS, FILES, RUN, START, at, evil_facts


class Elements(HTMLParser):
    """The elements and the text of a document; every element that opens is closed."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self._open: list[str] = []
        self.feed(document)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag not in ("meta",):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_all_that_is_known_of_a_run_is_on_it() -> None:
    text = Elements(page(FACTS)).text
    for words in (
        "ab" * 16,
        "exit code 4: all work is done, but some inputs are bad",
        "1 file does not exist, s3://crawl/warc/9.warc.gz",
        "60 records = 40 pages + 20 skipped",
        "40 pages = 38 extractions + 2 error rows",
        "0.4 pages a second over 1 min 40 s, 2 commits",
        "not html",
        "time_limit",
        "fallback:body",
        "https://example.org/slow",
        "20,100 ms",
        "s3://crawl/warc/2.warc.gz at byte 77",
        "Files with faults: 1",
        '"name": "cpu"',
        "4.0.2",
    ):
        assert words in text, words
    # 108 s of cores for 40 pages.
    assert ("0.03" in text, "2,700" in text, "750" in text, "$30.00" in text) == (True, True, True, True)


def test_quality_is_told_by_confidence_and_kind_with_the_doubtful_pages() -> None:
    doubtful = [PageFacts("https://example.org/d", "1.warc.gz", 5, page_id="7f", confidence=0.31, page_kind="listing")]
    counts = {19: 25, 17: 3, 12: 6, 9: 2, 6: 3, None: 1}
    facts = replace(
        FACTS,
        kinds={"article": 30, "listing": 10},
        confidences=counts,
        short_pages=4,
        wordless_pages=2,
        doubtful_pages=doubtful,
    )
    text = Elements(page(facts)).text
    for words in (
        "70%confidence 0.85 and more",
        "12%confidence under 0.5",
        "10%under 200 characters",
        "5%without a word",
    ):
        assert words in text, words
    for words in ("0.95 to 1.00", "0.30 to 0.35", "not known", "article", "0.31"):
        assert words in text, words
    assert """dripper inspect --table out --where "page_id IN ('7f')" > doubtful.html""" in text.replace(
        FACTS.output, "out"
    )


def test_what_tables_hold_is_text_on_it_and_nothing_runs() -> None:
    document = page(evil_facts())
    elements = Elements(document)
    assert elements.names & {"script", "iframe", "object", "img", "a", "link", "form"} == set()
    assert not [name for name in elements.attributes if name.startswith("on") or name in ("style", "src", "href")]
    assert elements.text.count(EVIL) > 20
    assert "default-src 'none'" in document
    assert not re.search(r"https?://", document.replace("http-equiv", ""))


@pytest.mark.parametrize(
    "run",
    [
        {"run_id": "x", "state": "running", "started_at": START},
        {"run_id": "x", "state": "lost"},
        RUN | {"files": 0, "pages": 0, "records": 0, "failed_pages": 0, "skipped": {}, "errors": {}, "stage_ms": {}},
    ],
)
def test_a_run_that_did_nothing_or_is_not_over_has_a_page_too(run: dict[str, object]) -> None:
    text = Elements(page(RunFacts("out", run))).text
    assert "later runs have read them again" in text
    assert "nan" not in text


def test_counts_that_do_not_add_up_are_told() -> None:
    assert "which does not add up" in page(replace(FACTS, run=RUN | {"records": 61}))


def test_core_hours_are_not_guessed() -> None:
    unknown = replace(FACTS, files=[*FILES, replace(FILES[0], task_ms=None)])
    assert unknown.core_hours is None
    assert "is not known of all of them" in page(unknown)


def test_batches_committed_at_once_are_one_point() -> None:
    assert FACTS.commits() == [(at(40), 30), (at(90), 10)]


def test_speed_is_told_between_commits_in_a_row_for_some_of_them() -> None:
    few = page(FACTS).split("<h2>Speed</h2>")[1].split("</section>")[0]
    assert re.findall(r"<td class=short>([^<]*)", few) == ["40 s", "0.75", "1 min 30 s", "0.2"]
    assert re.findall(r'<rect width="([\d.]+)"', few) == ["100.0", "26.7"]
    many = [replace(FILES[0], finished_at=at(second)) for second in range(1, 100)]
    rows = page(replace(FACTS, files=many)).split("<h2>Speed</h2>")[1].split("</section>")[0]
    assert rows.count("<rect") == 20
    assert "<td class=short>1 min 39 s" in rows


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.004, "0.004 s"), (3600, "1 h"), (86399, "23 h 59 min"), (90061, "1 d 1 h")]
)
def test_times_are_as_people_read_them(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.skipif(find_chromium() is None, reason="no Chromium or Chrome on this machine")
def test_a_browser_draws_it_and_asks_nobody(tmp_path: Path) -> None:
    file = tmp_path / "account.html"
    file.write_text(page(evil_facts()))
    browser = Chromium(tmp_path)
    try:
        browser.open(file)
        assert browser.requests() == [file.as_uri()]
        assert browser.complaints() == []
        # The style sheet is in force, and the bars have their width.
        assert browser.run("getComputedStyle(document.querySelector('.tiles')).display") == "grid"
        assert browser.run("document.querySelector('.bar').getBoundingClientRect().width") > 100
        assert browser.run("document.documentElement.scrollWidth <= innerWidth") is True
    finally:
        browser.close()

"""Layouts in staged runs of chains, on real WARC files and real Delta: the next labeler's labels of
a few pages are transferred to pages that it never saw."""

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from dripper.labels import Labels
from dripper.labels.config import load
from dripper.layouts import Fingerprints, PageBlocks
from dripper.page.rows import Row
from dripper.spark.layouts import stage
from dripper.spark.layouts.teaching import state_of
from dripper.spark.reports.report import cost_summary, summary
from dripper.spark.reports.sample import read_pages
from dripper.spark.run.run import run, run_stages
from dripper.spark.tables.batches import PlannedFile
from dripper.spark.tables.store import Tables
from support.killing import killed
from support.stage_labelers import load_dead, load_true
from support.warcs import Response, write_warc

pytestmark = pytest.mark.spark

CHAIN = load(
    assignments=[
        *("labeler.name=cpu,all", "labeler.escalate_below=1", "layouts.enabled=true"),
        "batch.files=1",
    ]
)
"""The labeler `all` is never loaded by a worker: the tests provide another one."""


@pytest.fixture(scope="module", autouse=True)
def _label_batches_one_by_one() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(stage, "BATCHES", 1)
        yield


def story(host: str, subject: str, *, is_true: str = "story", extra: str = "") -> Response:
    """A page of a host: a story, and a text about an offer that reads like one. is_true: which of
    the two is main content. extra: a class that not all pages of the host have."""
    said = {each: "verily " if each == is_true else "" for each in ("story", "offer")}
    parts = ("one", "two", "three", "four", "five")
    own, offer = (
        "".join(
            f"<p>The {subject} of part {part} {said[kind]}left the {kind} at noon, and nobody who saw it that day {part} waved.</p>"
            for part in parts
        )
        for kind in ("story", "offer")
    )
    more = f"<p class={extra}>Of all that was seen of the {subject} the half was never told.</p>" if extra else ""
    html = (
        f"<html><head><title>{subject}</title></head><body><div class=top><ul><li><a href=/>Home</a></ul></div>"
        f"<div class=story>{own}</div><div class=offer>{offer}{more}</div></body></html>"
    )
    return f"http://{host}/{subject}", html.encode()


SUBJECTS = ("ferry", "tug", "barge", "cutter", "dinghy", "trawler")


@dataclass(frozen=True)
class Ran:
    """Two archives, and an output that a run of the chain has filled."""

    archives: str
    output: Path
    words: str = ""

    def rows(self, spark: SparkSession, table: str) -> list[Row]:
        return rows_of(spark, self.output, table)


def rows_of(spark: SparkSession, output: Path, table: str = "extractions") -> list[Row]:
    made = [row.asDict(recursive=True) for row in Tables(spark, str(output)).read(table).collect()]
    return sorted(made, key=str)


@pytest.fixture(scope="module")
def preprocessed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """After the first stage."""
    folder = tmp_path_factory.mktemp("layouts")
    # The labels of one kind contradict those of the other, and both kinds are representatives.
    split = [
        story("split.org", subject, is_true=("story", "offer")[i % 2], extra=("even", "odd")[i % 2])
        for i, subject in enumerate(SUBJECTS)
    ]
    write_warc(folder / "1.warc", [*(story("a.org", subject) for subject in SUBJECTS[:3]), *split[:3]])
    second = [*(story("a.org", subject) for subject in SUBJECTS[3:]), *split[3:], ("http://a.org/e", b"<html></html>")]
    small = [story("small.org", "ferry"), story("small.org", "poison"), story("lonely.org", "tug")]
    write_warc(folder / "2.warc", [*second, *small])
    outcome = run_stages(spark, ["preprocess"], str(folder / "out"), CHAIN, f"{folder}/*.warc", loader=load_true)
    assert (outcome.complaints, outcome.totals.escalated) == ((), None)
    return Ran(f"{folder}/*.warc", folder / "out")


@pytest.fixture(scope="module")
def ran(spark: SparkSession, preprocessed: Ran, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    output = shutil.copytree(preprocessed.output, tmp_path_factory.mktemp("ran") / "out")
    outcome = run(spark, preprocessed.archives, str(output), CHAIN, loader=load_true)
    assert (outcome.complaints, outcome.totals.files, outcome.totals.rows) == ((), 0, 16)
    assert (outcome.totals.label.pages, outcome.totals.label.failed) == (7, 1)
    return Ran(preprocessed.archives, output, summary(outcome, "out"))


@pytest.mark.slow
def test_labels_of_a_few_pages_reach_pages_that_were_never_sent(spark: SparkSession, ran: Ran) -> None:
    rows = rows_of(spark, ran.output)
    methods: dict[str, Counter[str]] = {}
    for row in rows:
        methods.setdefault(row["host"], Counter())[str(row["method"])] += 1
    assert methods["a.org"] == {"true": 2, "cpu:with_template": 4, "None": 1}
    assert (methods["split.org"].pop("true"), methods["split.org"].total()) == (2, 4)
    assert set(methods["split.org"]) == {"cpu"}
    assert methods["small.org"] == {"true": 1, "cpu:instead_of_true": 1}
    assert methods["lonely.org"] == {"true": 1}
    by_template = [row for row in rows if row["method"] == "cpu:with_template"]
    assert all(row["n_main"] == 5 and "offer" not in row["markdown"] for row in by_template)
    assert all(row["versions"]["labeler"] == "cpu" for row in by_template)
    assert all(row["versions"]["labeler_version"].endswith(",templates=1 of true 1") for row in by_template)
    assert all((row["layout_id"] is None) == (row["method"] is None) for row in rows)
    assert "layouts   7 of 15 pages (46.7%) go on to the next labeler, 2 layouts have representatives" in ran.words
    assert "labels    7 pages = 6 labelled (0 in windows) + 1 without usable labels" in ran.words
    assert "templates 4 of 8 other pages are labelled by them" in ran.words
    assert len(rows_of(spark, ran.output, "blocks")) == len(rows_of(spark, ran.output, "labels")) == 15


@pytest.mark.slow
def test_the_table_of_layouts_says_what_came_of_them(spark: SparkSession, ran: Ran) -> None:
    told = rows_of(spark, ran.output, "layouts")
    assert [(row["batch"], row["state"], row["pages"]) for row in told if not row["host"]] == [
        (1, "no_layout", 0), (2, "no_layout", 0)
    ]  # fmt: skip
    assert {(row["host"], row["state"]) for row in told if row["host"]} == {
        ("a.org", "template"), ("split.org", "inconsistent"), ("small.org", "too_few_pages"), ("lonely.org", "too_few_pages")
    }  # fmt: skip
    ids = {row["page_id"]: (row["batch"], row["host"], row["layout_id"]) for row in rows_of(spark, ran.output)}
    for row in told:
        assert all(ids[each] == (row["batch"], row["host"], row["layout_id"]) for each in row["representatives"])
        learned = [each["page_id"] for each in row["examples"] or []]
        assert learned == (row["representatives"] if row["host"] in ("a.org", "split.org") else [])


@pytest.mark.slow
def test_a_run_that_is_killed_after_any_of_its_commits_asks_nobody_twice_and_writes_the_same_rows(
    spark: SparkSession, preprocessed: Ran, ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = shutil.copytree(preprocessed.output, tmp_path / "out")

    points = (
        # The choice is stored, and no page was labelled.
        ("dripper.spark.run.label_stage.LabelStage.label", load_true, ()),
        # The labels are there. From now on nothing is chosen or labelled.
        ("dripper.spark.run.label_stage.check_rows", load_true, ("dripper.spark.layouts.stage.choices",)),
        # Their examples are stored.
        ("dripper.spark.layouts.stage.template_labels", load_dead, ("dripper.spark.layouts.stage.choices",)),
        # The labels of the others are written, but not in the ledger.
        ("dripper.spark.layouts.stage._count_methods", load_dead, ("dripper.spark.layouts.stage.with_examples",)),
    )
    for point, loader, forbidden in points:
        with monkeypatch.context() as patch:
            for each in (point, *forbidden):
                patch.setattr(each, killed)
            outcome = run_stages(spark, ["label"], str(output), CHAIN, loader=loader)
        assert (outcome.exit_code, outcome.ledger["preprocessed"]) == (3, 2)
    assert len(rows_of(spark, output, "labels")) == 15
    last = run(spark, ran.archives, str(output), CHAIN, loader=load_dead)
    assert (last.complaints, last.totals.files, last.totals.label.pages) == ((), 0, 0)
    for table in ("layouts", "labels", "extractions"):
        assert rows_of(spark, output, table) == ran.rows(spark, table)


@pytest.mark.slow
def test_what_an_earlier_run_paid_for_is_used_and_a_file_that_is_read_again_counts_once(
    spark: SparkSession, ran: Ran, tmp_path: Path
) -> None:
    output = shutil.copytree(ran.output, tmp_path / "out")
    folder = Path(ran.archives).parent
    write_warc(tmp_path / "3.warc", [story("a.org", "schooner"), story("a.org", "ketch")])
    more = run(spark, str(tmp_path / "3.warc"), str(output), CHAIN, loader=load_dead)
    assert (more.complaints, more.totals.label.pages) == ((), 0)
    assert more.totals.methods == {"cpu:with_template": 2}
    again = run(spark, "", str(output), CHAIN, loader=load_true, redo=f"{folder}/1.warc,{folder}/2.warc")
    assert (again.complaints, again.totals.files, again.ledger["pages"]) == ((), 2, 18)
    rows = rows_of(spark, output)
    told = rows_of(spark, output, "layouts")
    asked = [page_id for row in told for page_id in row["representatives"]]
    assert len(asked) == len(set(asked)) == 7
    assert Counter(row["host"] for row in rows if row["error_code"] is None) == Counter(
        {
            host: sum(row["pages"] for row in told if row["host"] == host)
            for host in {row["host"] for row in told} - {""}
        }
    )
    assert {row["batch"] for row in rows} == {row["batch"] for row in told} - {1, 2}
    assert Counter(row["method"] for row in rows if row["host"] == "a.org")["cpu:with_template"] == 6


def test_what_the_labels_of_representatives_make_of_a_layout() -> None:
    prints = Fingerprints(np.array([1, 2], np.int64), np.array([3, 4], np.int64))
    page = PageBlocks(prints, np.array([9, 9], np.int32), np.zeros(2, np.float32))
    own, one, other = Labels.certain(np.array([True, True])), np.array([True, False]), np.array([False, True])
    assert state_of([]) == "failed"
    assert state_of([(page, own, one)]) == state_of([(page, own, one)] * 2) == "template"
    assert state_of([(page, own, one), (page, own, other)]) == "inconsistent"


@pytest.mark.slow
def test_an_estimate_takes_representatives_and_doubtful_pages_of_no_layout(preprocessed: Ran) -> None:
    files = [PlannedFile(str(file)) for file in sorted(Path(preprocessed.archives).parent.glob("*.warc"))]
    told = cost_summary(read_pages(files, CHAIN), CHAIN)
    assert (
        "chain     46.7% of 15 pages go on from cpu to all (2 of a layout, of pages in none a confidence below 1;"
        in told
    )
    assert "GPU hours" in told

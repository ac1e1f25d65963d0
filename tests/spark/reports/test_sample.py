"""The sample of an estimate: a few pages of a few files, nothing that ends it, and its estimate for
labelling on CPUs."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from dripper.labels.config import load
from dripper.labels.cost import Sample
from dripper.settings import Settings
from dripper.spark.ledger.plan import Plan
from dripper.spark.reports import sample as sample_module
from dripper.spark.reports.report import cost_summary
from dripper.spark.reports.sample import cpu_summary, read_pages, take_sample
from dripper.spark.tables.batches import Batch, PlannedFile
from dripper.warc import read_records
from dripper.warc.index.select import Place
from support.warcs import pages, write_warc


def planned(*files: Path) -> list[PlannedFile]:
    return [PlannedFile(str(file), file.stat().st_size if file.exists() else None) for file in files]


def sample_of(files: Sequence[PlannedFile], settings: Settings) -> Sample:
    return take_sample(read_pages(plan_of(files), settings), settings)


def plan_of(files: Sequence[PlannedFile]) -> Plan:
    """Return a plan that goes on with a batch of the first file, and has one of the others."""
    return Plan((Batch(1, tuple(files[:1])),), (Batch(2, tuple(files[1:])),))


def test_a_sample_of_everything_has_every_byte(tmp_path: Path) -> None:
    file = write_warc(tmp_path / "a.warc", [*pages(1, 3), ("http://example.org/empty", b"<html></html>")])
    sample = sample_of(planned(file), Settings())
    assert (sample.pages, len(sample.tokens), len(sample.blocks)) == (4, 3, 3)
    assert 0 < file.stat().st_size - sample.bytes_read <= 4
    assert all(tokens > 50 for tokens in sample.tokens)


def test_a_sample_is_spread_over_files_and_survives_bad_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [write_warc(tmp_path / f"{i}.warc", pages(10 * i, 5)) for i in range(3)]
    monkeypatch.setattr(sample_module, "_PAGES", 8)
    sample = sample_of(planned(*files, tmp_path / "missing.warc"), Settings())
    assert sample.pages == 6
    assert sample.bytes_read < sum(file.stat().st_size for file in files)


def test_a_sample_of_a_selection_has_the_weight_of_its_records(tmp_path: Path) -> None:
    file = write_warc(tmp_path / "a.warc", pages(1, 4))
    places = tuple(Place(r.offset, r.length, r.url) for r in list(read_records(str(file)))[2:])
    selected = PlannedFile(str(file), selection="s", places=places)
    sample = sample_of([selected], load())
    assert (sample.pages, sample.bytes_read) == (2, selected.weight)


def test_no_files_no_pages() -> None:
    assert sample_of([], load()).pages == 0


def test_of_a_chain_only_the_pages_count_that_go_on(tmp_path: Path) -> None:
    file = write_warc(tmp_path / "a.warc", [*pages(1, 3), ("http://example.org/empty", b"<html></html>")])
    words = {}
    for chain in ("labeler.escalate_below=1", "labeler.escalate_below=0", "labeler.escalate_share=0.34"):
        settings = load(assignments=["labeler.name=cpu,all", "labeler.staged=true", chain])
        sample = sample_of(planned(file), settings)
        assert (sample.pages, sample.split) == (4, 3)
        assert (
            len(sample.tokens)
            == len(sample.blocks)
            == {"below=1": 3, "below=0": 0, "share=0.34": 1}[chain.split("_")[1]]
        )
        words[chain] = cost_summary(read_pages(plan_of(planned(file)), settings), settings)
    assert (
        "chain     100.0% of 3 pages go on from cpu to all (a confidence below 1)" in words["labeler.escalate_below=1"]
    )
    assert words["labeler.escalate_below=0"].startswith("chain     0.0% of 3 pages")
    assert "no estimate" not in words["labeler.escalate_below=0"]
    assert (
        "33.3% of 3 pages go on from cpu to all (the least sure 0.34 of them)" in words["labeler.escalate_share=0.34"]
    )
    assert "about 1 to label" in words["labeler.escalate_share=0.34"]
    settings = load(assignments=["labeler.name=cpu,all"])
    fused = cost_summary(read_pages(plan_of(planned(file)), settings), settings)
    assert fused.startswith("chain ")
    assert "GPU" not in fused


def told_of(*files: Path, labeler: str = "cpu") -> str:
    planned = [PlannedFile(str(file), file.stat().st_size if file.exists() else None) for file in files]
    settings = load(assignments=[f"labeler.name={labeler}"])
    return cpu_summary(read_pages(plan_of(planned), settings), settings)


def test_each_member_of_a_vote_has_its_price(tmp_path: Path) -> None:
    file = write_warc(tmp_path / "a.warc", [*pages(1, 5), ("http://example.org/empty", b"<html></html>")])
    told = told_of(file, labeler="vote:cpu,trafilatura").splitlines()
    assert told[0].startswith("cost      from a sample of 6 pages on this machine, ")
    assert [step.split()[0] for step in told[1].removeprefix("  steps").split(",")] == ["split", "cpu", "trafilatura"]
    assert told[2].startswith("  whole   about 6 pages, 0.0 CPU hours")


def test_a_labeler_that_asks_nobody_is_one_step(tmp_path: Path) -> None:
    told = told_of(write_warc(tmp_path / "a.warc", pages(1, 2)))
    assert ", cpu " in told.splitlines()[1]


def test_without_pages_there_is_no_estimate(tmp_path: Path) -> None:
    assert told_of() == ""
    assert "no estimate" in told_of(tmp_path / "missing.warc")

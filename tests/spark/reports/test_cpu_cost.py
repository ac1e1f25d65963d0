"""What labelling on CPUs would cost, from a sample of real archives."""

from pathlib import Path

from dripper.config import load
from dripper.spark.ledger.plan import PlannedFile
from dripper.spark.reports.sample import cpu_summary, read_pages
from support.warcs import pages, write_warc


def told_of(*files: Path, labeler: str = "cpu") -> str:
    planned = [PlannedFile(str(file), file.stat().st_size if file.exists() else None) for file in files]
    settings = load(assignments=[f"labeler.name={labeler}"])
    return cpu_summary(read_pages(planned, settings), settings)


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

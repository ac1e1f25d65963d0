"""What labelling on CPUs would cost, from a sample of real archives."""

from pathlib import Path

from dripper.config import load
from dripper.spark.cpu_cost import cpu_summary
from dripper.spark.plan import Batch, Plan, PlannedFile
from support.warcs import pages, write_warc


def plan_of(*files: Path) -> Plan:
    planned = tuple(PlannedFile(str(file), file.stat().st_size if file.exists() else None) for file in files)
    return Plan(fresh=(Batch(1, planned),))


def test_each_member_of_a_vote_has_its_price(tmp_path: Path) -> None:
    file = write_warc(tmp_path / "a.warc", [*pages(1, 5), ("http://example.org/empty", b"<html></html>")])
    told = cpu_summary(plan_of(file), load(assignments=["labeler.name=vote:cpu,trafilatura"])).splitlines()
    assert told[0].startswith("cost      from a sample of 6 pages on this machine, ")
    assert [step.split()[0] for step in told[1].removeprefix("  steps").split(",")] == ["split", "cpu", "trafilatura"]
    assert told[2].startswith("  whole   about 6 pages, 0.0 CPU hours")


def test_a_labeler_that_asks_nobody_is_one_step(tmp_path: Path) -> None:
    told = cpu_summary(plan_of(write_warc(tmp_path / "a.warc", pages(1, 2))), load())
    assert ", cpu " in told.splitlines()[1]


def test_without_pages_there_is_no_estimate(tmp_path: Path) -> None:
    assert cpu_summary(Plan(), load()) == ""
    assert "no estimate" in cpu_summary(plan_of(tmp_path / "missing.warc"), load())

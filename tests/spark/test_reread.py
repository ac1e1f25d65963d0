"""Files typed in several ways, files that change, files to redo, and dismissed files."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dripper.errors import InputError
from dripper.settings import Settings
from dripper.spark.ledger.plan import Plan
from dripper.spark.run.outcome import Outcome
from dripper.spark.run.run import dismiss, dry_plan, run
from dripper.spark.tables.store import Tables
from support.warcs import pages, write_warc

pytestmark = pytest.mark.spark


class Output:
    """One output, into which a test runs again and again."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = str(folder)
        self.tables = Tables(spark, self.folder)

    def run(self, warcs: str | Path, redo: str = "") -> Outcome:
        outcome = run(self.spark, str(warcs), self.folder, Settings(), redo=redo)
        assert outcome.ledger["pages"] == len(self.rows())
        return outcome

    def plan(self, warcs: str | Path) -> Plan:
        """Return the plan of a run."""
        return dry_plan(self.spark, str(warcs), self.folder, Settings())

    def rows(self) -> list[tuple[str, str]]:
        """Return (file, page) of every row, as the table has them."""
        found = (
            self.tables.read("extractions").select("warc_file", "page_id", "url").orderBy("warc_file", "url").collect()
        )
        assert len({row["page_id"] for row in found}) == len(found)
        return [(Path(row["warc_file"]).name, row["url"].rsplit("/", 1)[1]) for row in found]

    def ledger(self) -> dict[str, tuple[str, int, str | None]]:
        rows = self.tables.read("warc_files").collect()
        return {Path(row["warc_file"]).name: (row["state"], row["pages"], row["error_kind"]) for row in rows}


@pytest.fixture
def output(spark: SparkSession, tmp_path: Path) -> Output:
    return Output(spark, tmp_path / "out")


@pytest.mark.slow
def test_a_file_is_read_once_whatever_way_it_is_typed(
    output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for month in ("june", "july"):
        (tmp_path / month).mkdir()
        write_warc(tmp_path / month / "crawl.warc.gz", pages(1, 2))
    monkeypatch.chdir(tmp_path / "june")
    assert output.run("crawl.warc.gz").totals.files == 1
    for way in (tmp_path / "june/crawl.warc.gz", f"file://{tmp_path}/june/crawl.warc.gz", "../june/crawl.warc.gz"):
        assert output.plan(way) == Plan(n_done=1)
    monkeypatch.chdir(tmp_path / "july")
    assert (output.run("crawl.warc.gz").totals.files, len(output.rows())) == (1, 4)


def test_a_changed_file_and_one_that_is_asked_for_are_read_again_in_the_place_of_their_old_rows(
    output: Output, tmp_path: Path
) -> None:
    """As a clipped one that was fetched again."""
    write_warc(tmp_path / "a.warc", pages(1, 2))
    write_warc(tmp_path / "b.warc", pages(10, 1))
    assert output.run(tmp_path).exit_code == 0
    write_warc(tmp_path / "a.warc", pages(2, 3))
    assert output.plan(tmp_path).n_done == 1
    again = output.run(tmp_path, redo=f"{tmp_path}/b.warc")
    assert (again.exit_code, again.totals.files, again.plan.n_done) == (0, 2, 0)
    assert output.rows() == [("a.warc", "2"), ("a.warc", "3"), ("a.warc", "4"), ("b.warc", "10")]
    assert output.plan(tmp_path) == Plan(n_done=2)
    with pytest.raises(InputError, match=r"--redo .*: .*c.warc was never read into this output"):
        output.run(tmp_path, redo=f"{tmp_path}/c.warc")


@pytest.mark.slow
def test_a_file_that_is_gone_is_told_then_set_aside_and_dismissed(
    output: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dripper.spark.ledger.ledger.MAX_ATTEMPTS", 2)
    write_warc(tmp_path / "a.warc", pages(1, 1))
    (tmp_path / "list").write_text(f"{tmp_path}/a.warc\n{tmp_path}/gone.warc\n")
    warcs = f"@{tmp_path}/list"
    assert [output.run(warcs).exit_code for _ in range(2)] == [4, 4]
    assert output.ledger()["gone.warc"] == ("set_aside", 0, "gone")
    quiet = output.run(warcs)
    assert (quiet.totals.files, quiet.exit_code) == (0, 4)
    assert "1 file is set aside" in quiet.bad_inputs[0]
    with pytest.raises(InputError, match=r"--dismiss .*a.warc: no file of that address failed"):
        dismiss(output.spark, f"{tmp_path}/a.warc", output.folder, Settings())
    assert dismiss(output.spark, f"{tmp_path}/gone.warc", output.folder, Settings()) == 1
    assert output.run(warcs).exit_code == 0
    write_warc(tmp_path / "gone.warc", pages(5, 1))
    assert (output.run(warcs).totals.files, output.rows()) == (1, [("a.warc", "1"), ("gone.warc", "5")])

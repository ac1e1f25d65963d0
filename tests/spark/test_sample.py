"""The sample of an estimate: a few pages of a few files, and nothing that ends it."""

from pathlib import Path

from dripper.config import load
from dripper.spark.plan import Batch, Plan, PlannedFile
from dripper.spark.sample import planned_files, take_sample
from dripper.warc import Place, read_records
from support.warcs import pages, write_warc


def planned(*files: Path) -> list[PlannedFile]:
    return [PlannedFile(str(file), file.stat().st_size if file.exists() else None) for file in files]


def test_a_sample_of_everything_has_every_byte(tmp_path: Path) -> None:
    file = write_warc(tmp_path / "a.warc", [*pages(1, 3), ("http://example.org/empty", b"<html></html>")])
    sample = take_sample(planned(file), load(assignments=["cost.sample_pages=100"]))
    assert (sample.pages, len(sample.tokens), len(sample.blocks)) == (4, 3, 3)
    assert 0 < file.stat().st_size - sample.bytes_read <= 4
    assert all(tokens > 50 for tokens in sample.tokens)


def test_a_sample_is_spread_over_files_and_survives_bad_ones(tmp_path: Path) -> None:
    files = [write_warc(tmp_path / f"{i}.warc", pages(10 * i, 5)) for i in range(3)]
    sample = take_sample(planned(*files, tmp_path / "missing.warc"), load(assignments=["cost.sample_pages=8"]))
    assert sample.pages == 6
    assert sample.bytes_read < sum(file.stat().st_size for file in files)


def test_a_sample_of_a_selection_has_the_weight_of_its_records(tmp_path: Path) -> None:
    file = write_warc(tmp_path / "a.warc", pages(1, 4))
    places = tuple(Place(r.offset, r.length, r.url) for r in list(read_records(str(file)))[2:])
    selected = PlannedFile(str(file), selection="s", places=places)
    sample = take_sample([selected], load())
    assert (sample.pages, sample.bytes_read) == (2, selected.weight)


def test_no_files_no_pages() -> None:
    assert take_sample([], load()).pages == 0


def test_the_files_of_a_plan() -> None:
    one, two = (Batch(i, (PlannedFile(str(i), 5),)) for i in (1, 2))
    assert [file.warc_file for file in planned_files(Plan((one,), (two,), (), 0, 0))] == ["1", "2"]

"""Archives that have moved are known under their first names; the run asks about files that only
look moved."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dripper.errors import InputError
from dripper.labels.config import load
from dripper.spark.ledger.inputs import Input
from dripper.spark.ledger.plan import BatchSize, LedgerEntry, make_plan
from dripper.spark.ledger.relocated import (
    Move,
    check_not_moved,
    find_first_name,
    find_place,
    locate,
    move,
    names_by_place,
    parse_move,
    rename_to_first_names,
)
from dripper.spark.run.run import run
from dripper.spark.tables.batches import PlannedFile
from dripper.spark.tables.store import Tables
from support.job_mains import job
from support.warcs import pages, write_warc


def entry(name: str, **more: Any) -> LedgerEntry:
    return LedgerEntry(PlannedFile(name, 10, "etag:1", **more), 1, "done", 3)


def first_name(address: str, moves: list[Move], names: set[str]) -> str:
    return find_first_name(address, moves, names_by_place(names, moves))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("s3a://old/", "s3n://new/crawl/", Move("s3://old", "s3://new/crawl")),
        ("/nowhere/mnt/", "s3://new", Move("/nowhere/mnt", "s3://new")),
        ("https://Example.org/a/", "hdfs://Name/a", Move("https://example.org/a", "hdfs://name/a")),
    ],
)
def test_prefixes_are_canonical_as_the_names_of_files_are(old: str, new: str, expected: Move) -> None:
    assert move(old, new) == parse_move(f"{old}={new}") == expected


@pytest.mark.parametrize("typed", ["s3://a/=s3a://a", "=s3://a", "s3://a", "s3://a=", "a=b=c", "s3://=s3://a"])
def test_what_is_no_move_is_refused(typed: str) -> None:
    with pytest.raises(InputError):
        parse_move(typed)


def test_a_file_has_the_name_under_which_it_was_read_first_whatever_came_after() -> None:
    there_and_back = [Move("/a", "/b"), Move("/b", "/c"), Move("/c", "/a")]
    assert first_name("/a/x", there_and_back, {"/a/x"}) == "/a/x"
    assert find_place("/a/x", there_and_back) == "/a/x"
    # Read under the new name, before the move was recorded, or because it was added later.
    assert first_name("/c/x", there_and_back[:2], {"/c/x", "/a/x"}) == "/c/x"


def test_an_address_whose_file_has_moved_away_is_that_of_a_new_file() -> None:
    nightly, names = list[Move](), set[str]()
    for night in range(1, 4):
        name = first_name("/latest/x", nightly, names)
        assert name == ("/latest/x" if night == 1 else f"/latest/x#{night}")
        assert find_place(name, nightly) == "/latest/x"
        names.add(name)
        nightly.append(Move("/latest", f"/{night}"))
    assert {first_name(f"/{night}/x", nightly, names) for night in range(1, 4)} == names
    assert [find_place(name, nightly) for name in sorted(names)] == ["/1/x", "/2/x", "/3/x"]
    assert find_place("/elsewhere/x#2", nightly) == "/elsewhere/x#2", "a name of its own"
    # Files of one name that go to the same folder: the last one is there.
    assert first_name("/1/x", [*nightly[:1], Move("/latest", "/1")], names) == "/latest/x#2"


def test_folders_that_are_swapped_by_three_moves_keep_the_names_of_their_files() -> None:
    swap = [Move("/a", "/tmp"), Move("/b", "/a"), Move("/tmp", "/b")]
    names = {"/a/x", "/b/x", "/a/y"}
    assert {each: first_name(each, swap, names) for each in ("/a/x", "/b/x", "/b/y", "/a/y")} == {
        "/a/x": "/b/x",
        "/b/x": "/a/x",
        "/b/y": "/a/y",
        "/a/y": "/a/y#2",
    }
    assert [find_place(name, swap) for name in sorted(names)] == ["/b/x", "/b/y", "/a/x"]
    into_itself = [Move("/a", "/a/old")]
    assert first_name("/a/old/x", into_itself, names) == "/a/x"
    assert first_name("/a/x", into_itself, names) == "/a/x#2"


def test_a_file_that_is_read_again_with_others_is_opened_where_it_is() -> None:
    known = [entry("/latest/x"), entry("/latest/x#2", path="/latest/x"), entry("s3://b/y", path="s3a://b/y")]
    located = locate(known, [Move("/latest", "/may"), Move("/nowhere", "/c")])
    assert [each.file.open_path for each in located] == ["/may/x", "/latest/x", "s3a://b/y"]
    assert locate(known, []) == known


def test_files_that_have_moved_are_done_and_are_opened_where_they_are() -> None:
    files = (PlannedFile("s3://new/x", 10, "etag:9", "s3a://new/x"), PlannedFile("s3://new/y", 11))
    given = Input(files, frozenset({"s3://new/x"}))
    known = [entry("s3://old/x")]
    seen = rename_to_first_names(given, [Move("s3://old", "s3://new")], known)
    assert seen.files == (PlannedFile("s3://old/x", 10, None, "s3a://new/x"), files[1])
    assert seen.redo == {"s3://old/x"}
    plan = make_plan(seen.files, known, BatchSize(9, 9))
    assert [file.warc_file for batch in plan.fresh for file in batch.files] == ["s3://new/y"]
    # Once it was read there, the version is the copy's, and shows when it changes.
    seen = rename_to_first_names(given, [Move("s3://old", "s3://new")], [entry("s3://old/x", path="s3a://new/x")])
    assert seen.files[0].version == "etag:9"
    bigger = rename_to_first_names(Input((PlannedFile("s3://new/x", 12),)), [Move("s3://old", "s3://new")], known)
    assert len(make_plan(bigger.files, known, BatchSize(9, 9)).fresh) == 1


def test_most_of_the_new_files_look_as_if_they_had_moved() -> None:
    known = [entry("/mnt/a/1/x.warc"), entry("/mnt/a/1/y.warc")]
    alike, other = PlannedFile("/srv/a/1/x.warc", 10), PlannedFile("/srv/a/1/z.warc", 10)
    with pytest.raises(InputError, match=r"1 of 1 new file has .*--relocated /mnt=/srv, .*--really-new"):
        check_not_moved([alike, PlannedFile("/mnt/a/1/y.warc", 10)], known)
    check_not_moved([alike, other], known)
    check_not_moved([PlannedFile("/srv/a/1/x.warc"), PlannedFile("/srv/a/1/y.warc", 11)], known)
    check_not_moved([PlannedFile("/srv/a/1/x.warc", 10)], [])
    # Moved files are there again, or were never away.
    known = locate(known, [Move("/mnt", "/srv")])
    with pytest.raises(InputError, match=r"such as /mnt/a/1/x.warc and /srv/a/1/x.warc; .*--relocated /srv=/mnt, "):
        check_not_moved([PlannedFile("/mnt/a/1/x.warc#2", 10, path="/mnt/a/1/x.warc")], known)


@pytest.mark.spark
@pytest.mark.draw("books on Delta")
def test_archives_that_have_moved_are_read_once_and_keep_their_ids(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old").mkdir()
    write_warc(tmp_path / "old/a.warc", pages(0, 2))
    write_warc(tmp_path / "old/b.warc", pages(10, 2))
    old, new, output = (str(tmp_path / name) for name in ("old", "new", "out"))
    assert run(spark, old, output, load()).exit_code == 0
    tables = Tables(spark, output)
    before = sorted(tables.read("extractions").select("page_id", "warc_file").collect())
    shutil.move(old, new)
    flags = ["--warcs", new, "--output", output]
    assert job("run").main(flags) == 2
    assert f"2 of 2 new files have name and size of files that were read before, such as {new}/a.warc" in (
        told := capsys.readouterr().err
    )
    assert f"--relocated {old}={new}" in told
    assert job("relocate").main([f"{old}/", new, "--output", output, "--dry-run"]) == 0
    assert job("relocate").main([new, old, "--output", output]) == 2
    capsys.readouterr()
    assert job("run").main([*flags, "--relocated", f"{old}={new}"]) == 0
    assert f"2 files of {old} are found at {new}; pages keep their ids" in capsys.readouterr().out
    outcome = run(spark, new, output, load(), redo=f"{new}/a.warc")
    assert (outcome.exit_code, outcome.totals.pages, outcome.ledger["pages"]) == (0, 2, 4)
    assert sorted(tables.read("extractions").select("page_id", "warc_file").collect()) == before
    rows = tables.read("warc_files").orderBy("warc_file").collect()
    assert [row["path"] for row in rows] == [f"{new}/a.warc", None]

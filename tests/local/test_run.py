"""Many pages without Spark: one row per page, whatever happens in between."""

import fcntl
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dripper
from dripper.errors import InputError, MachineError, UsageError
from dripper.labels.config import load
from dripper.local import extract_files
from dripper.local.inputs import Input
from dripper.local.pages import InputCounts, read_pages
from dripper.page.columns import EXTRACTIONS
from dripper.settings import Settings
from support.warcs import page, pages, write_warc

SETTINGS = Settings()
PAGES = 12


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages as files and in an archive, and a file that is not a page."""
    folder = tmp_path_factory.mktemp("crawl")
    for number in range(PAGES):
        (folder / f"{number}.html").write_bytes(page(number)[1])
    (folder / "zipped.html.gz").write_bytes(gzip.compress(page(90)[1]))
    (folder / "paper.html").write_bytes(b"%PDF-1.7")
    (folder / "blank.html").touch()
    write_warc(folder / "more.warc.gz", pages(100, 5))
    return folder


@pytest.fixture(scope="module")
def written(crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows of `crawl`."""
    out = tmp_path_factory.mktemp("written") / "pages.jsonl"
    outcome = extract_files([str(crawl)], out, SETTINGS, jobs=2)
    assert (outcome.pages, outcome.is_complete) == (PAGES + 3 + 5, True)
    assert outcome.errors == {"not_html": 1, "empty_page": 1}
    return out


def rows(file: Path) -> dict[str, dict[str, Any]]:
    return rows_of(file.read_bytes())


def rows_of(lines: bytes) -> dict[str, dict[str, Any]]:
    found = [json.loads(line) for line in lines.splitlines(keepends=True) if line.endswith(b"\n")]
    by_id = {row["page_id"]: row for row in found}
    assert len(by_id) == len(found), "a page has two rows"
    return by_id


def test_a_row_has_the_columns_of_the_table(written: Path) -> None:
    expected = [column.name for column in EXTRACTIONS if column.name != "batch"]
    for row in rows(written).values():
        assert list(row) == expected


def test_a_row_says_what_one_page_alone_gives(written: Path, crawl: Path) -> None:
    by_file = {Path(row["warc_file"]).name: row for row in rows(written).values()}
    alone = dripper.extract((crawl / "3.html").read_bytes())
    row = by_file["3.html"]
    assert (row["main_html"], row["markdown"], row["title"]) == (alone.main_html, alone.markdown, alone.title)
    assert row["versions"]["labeler"] == "cpu"
    assert "ferry" in by_file["zipped.html.gz"]["markdown"]
    assert (by_file["paper.html"]["error_code"], by_file["paper.html"]["main_html"]) == ("not_html", None)
    archived = [row for row in rows(written).values() if row["warc_file"].endswith("more.warc.gz")]
    assert {row["url"] for row in archived} == {f"http://example.org/{number}" for number in range(100, 105)}
    assert {row["fetched_at"] for row in archived} == {"2026-01-02T03:04:05+00:00"}


def test_the_same_call_again_finds_all_done(written: Path, crawl: Path) -> None:
    before = written.read_bytes()
    outcome = extract_files([str(crawl)], written, SETTINGS, jobs=2)
    assert (outcome.pages, outcome.inputs.already_written) == (0, PAGES + 8)
    assert written.read_bytes() == before


@pytest.mark.parametrize("cut", [1, 200])
def test_a_line_that_was_cut_short_is_done_again(written: Path, crawl: Path, tmp_path: Path, cut: int) -> None:
    out = tmp_path / "pages.jsonl"
    out.write_bytes(written.read_bytes()[:-cut])
    assert extract_files([str(crawl)], out, SETTINGS, jobs=1).pages == 1
    assert rows(out) == rows(written)


@pytest.mark.slow
def test_after_a_kill_the_same_command_goes_on(written: Path, crawl: Path, tmp_path: Path) -> None:
    out, lines = tmp_path / "pages.parquet", tmp_path / "pages.parquet.jsonl"
    command = [sys.executable, "-m", "dripper", "extract", str(crawl), "--out", str(out), "--jobs", "2"]
    running = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    while running.poll() is None and (not lines.exists() or lines.read_bytes().count(b"\n") < 4):
        time.sleep(0.002)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    _wait_for_end_of(running.pid)
    kept = rows_of(lines.read_bytes())
    assert 4 <= len(kept) < len(rows(written))
    outcome = extract_files([str(crawl)], out, SETTINGS, jobs=2)
    assert outcome.pages == len(rows(written)) - len(kept)
    assert set(pq.read_table(out).column("page_id").to_pylist()) == rows(written).keys()
    assert pq.read_metadata(out).num_rows == len(rows(written))
    assert [file.name for file in tmp_path.iterdir()] == ["pages.parquet"]


def _wait_for_end_of(session: int) -> None:
    """The page processes notice that their answers are no longer read, and end by themselves."""
    for _ in range(1000):
        try:
            os.killpg(session, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    raise AssertionError("page processes live on")


def test_parquet_holds_the_same_rows_and_takes_more(written: Path, crawl: Path, tmp_path: Path) -> None:
    out = tmp_path / "pages.parquet"
    extract_files([str(crawl / "*.html")], out, SETTINGS, jobs=2)
    first = pq.read_table(out)
    assert first.num_rows == PAGES + 2
    outcome = extract_files([str(crawl)], out, SETTINGS, jobs=2)
    assert (outcome.pages, outcome.inputs.already_written) == (6, PAGES + 2)
    table = pq.read_table(out)
    assert table.schema.field("fetched_at").type == pa.timestamp("us", tz="UTC")
    assert table.schema.field("page_id").metadata[b"comment"].startswith(b"Key: ")
    expected = rows(written)
    for row in table.drop_columns(["fetched_at", "versions"]).to_pylist():
        assert row.items() <= expected[row["page_id"]].items()
    assert Counter(table.column("fetched_at").is_null().to_pylist()) == {True: PAGES + 3, False: 5}
    assert [file.name for file in tmp_path.iterdir()] == ["pages.parquet"]


def test_a_kill_between_the_new_file_and_the_end_leaves_no_double(crawl: Path, tmp_path: Path) -> None:
    done, out = tmp_path / "done.jsonl", tmp_path / "pages.parquet"
    extract_files([str(crawl / "1.html")], done, SETTINGS, jobs=1)
    extract_files([str(crawl / "1.html")], out, SETTINGS, jobs=1)
    shutil.copy(done, tmp_path / "pages.parquet.jsonl")
    (tmp_path / "pages.parquet.unfinished").write_bytes(b"half")
    extract_files([str(crawl / "1.html")], out, SETTINGS, jobs=1)
    assert pq.read_metadata(out).num_rows == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["done.jsonl", "pages.parquet"]


def test_a_file_that_cannot_be_read_is_left_for_another_run(crawl: Path, tmp_path: Path) -> None:
    settings = load(assignments=["reading.s3.max_attempts=1"])
    given = ["http://127.0.0.1:9/x.warc.gz", str(crawl / "1.html")]
    outcome = extract_files(given, tmp_path / "pages.jsonl", settings, jobs=1)
    assert (outcome.pages, outcome.is_complete) == (1, False)
    seen = InputCounts()
    assert list(read_pages([Input("/gone.html", "/gone.html")], settings.reading, (), seen)) == []
    assert (seen.bad, seen.unread) == ({"/gone.html": "/gone.html: No such file or directory"}, [])


def test_a_page_above_the_limit_is_an_error_row(crawl: Path, tmp_path: Path) -> None:
    settings = load(assignments=["reading.page_bytes=1024"])
    outcome = extract_files([str(crawl / "1.html"), str(crawl / "zipped.html.gz")], tmp_path / "a.jsonl", settings, 1)
    assert outcome.errors == {"page_too_large": 2}


def test_what_is_wrong_is_told_before_any_work(written: Path, crawl: Path, tmp_path: Path) -> None:
    def wrong(out: Path, *assignments: str, error: type[UsageError] = UsageError) -> str:
        with pytest.raises(error) as caught:
            extract_files([str(crawl)], out, load(assignments=assignments), jobs=1)
        return str(caught.value)

    assert "must end in .jsonl or .parquet" in wrong(tmp_path / "pages.csv")
    assert "No such file or directory" in wrong(tmp_path / "no" / "pages.jsonl", error=InputError)
    assert "labeler all" in wrong(written, "labeler.name=all")
    assert "set labels.lm.endpoint" in wrong(tmp_path / "pages.jsonl", "labeler.name=lm")
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    assert "did not write" in wrong(tmp_path / "other.jsonl", error=InputError)
    assert (tmp_path / "other.jsonl").read_text() == '{"a": 1}\n'
    (tmp_path / "other.parquet").write_text("no Parquet")
    assert "is not a file of this command" in wrong(tmp_path / "other.parquet", error=InputError)
    extract_files([str(crawl / "1.html")], tmp_path / "cpu.parquet", SETTINGS, jobs=1)
    assert "labeler cpu; this is labeler all" in wrong(tmp_path / "cpu.parquet", "labeler.name=all")
    with written.open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        assert "another process is writing" in wrong(written)


def test_archives_without_their_reader_are_told_before_any_work(
    crawl: Path, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not after an hour of pages in files."""

    def not_installed(module: str) -> None:
        raise ModuleNotFoundError("No module named 'warcio'", name="warcio")

    monkeypatch.setattr("dripper.local.pages.import_module", not_installed)
    with pytest.raises(MachineError, match=r"reading archives needs warcio.*: pip install '\.\[warc\]'"):
        extract_files([str(crawl), str(sample)], tmp_path / "pages.jsonl", SETTINGS, jobs=1)
    assert not list(tmp_path.glob("pages*"))


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full on this machine")
    from dripper.local.output import RowLines

    class Full(RowLines):
        def __init__(self) -> None:
            super().__init__(tmp_path / "pages.jsonl", {})
            self._stream = Path("/dev/full").open("wb")  # noqa: SIM115

    with (
        closing(Full()) as lines,
        pytest.raises(InputError, match="No space left on device; the same command continues"),
    ):
        lines.append(b"{}\n", "0" * 32)

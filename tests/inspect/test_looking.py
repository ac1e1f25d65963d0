"""Rows become views: their pages are read again, and differences are reported."""

from dataclasses import replace
from pathlib import Path

import pytest

from dripper.inspect.looking import compare_views, view_pages, view_rows, view_stored_row
from dripper.inspect.sources import Row, find_pages
from dripper.settings import Settings
from support.delta_tables import rows_of_archive
from support.warcs import pages, write_warc


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return write_warc(tmp_path / "a.warc.gz", [*pages(0, 2), ("http://example.org/empty", b"<p>")])


@pytest.fixture
def rows(archive: Path) -> list[Row]:
    return rows_of_archive(archive)


def test_a_row_shows_the_blocks_of_its_page(rows: list[Row], archive: Path) -> None:
    seen = list(view_rows(rows, Settings(), None))
    again = list(view_pages(find_pages([str(archive)], Settings().reading), Settings()))
    assert [view.notes for view in seen] == [()] * 3
    assert [view.blocks for view in seen] == [view.blocks for view in again]
    assert [view.markdown for view in seen] == [row["markdown"] or "" for row in rows]
    assert seen[0].id == rows[0]["page_id"]
    assert (seen[2].error_code, seen[2].blocks) == ("empty_page", ())


def test_an_archive_out_of_reach_leaves_what_the_row_holds(rows: list[Row], archive: Path) -> None:
    archive.unlink()
    (seen,) = view_rows(rows[:1], Settings(), None)
    assert seen.blocks == ()
    assert seen.markdown == rows[0]["markdown"]
    assert "the archive is out of reach" in seen.notes[0]
    assert "No such file" in seen.notes[0]


def test_another_labeler_may_be_asked(rows: list[Row]) -> None:
    (seen,) = view_rows(rows[:1], Settings(), "all")
    assert all(block.main for block in seen.blocks)
    assert "as all" in seen.notes[0]
    assert "has another main HTML" in seen.notes[0]


def test_a_labeler_that_cannot_be_had_is_said(rows: list[Row]) -> None:
    row = {**rows[0], "versions": {**rows[0]["versions"], "labeler": "gone"}}
    (seen,) = view_rows([row], Settings(), None)
    assert "the labeler gone cannot be loaded" in seen.notes[0]
    assert seen.markdown


def test_an_error_that_is_no_more_is_said(rows: list[Row]) -> None:
    row = {**rows[0], "error_code": "time_limit", "error_detail": "20 s", "main_html": None, "markdown": None}
    (seen,) = view_rows([row], Settings(), None)
    assert (seen.error_code, seen.error_detail) == ("time_limit", "20 s")
    assert seen.notes == ("The row has time_limit; read again, the page gives no error.",)
    assert seen.blocks


def test_a_row_that_says_the_same_needs_no_note(rows: list[Row]) -> None:
    view = view_stored_row(rows[0])
    assert compare_views(view, view).notes == ()
    assert compare_views(view, replace(view, main_html="other")).notes


def test_a_page_above_its_limits_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "deep.html").write_text("<p>x" + "<div>" * 30_000)
    settings = Settings()
    (seen,) = view_pages(find_pages([str(tmp_path)], settings.reading), settings)
    assert seen.error_code == "parse_failed"

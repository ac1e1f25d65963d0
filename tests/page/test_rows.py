"""Rows: every column of the schema, values that any UTF-8 table can hold, and registered domains as
in Common Crawl's index."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.errors import ErrorCode
from dripper.labels import Labels
from dripper.page.columns import EXTRACTIONS, ORIGIN
from dripper.page.extraction import Extraction
from dripper.page.rows import (
    extraction_row,
    grade_confidence,
    outcome_columns,
    record_columns,
    registered_domain,
    storable,
    text_sha256,
)
from dripper.warc import Record

RECORD = Record(
    page_id="0" * 32,
    url="https://Example.org/a",
    warc_file="a.warc.gz",
    offset=5,
    length=700,
    fetched_at=datetime(2026, 1, 2, tzinfo=UTC),
    http_status=200,
    content_type="text/html",
    payload=b"<p>x",
    payload_digest="sha256:00",
    record_id="<urn:uuid:e5300911-6a2d-4a8c-a1b6-5a1a6d2b1bd5>",
    payload_digest_sha1="2UDBKWIXPUVIVYMAIR6IJSWZYLVZ4UFV",
)
VERSIONS = {"dripper": "1", "profile": "dripper", "labeler": "cpu", "labeler_version": "2"}


def test_a_good_page_fills_the_declared_columns() -> None:
    row = extraction_row(RECORD, Extraction(main_html="<p>x</p>", markdown="x\n", n_blocks=1, n_main=1), 7, VERSIONS)
    assert sorted(row) == sorted(column.name for column in EXTRACTIONS)
    assert (row["host"], row["batch"], row["markdown_chars"], row["error_code"]) == ("example.org", 7, 2, None)


def test_a_failed_page_has_no_text_and_a_code() -> None:
    row = extraction_row(RECORD, Extraction(error_code=ErrorCode.TIME_LIMIT, error_detail="20 s"), 7, VERSIONS)
    assert sorted(row) == sorted(column.name for column in EXTRACTIONS)
    assert (row["main_html"], row["markdown"], row["text_sha256"], row["n_main"]) == (None, None, None, None)
    assert (row["error_code"], row["error_detail"]) == ("time_limit", "20 s")


@pytest.mark.parametrize(
    ("changes", "error", "whole"),
    [
        ({}, None, True),
        ({"flags": ("sniffed", "inflated offset")}, None, True),
        ({"flags": ("damaged member",)}, None, False),
        ({"truncated": "damaged"}, None, False),
        ({}, ErrorCode.TIME_LIMIT, False),
    ],
)
def test_one_column_says_whether_a_page_is_whole(
    changes: dict[str, object], error: ErrorCode | None, whole: bool
) -> None:
    record = replace(RECORD, **changes)  # type: ignore[arg-type]
    assert extraction_row(record, Extraction(error_code=error), 7, VERSIONS)["is_whole"] is whole


def test_a_row_says_by_what_it_meets_the_rows_of_others() -> None:
    warc_file = "s3://commoncrawl/crawl-data/CC-MAIN-2024-10/segments/1707947473347.0/warc/CC-MAIN-1-2.warc.gz"
    row = record_columns(replace(RECORD, url="https://news.bbc.co.uk/1", warc_file=warc_file), 7)
    assert {column.name: row[column.name] for column in ORIGIN} == {
        "warc_record_id": "<urn:uuid:e5300911-6a2d-4a8c-a1b6-5a1a6d2b1bd5>",
        "payload_digest_sha1": "2UDBKWIXPUVIVYMAIR6IJSWZYLVZ4UFV",
        "registered_domain": "bbc.co.uk",
        "crawl": "CC-MAIN-2024-10",
    }


@pytest.mark.parametrize("warc_file", ["/archives/a.warc", "s3://commoncrawl/crawl-data/CC-MAIN-2024-10/a.warc.gz"])
def test_a_crawl_that_is_named_goes_before_the_address(warc_file: str) -> None:
    assert record_columns(replace(RECORD, warc_file=warc_file), 7, "harbours 2026")["crawl"] == "harbours 2026"
    row = extraction_row(replace(RECORD, warc_file=warc_file), Extraction(), 7, VERSIONS, "harbours 2026")
    assert row["crawl"] == "harbours 2026"


def test_equal_texts_have_equal_hashes() -> None:
    assert text_sha256("One\n\ntwo") == text_sha256(" one TWO ")
    assert text_sha256("one two") != text_sha256("onetwo")


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_can_be_stored(text: str) -> None:
    stored = storable({"title": text, "n_main": 3, "metadata": {"types": (text,), "body": text}})
    stored["metadata"]["body"].encode("utf-8")
    stored["metadata"]["types"][0].encode("utf-8")
    stored["title"].encode("utf-8")
    assert stored["n_main"] == 3
    if text.isascii():
        assert stored["title"] == text


def test_columns_of_labels_without_probabilities_are_null() -> None:
    columns = outcome_columns(Labels.certain(np.array([True, False])))
    assert columns == {
        "main": [True, False],
        "probability": None,
        "confidence": None,
        "page_kind": None,
        "passes": 0,
        "windows": 1,
    }


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.org", "example.org"),
        ("News.BBC.co.uk.", "bbc.co.uk"),
        ("me.github.io", "github.io"),  # a company's suffix, no registry's
        ("a.b.c.kawasaki.jp", "b.c.kawasaki.jp"),
        ("www.city.kawasaki.jp", "city.kawasaki.jp"),
        ("www.bücher.de", "xn--bcher-kva.de"),
        ("www.straße.de", "xn--strae-oqa.de"),  # by the rules of 2003 it was strasse.de, of another owner
        ("a.例え\u3002jp", "xn--r8jz45g.jp"),
        ("a\ud800.de", None),
        ("co.uk", None),
        ("localhost", None),
        ("www.intranet.local", None),
        ("93.184.216.34", None),
        ("2001:db8::1", None),
        ("", None),
        ("." * 300, None),
        ("ü" * 300, None),
    ],
)
def test_what_was_registered(host: str, domain: str | None) -> None:
    assert registered_domain(host) == domain


def test_confidences_have_grades():
    asked = (None, 0.0, 0.4999, 0.5, 0.8499, 0.85, 1.0)
    assert [grade_confidence(each) for each in asked] == [None, "doubtful", "doubtful", None, None, "sure", "sure"]

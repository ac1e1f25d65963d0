"""Pages in a table: each row stays, with the result of `dripper.extract` for its page."""

from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

import dripper
import dripper.spark
from dripper.errors import InputError, SettingsError
from dripper.html import preprocess
from dripper.labels.config import load
from dripper.page.rows import storable
from dripper.spark import html_column
from dripper.spark.html_column import extract_row, schema
from support.warcs import page

pytestmark = pytest.mark.spark

LABELLED = Path(__file__).parents[1] / "data" / "labelled"
REAL = [file.read_bytes() for file in sorted(LABELLED.glob("*/html/*.html"))]
HOSTILE = [
    None,
    b"",
    b"   ",
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    b"%PDF-1.7\nx",
    b"<div>" * 60_000,
    b"<p>caf\xe9 \xff\xfe and \xed\xa0\x80 more</p>",
]
PAGES = [*REAL, *HOSTILE, REAL[0], REAL[0]]
"""Real pages, hostile ones, and the same page again."""


def address(number: int) -> str:
    return f"https://example.org/{number}/"


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    rows = [(number, html, address(number), None if html is None else len(html)) for number, html in enumerate(PAGES)]
    return spark.createDataFrame(rows, "id int, html binary, `the url` string, size int").coalesce(1)


@pytest.fixture(scope="module")
def rows(df: DataFrame) -> list[Row]:
    return dripper.spark.extract_column(df, "html", "the url", text=True).collect()


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Workers of this process, ended afterwards."""
    make, workers = html_column._worker.__wrapped__, []

    @cache
    def kept(settings: str, text: bool) -> object:
        workers.append(make(settings, text))
        return workers[-1]

    monkeypatch.setattr(html_column, "_worker", kept)
    yield
    for guard, _ in workers:
        guard.close()
    html_column._last.clear()


def test_every_row_stays_with_its_other_columns_in_order(df: DataFrame, rows: list[Row]) -> None:
    assert df.columns == ["id", "html", "the url", "size"]
    assert [(row["id"], row["the url"], row["size"]) for row in rows] == [
        (row["id"], row["the url"], row["size"]) for row in df.collect()
    ]


def test_each_is_what_extract_gives(rows: list[Row]) -> None:
    good = 0
    for row, html in zip(rows, PAGES, strict=True):
        made, alone = row["extraction"], dripper.extract(html or b"", url=address(row["id"]))
        is_good = alone.error_code is None
        good += is_good
        assert made["error_code"] == alone.error_code
        for name in ("main_html", "markdown", "title", "n_blocks", "n_main", "text"):
            assert made[name] == (getattr(alone, name) if is_good else None), (row["id"], name)
        # Nothing is decoded of a null.
        of_bytes = () if html is None else ("charset", "charset_source", "encoding_errors")
        for name in ("language", "method", "confidence", *of_bytes):
            assert made[name] == getattr(alone, name), (row["id"], name)
        assert (made["metadata"] and made["metadata"].asDict()) == (alone.metadata and storable(asdict(alone.metadata)))
        assert made["versions"]["labeler"] == "cpu"
    assert good >= len(REAL) + 2
    hostile = [row["extraction"]["error_code"] for row in rows[len(REAL) : len(REAL) + len(HOSTILE)]]
    assert hostile[:6] == ["empty_page", "empty_page", "empty_page", "not_html", "not_html", "parse_failed"]


def test_text_columns_settings_and_headers(spark: SparkSession) -> None:
    html = page(3)[1].decode()
    pages = spark.createDataFrame(
        [(html, None), ("caf\xe9 " + html, "text/html"), ("http://example.org/a", None), ("", None), (None, None)],
        "page string, header string",
    )
    extracted = dripper.spark.extract_column(
        pages, F.col("page"), content_type="header", column="e", labeler="all", settings={"markdown.title": "exclude"}
    )
    first, _, *others = [row["e"] for row in extracted.collect()]
    alone = dripper.extract(html, labeler="all", settings={"markdown.title": "exclude"})
    assert first["markdown"] == alone.markdown
    assert "Imprint" in first["markdown"]
    assert (others[0]["error_code"], others[0]["error_detail"]) == ("not_html", "it is an address, not a page")
    assert [row["error_code"] for row in others[1:]] == ["empty_page", "empty_page"]


def test_the_function_of_sql(spark: SparkSession, df: DataFrame, rows: list[Row]) -> None:
    df.createOrReplaceTempView("pages_of_a_table")
    dripper.spark.register(spark)
    told = spark.sql(
        "SELECT id, e.* FROM (SELECT id, dripper_extract(html, `the url`) AS e FROM pages_of_a_table) "
        "WHERE e.error_code IS NULL ORDER BY id"
    ).collect()
    good = [row for row in rows if row["extraction"]["error_code"] is None]
    assert [row["markdown"] for row in told] == [row["extraction"]["markdown"] for row in good]
    (short,) = spark.sql("SELECT dripper_extract('<title>T</title><p>One word.').title AS title").collect()
    assert short["title"] == "T"


def test_labels_in_sql(spark: SparkSession) -> None:
    """An iterator pandas UDF: the same labels as from the labeler, and no row is lost."""
    made = [preprocess(page(number)[1].decode()) for number in range(5)]
    blocks = spark.createDataFrame(
        [(i, one.simplified_html, len(one.blocks)) for i, one in enumerate(made)] + [(5, None, None)],
        "id int, simplified_html string, n_blocks int",
    )
    blocks.repartition(2, "id").createOrReplaceTempView("blocks_of_a_table")
    spark.udf.register("label", dripper.spark.label_udf("all"))
    told = spark.sql(
        "SELECT id, l.* FROM (SELECT id, label(simplified_html, n_blocks) AS l FROM blocks_of_a_table) ORDER BY id"
    ).collect()
    assert [len(row["main"] or ()) for row in told] == [*(len(one.blocks) for one in made), 0]
    assert all(all(row["main"]) for row in told[:5])
    assert [row["error_code"] for row in told] == [None] * 5 + ["empty_page"]
    with pytest.raises(SettingsError, match="the labeler cpu reads whole pages"):
        dripper.spark.label_udf()


def test_a_page_is_extracted_once_whatever_is_asked_of_the_column(df: DataFrame) -> None:
    """If Spark treats the function as deterministic, a filter by a field of its struct extracts
    every page twice."""
    extracted = dripper.spark.extract_column(df, "html", "the url")
    asked = extracted.where("extraction.error_code IS NULL").select("extraction.title", "extraction.markdown")
    plan = asked._jdf.queryExecution().executedPlan().toString()
    assert plan.count("BatchEvalPython") == 1
    assert plan.count("extract_row(") >= 1


def test_the_page_processes_limits_hold(here: None) -> None:
    settings = load(assignments=["limits.page_memory_bytes=67108864", "limits.page_cpu_seconds=1"]).model_dump_json()
    row = extract_row(settings, False, b"<p>x" * 4_000_000)
    assert row["error_code"] in ("memory_limit", "time_limit")
    assert row["versions"]["labeler"] == "cpu"
    assert extract_row(settings, False, "<p>good")["markdown"] == "good\n"


def test_a_query_that_names_two_fields_makes_one_extraction_of_a_page(
    here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load().model_dump_json()
    made: list[Any] = []
    monkeypatch.setattr(html_column, "_extract_row", lambda *given: made.append(given) or {"title": str(len(made))})
    titles = [
        extract_row(settings, False, html)["title"] for html in ("<p>a", "<p>a", bytearray(b"<p>a"), b"<p>a", "<p>b")
    ]
    assert titles == ["1", "1", "2", "2", "3"]


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"html": "htm"}, "html='htm': there is no such column; there are id, html"),
        ({"html": "size"}, "html=size: the column must be string or binary, and is int"),
        ({"html": "html", "url": "id"}, "url=id: the column must be string, and is int"),
        ({"html": "html", "column": "Size"}, "there is a column Size already: name the new one"),
    ],
)
def test_columns_that_do_not_fit_are_told(df: DataFrame, keywords: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        dripper.spark.extract_column(df, **keywords)


def test_labelers_that_cannot_work_are_told_before_the_work(df: DataFrame, spark: SparkSession) -> None:
    with pytest.raises(SettingsError, match="cannot be shared with the processes"):
        dripper.spark.extract_column(df, "html", labeler="lm", model="/m")
    with pytest.raises(SettingsError, match="no labeler 'cup'; did you mean 'cpu'"):
        dripper.spark.register(spark, labeler="cup")


def test_the_struct_has_the_columns_of_the_table() -> None:
    names = schema().fieldNames()
    assert names[:5] == ["title", "language", "language_probability", "main_html", "markdown"]
    assert {"method", "confidence", "metadata", "versions", "error_code", "error_detail", "charset"} <= set(names)
    assert schema(text=True).fieldNames() == [*names, "text"]

"""Extracts or labels pages that are already in a table, as a new column or in SQL.

Extraction uses a plain Python UDF. It works in every kind of session, classic or Connect, and Spark
does not send the other columns to Python. Spark sends a plain UDF 100 pages at a time. It would
send an Arrow UDF 10,000 pages by default, about a gigabyte.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial, update_wrapper
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, DataType, NullType, StringType, StructField, StructType

from dripper.errors import ErrorCode, InputError, PageError
from dripper.guard import Guard, GuardLimits
from dripper.labels.engine import Loader, check_labeler
from dripper.page import columns
from dripper.page.extraction import Extraction, shared_extractor
from dripper.page.rows import Row, charset_columns, extraction_columns, storable
from dripper.settings import Settings
from dripper.spark.tables.schemas import EXTRACTIONS, LABELS, nullable
from dripper.spark.workers.label import ANSWER, label_function

_FIELDS = (
    *(column.name for column in (*columns.EXTRACTION, *columns.POSTS)),
    *("charset", "charset_source", "encoding_errors", "hidden_chars", "schema_org"),
)
_TEXT = StructField("text", StringType())
_ADDRESS = ("http://", "https://")

Page = tuple[str | bytes, str | None, str | None]
"""The page's HTML, URL and Content-Type header."""


def schema(*, text: bool = False) -> StructType:
    """Return the struct type of an extraction: the result columns of the `extractions` table.

    Args:
        text: Whether to add the field `text`, which the table does not have.
    """
    of_table = {field.name: field for field in nullable(EXTRACTIONS.fields)}
    return StructType([of_table[name] for name in _FIELDS] + ([_TEXT] if text else []))


def add_extractions(
    df: DataFrame,
    html: str | Column,
    url: str | Column | None,
    content_type: str | Column | None,
    column: str,
    settings: Settings,
    text: bool,
) -> DataFrame:
    """See `dripper.spark.extract_column`."""
    if column.lower() in {name.lower() for name in df.columns}:
        raise InputError(f"there is a column {column} already: name the new one, column='…'")
    _require(df, html, "html", (StringType, BinaryType, NullType))
    for name, source in (("url", url), ("content_type", content_type)):
        if source is not None:
            _require(df, source, name, (StringType, NullType))
    inputs = [F.lit(None) if source is None else _as_column(source) for source in (html, url, content_type)]
    return df.withColumn(column, _function(settings, text)(*inputs))


def register(spark: SparkSession, name: str, settings: Settings, text: bool) -> None:
    """See `dripper.spark.register`."""
    spark.udf.register(name, _function(settings, text))


def labels_function(settings: Settings, loader: Loader) -> Any:
    """See `dripper.spark.label_udf`."""
    check_labeler(settings, loader)
    of_table = {field.name: field for field in nullable(LABELS.fields)}
    answer = StructType([of_table[name] for name in ANSWER])
    function = F.pandas_udf(label_function(loader, settings), answer)  # type: ignore[attr-defined]
    return function.asNondeterministic()


def _function(settings: Settings, text: bool) -> Any:
    work = update_wrapper(partial(extract_row, settings.model_dump_json(), text), extract_row)
    function = F.udf(work, schema(text=text), useArrow=False)
    # The function is deterministic. If Spark knew this, it would repeat the call for each use of
    # the column. A query that filters by `error_code`, for example, would extract each page twice.
    return function.asNondeterministic()


def _as_column(source: str | Column) -> Column:
    return F.col(f"`{source}`") if isinstance(source, str) else source


def _require(df: DataFrame, source: str | Column, name: str, types: tuple[type[DataType], ...]) -> None:
    if isinstance(source, str) and source not in df.columns:
        raise InputError(f"{name}={source!r}: there is no such column; there are {', '.join(df.columns)}")
    data_type = df.select(_as_column(source)).schema[0].dataType
    if not isinstance(data_type, types):
        allowed = " or ".join(kind().simpleString() for kind in types if kind is not NullType)
        raise InputError(f"{name}={source}: the column must be {allowed}, and is {data_type.simpleString()}")


_last: list[Any] = []
"""The arguments and the row of the last call. A SQL query that names the function twice, as in
`f(html).title, f(html).markdown`, calls it twice for each page."""


def extract_row(
    settings: str,
    text: bool,
    html: str | bytes | bytearray | None,
    url: str | None = None,
    content_type: str | None = None,
) -> Row:
    """Return the row for one page. A bad page never raises an exception.

    Args:
        settings: The settings as JSON.
    """
    page = bytes(html) if isinstance(html, bytearray) else html
    call = (settings, text, page, url, content_type)
    if not _last or _last[0] != call:
        _last[:] = [call, _extract_row(*call)]
    row: Row = _last[1]
    return row


def _extract_row(settings: str, text: bool, html: str | bytes | None, url: str | None, content_type: str | None) -> Row:
    guard, versions = _worker(settings, text)
    try:
        return guard.call((_page(html), url, content_type))
    except PageError as error:
        return _row(Extraction(error_code=error.code, error_detail=error.detail or None), versions, text)


def _page(html: str | bytes | None) -> str | bytes:
    """Return the page. Raises PageError for null or a URL, as `dripper.extract` does."""
    if html is None:
        raise PageError(ErrorCode.EMPTY_PAGE, "html is null")
    if isinstance(html, str) and html.startswith(_ADDRESS) and "<" not in html and len(html.split()) == 1:
        raise PageError(ErrorCode.NOT_HTML, "it is an address, not a page")
    return html


@cache
def _worker(settings: str, text: bool) -> tuple[Guard[Page, Row], Mapping[str, str]]:
    """Return the guard for these settings, and the value of `versions` in its rows.

    Later tasks in this worker reuse the guard and its child process.
    """
    parsed = Settings.model_validate_json(settings)
    extractor = shared_extractor(parsed)
    versions = extractor.versions
    work: Callable[[Page], Row] = lambda page: _row(extractor.extract(*page), versions, text)  # noqa: E731
    return Guard(work, GuardLimits.of(parsed.limits)), versions


def _row(extraction: Extraction, versions: Mapping[str, str], text: bool) -> Row:
    row = extraction_columns(extraction) | charset_columns(extraction) | {"versions": dict(versions)}
    return storable(row | ({"text": extraction.text if extraction.error_code is None else None} if text else {}))

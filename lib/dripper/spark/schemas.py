"""The tables, column by column; `extractions` is declared in `dripper.columns`.

Names are fixed; a change of meaning raises SCHEMA_VERSION.
"""

from collections.abc import Iterable

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from dripper import columns

SCHEMA_VERSION = 1
"""Kept as the table property `dripper.schema_version`; a job refuses to write into a table of another version."""


def nullable(fields: Iterable[StructField]) -> StructType:
    """Return the columns as a Python pass gives them: by name and type, any may be null."""
    return StructType([StructField(field.name, field.dataType) for field in fields])


def _column(name: str, kind: DataType, comment: str, nullable: bool = True) -> StructField:
    return StructField(name, kind, nullable, {"comment": comment})


_TYPES: dict[columns.Kind, DataType] = {
    columns.Kind.STRING: StringType(),
    columns.Kind.INTEGER: IntegerType(),
    columns.Kind.LONG: LongType(),
    columns.Kind.DOUBLE: DoubleType(),
    columns.Kind.TIMESTAMP: TimestampType(),
}


def _declared(column: columns.Column) -> StructField:
    return _column(column.name, spark_type(column.type), column.comment, column.nullable)


def spark_type(kind: columns.Type) -> DataType:
    """Return the type of a column of `dripper.columns` as Spark names it."""
    if isinstance(kind, columns.ListOf):
        return ArrayType(spark_type(kind.items))
    if isinstance(kind, columns.Struct):
        return StructType([StructField(name, spark_type(field)) for name, field in kind.fields])
    return _TYPES[kind]


HINTS = StructType(
    [
        StructField("types", ArrayType(StringType())),
        StructField("description", StringType()),
        StructField("body", StringType()),
    ]
)

_PAGE_COLUMNS = [_declared(column) for column in columns.PAGE]
EXTRACTIONS = StructType([_declared(column) for column in columns.EXTRACTIONS])

_MADE_BY = [
    _column("profile", StringType(), "The rules that split the page"),
    _column("dripper", StringType(), "The version of this program"),
]

PAGES = StructType(
    [
        *_PAGE_COLUMNS,
        _column("title", StringType(), "Title of the page"),
        _column("mapping_html", StringType(), "The page with its blocks numbered, from which main_html is cut"),
        _column("texts", ArrayType(StringType()), "How the text of each block begins: for the language detector"),
        _column("metadata", HINTS, "What the page says about itself out of sight: for the fallback cpu"),
        _column("page_metadata", spark_type(columns.METADATA), "What becomes the column metadata of extractions"),
        _column(
            "base_href", StringType(), "What relative addresses of the page start from, where it says so (<base href>)"
        ),
        _column("source", StringType(), "The page as decoded: for the fallback trafilatura; null: it is not set"),
        _column("n_blocks", IntegerType(), "Blocks the page was split into"),
        *_MADE_BY,
        _column("error_code", StringType(), "Why the page could not be split; null: it could"),
        _column("error_detail", StringType(), "What exactly went wrong"),
    ]
)

BLOCKS = StructType(
    [
        _column("page_id", StringType(), "Key: the page, as in pages", nullable=False),
        _column("batch", LongType(), "The batch that wrote the row; the partition", nullable=False),
        _column("simplified_html", StringType(), "What a labeler reads: one element a block", nullable=False),
        _column("item_ids", ArrayType(IntegerType()), "The blocks' numbers in simplified_html", nullable=False),
        _column("tokens", IntegerType(), "Tokens of simplified_html: estimated, or counted where a tokenizer is set"),
        *_MADE_BY,
    ]
)

LABELS = StructType(
    [
        _column("page_id", StringType(), "Key: the page, as in blocks", nullable=False),
        _column("batch", LongType(), "The batch that wrote the row; the partition", nullable=False),
        _column("main", ArrayType(BooleanType()), "Which of the page's blocks are main content; null: see error_code"),
        _column("probability", ArrayType(FloatType()), "The probability of main; null: the labeler has none"),
        _column("confidence", DoubleType(), "How sure the labeler is of the page as a whole, 0 to 1"),
        _column("passes", IntegerType(), "Forward passes of a language model over the page"),
        _column("windows", IntegerType(), "Parts the page was cut into to fit the labeler"),
        _column("labeler", StringType(), "The labeler", nullable=False),
        _column("labeler_version", StringType(), "Its version: model, prompt, settings", nullable=False),
        _column("error_code", StringType(), "Why there are no labels; null: there are"),
        _column("error_detail", StringType(), "What exactly went wrong"),
    ]
)

WARC_FILES = StructType(
    [
        _column("warc_file", StringType(), "Key: the archive file, as planned", nullable=False),
        _column("batch", LongType(), "The batch it belongs to; the partition", nullable=False),
        _column(
            "state",
            StringType(),
            "planned, preprocessed, labelled (these two in staged runs), done, or failed (could not be read to its end; "
            "tried again by the next run)",
        ),
        _column("size_bytes", LongType(), "Size of the file; null: not known before reading"),
        _column("bytes_read", LongType(), "Bytes of it that were read"),
        _column("records", LongType(), "Records seen = pages + all skipped"),
        _column("pages", LongType(), "Records that are HTML pages: each is one row of extractions"),
        _column("failed_pages", LongType(), "Pages whose extraction ended as an error row"),
        _column("skipped", MapType(StringType(), LongType()), "Records that are not pages, by reason"),
        _column("clipped", BooleanType(), "The file ends inside a record"),
        _column("n_problems", LongType(), "Faults found in the file"),
        _column("problems", ArrayType(StringType()), "The first faults, each with its offset"),
        _column("error", StringType(), "Why the file could not be read to its end"),
        _column("finished_at", TimestampType(), "When its batch was committed"),
    ]
)

EVALUATIONS = StructType(
    [
        _column("batch", LongType(), "The evaluation that wrote the row; the partition", nullable=False),
        _column("data_set", StringType(), "Key: the set of labelled pages", nullable=False),
        _column("page_id", StringType(), "Key: the page's id within its set", nullable=False),
        _column("host", StringType(), "The page's site"),
        _column("language", StringType(), "Language of the page, ISO 639-1"),
        _column("page_type", StringType(), "article, forum, product…, where the set says so"),
        _column("complexity", DoubleType(), "Share of the page's words that are not main content, 0 to 1"),
        _column("extractor", StringType(), "Key: who extracted", nullable=False),
        _column("extractor_version", StringType(), "Its version", nullable=False),
        _column("cpu_ms", DoubleType(), "CPU milliseconds of the extraction"),
        _column("error_code", StringType(), "Why there is no extraction; null: there is one"),
        _column("error_detail", StringType(), "What exactly went wrong"),
        _column("metric", StringType(), "Key: the metric", nullable=False),
        _column("value", DoubleType(), "Its value, 0 to 1; null: not defined for this page"),
    ]
)

TABLES = {
    "extractions": (EXTRACTIONS, "One row per HTML page of the archives: its main content, or why there is none"),
    "evaluations": (
        EVALUATIONS,
        "One row per page, extractor and metric: how well the extractor did on a labelled page",
    ),
    "pages": (
        PAGES,
        "One row per HTML page, for the stage extract: the page with numbered blocks, or why there are none",
    ),
    "blocks": (BLOCKS, "One row per page that has blocks, for the stage label: all that a labeler reads"),
    "labels": (LABELS, "One row per row of blocks: which blocks are main content"),
    "warc_files": (WARC_FILES, "One row per archive file: what was read, what was skipped and why"),
}
"""Name → (schema, comment)."""

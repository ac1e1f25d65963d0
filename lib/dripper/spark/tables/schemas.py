"""Schemas of the tables, column by column. `dripper.page.columns` declares `extractions`.

Column names never change. If the meaning of a column changes, SCHEMA_VERSION is raised.
"""

from collections.abc import Iterable

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
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

from dripper.page import columns


def nullable(fields: Iterable[StructField]) -> StructType:
    """Return the same columns, all nullable, for rows that Python functions return."""
    return StructType([StructField(field.name, field.dataType) for field in fields])


def column(name: str, kind: DataType, comment: str, nullable: bool = True) -> StructField:
    """Return a table column with a comment."""
    return StructField(name, kind, nullable, {"comment": comment})


_TYPES: dict[columns.Kind, DataType] = {
    columns.Kind.STRING: StringType(),
    columns.Kind.INTEGER: IntegerType(),
    columns.Kind.LONG: LongType(),
    columns.Kind.DOUBLE: DoubleType(),
    columns.Kind.TIMESTAMP: TimestampType(),
    columns.Kind.DATE: DateType(),
    columns.Kind.BOOLEAN: BooleanType(),
}


def declared(of: columns.Column) -> StructField:
    """Return the Spark column for a column that `dripper.page.columns` declares."""
    return column(of.name, spark_type(of.type), of.comment, of.nullable)


def spark_type(kind: columns.Type) -> DataType:
    """Return the Spark type for a column type of `dripper.page.columns`."""
    if isinstance(kind, columns.ListOf):
        return ArrayType(spark_type(kind.items))
    if isinstance(kind, columns.Struct):
        return StructType([StructField(name, spark_type(field)) for name, field in kind.fields])
    return _TYPES[kind]


_OF_BLOCKS = [
    StructField("paths", ArrayType(LongType())),
    StructField("texts", ArrayType(LongType())),
    StructField("words", ArrayType(IntegerType())),
]
"""Columns with a value for each block of a page: hashes of the block's path and text, and its
number of words."""

FINGERPRINTS = StructType([*_OF_BLOCKS, StructField("signature", ArrayType(IntegerType()))])

EXAMPLE = StructType(
    [
        StructField("page_id", StringType()),
        *_OF_BLOCKS,
        StructField("main", ArrayType(BooleanType())),
        StructField("labeler", StringType()),
        StructField("labeler_version", StringType()),
    ]
)

LAYOUTS = StructType(
    [
        column("batch", LongType(), "The batch of these pages; the partition", nullable=False),
        column("host", StringType(), "Key: the host; empty: pages without a known layout", nullable=False),
        column("layout_id", StringType(), "Key: the layout, as in extractions", nullable=False),
        column("pages", LongType(), "Pages of the batch with this layout"),
        column(
            "representatives",
            ArrayType(StringType()),
            "Pages of the batch for the expensive labeler; empty: none",
        ),
        column("state", StringType(), "How its other pages are labelled, see docs/layouts.md"),
        column(
            "examples",
            ArrayType(EXAMPLE),
            "Representatives with the input of the template: hashes of each block's path and text, its words, its label",
        ),
        column(
            "signature",
            ArrayType(IntegerType()),
            "MinHash of the layout's skeleton; pages with a near-equal skeleton join the layout",
        ),
    ]
)

SCHEMA_VERSION = 2
"""Stored in the table property `dripper.schema_version`. Tables with another version are
rejected."""


FIRST_LABELS = StructType(
    [
        StructField("main", ArrayType(BooleanType())),
        StructField("probability", ArrayType(FloatType())),
        StructField("confidence", DoubleType()),
        StructField("page_kind", StringType()),
        StructField("method", StringType()),
        StructField("labeler", StringType()),
        StructField("labeler_version", StringType()),
    ]
)

_PAGE_COLUMNS = [declared(each) for each in columns.PAGE]
EXTRACTIONS = StructType([declared(each) for each in columns.EXTRACTIONS])

_MADE_BY = [
    column("profile", StringType(), "The rules that split the page"),
    column("dripper", StringType(), "The version of this program"),
]

PAGES = StructType(
    [
        *_PAGE_COLUMNS,
        column("source", StringType(), "The page as decoded, without the elements of html.drop; null: see error_code"),
        column("n_blocks", IntegerType(), "Blocks the page was split into"),
        *_MADE_BY,
        column("error_code", StringType(), "Why the page could not be split; null: it could"),
        column("error_detail", StringType(), "Details of the error"),
        *(declared(each) for each in columns.ORIGIN),
        column(
            "first_labels", FIRST_LABELS, "In a chain of labelers: the first one's labels of the page, as in labels"
        ),
        column(
            "escalated", BooleanType(), "In a chain: whether the page goes on to the stage label, for the next labeler"
        ),
        column(
            "fingerprints",
            FINGERPRINTS,
            "For layouts: hashes of each block's path and text, its words; the signature of the skeleton",
        ),
        column("layout_id", StringType(), "The page's skeleton as a hash; near-equal ones are joined in extractions"),
        declared(columns.ENCODING_ERRORS),
    ]
)

BLOCKS = StructType(
    [
        column("page_id", StringType(), "Key: the page, as in pages", nullable=False),
        column("batch", LongType(), "The batch that wrote the row; the partition", nullable=False),
        column("simplified_html", StringType(), "The input of a labeler: one element per block", nullable=False),
        column("item_ids", ArrayType(IntegerType()), "The blocks' numbers in simplified_html", nullable=False),
        column("tokens", IntegerType(), "Tokens of simplified_html: estimated, or counted if a tokenizer is set"),
        *_MADE_BY,
        column("first_labels", FIRST_LABELS, "In a chain of labelers: the first one's labels of the page, as in pages"),
    ]
)

LABELS = StructType(
    [
        column("page_id", StringType(), "Key: the page, as in blocks", nullable=False),
        column("batch", LongType(), "The batch that wrote the row; the partition", nullable=False),
        column("main", ArrayType(BooleanType()), "Which of the page's blocks are main content; null: see error_code"),
        column("probability", ArrayType(FloatType()), "The probability of main; null: the labeler has none"),
        column("confidence", DoubleType(), "Certainty of the labeler about the whole page, 0 to 1"),
        column("page_kind", StringType(), "Kind of page according to the labeler; null: it gives none"),
        column("passes", IntegerType(), "Forward passes of a language model over the page"),
        column("windows", IntegerType(), "Parts the page was cut into to fit the labeler"),
        column("labeler", StringType(), "The labeler", nullable=False),
        column("labeler_version", StringType(), "Its version: model, prompt, settings", nullable=False),
        column("error_code", StringType(), "Why there are no labels; null: there are"),
        column("error_detail", StringType(), "Details of the error"),
        column("method", StringType(), "Origin of the labels, as in extractions; null: the labeler"),
        column("layout_id", StringType(), "The page's layout on its host, near-equal ones joined; null: none is known"),
        column(
            "request", StringType(), "Hash of the request: a run that resumes the stage keeps rows with the same value"
        ),
    ]
)

_SLOWEST = StructType([StructField("page_id", StringType()), StructField("ms", LongType())])

WARC_FILES = StructType(
    [
        column(
            "warc_file",
            StringType(),
            "Key: the archive file: the canonical address under which it was read first",
            nullable=False,
        ),
        column("path", StringType(), "The address at which the file is opened, if that is not warc_file"),
        column("batch", LongType(), "The batch it belongs to", nullable=False),
        column("replaces", LongType(), "While it is read again: the batch with its earlier rows"),
        column(
            "state",
            StringType(),
            "planned, preprocessed, labelled (these two in staged runs), done, failed (not read to its end; the next run "
            "tries again), set_aside (failed too often; tried again on --redo), or dismissed (by --dismiss)",
        ),
        column("attempts", IntegerType(), "Failed attempts to read it for reasons of its own; 0 once it is done"),
        column("size_bytes", LongType(), "Size of the file; null: not known before reading"),
        column("version", StringType(), "ETag or modification time of the file; null: not known"),
        column("bytes_read", LongType(), "Bytes read from it"),
        column("records", LongType(), "Records seen = pages + all skipped"),
        column("pages", LongType(), "Records that are HTML pages: each is one row of extractions"),
        column("failed_pages", LongType(), "Pages that ended as error rows"),
        column("skipped", MapType(StringType(), LongType()), "Records that are not pages, by reason"),
        column("clipped", BooleanType(), "The file ends inside a record"),
        column("n_problems", LongType(), "Faults found in the file"),
        column("problems", ArrayType(StringType()), "The first faults, each with its offset"),
        column("error", StringType(), "Why the file could not be read to its end"),
        column(
            "error_kind",
            StringType(),
            "gone, no_file, denied, expired, changed, unreachable, unreadable, crashed (it took its worker down) or internal",
        ),
        column("run_id", StringType(), "The run that wrote the row, as in runs"),
        column("finished_at", TimestampType(), "When its batch was committed"),
        column(
            "task_ms",
            LongType(),
            "Milliseconds that tasks spent on it, from its first byte to its last row; in staged runs, in preprocess",
        ),
        column("slowest_page", _SLOWEST, "The slowest page, and its time"),
        column(
            "selection",
            StringType(),
            "Also key: hash of --select, if only selected records were read; null: the whole file",
        ),
        column("page_keys", LongType(), "The first 40 bits of each page_id, summed over its pages"),
        column(
            "checked_at",
            TimestampType(),
            "When its rows were last compared with page_keys; null: when its batch was committed",
        ),
    ]
)

OF_RUN = frozenset({"batch", "attempts", "run_id", "finished_at", "checked_at", "task_ms", "slowest_page"})
"""Columns of the ledger that can have different values after two runs over the same files."""

RUNS = StructType(
    [
        column("run_id", StringType(), "Key: the run", nullable=False),
        column("epoch", LongType(), "Runs into this output are numbered: the newest one may write", nullable=False),
        column("state", StringType(), "running, ended, interrupted, or lost (it disappeared)", nullable=False),
        column("holder", StringType(), "The driver: machine, process and the start time of the process"),
        column("writers", IntegerType(), "Maximum number of its concurrent commits to one table"),
        column("started_at", TimestampType(), "When the run began"),
        column("heard_at", TimestampType(), "Time of its last heartbeat"),
        column("ended_at", TimestampType(), "When it ended"),
        column("exit_code", IntegerType(), "0: all done. 3: some work is not done. 4: all done except for bad inputs"),
        column("job", StringType(), "The stages that it ran"),
        column("input", StringType(), "Its input, without signatures"),
        column("settings", StringType(), "Its settings that differ from the defaults, as JSON, without secrets"),
        column("versions", MapType(StringType(), StringType()), "dripper, Spark, Delta, Python, labeler"),
        column("files", LongType(), "Files that it read"),
        column("records", LongType(), "Records in them = pages + all skipped"),
        column("pages", LongType(), "Records that are HTML pages"),
        column("failed_pages", LongType(), "Pages that ended as error rows"),
        column("skipped", MapType(StringType(), LongType()), "Records that are not pages, by reason"),
        column("errors", MapType(StringType(), LongType()), "Error rows, by error code"),
        column("pages_per_second", DoubleType(), "pages over the seconds from start to end"),
        column("stage_ms", MapType(StringType(), LongType()), "Milliseconds of its batches' stages, summed"),
        column(
            "complaints",
            ArrayType(StringType()),
            "Reasons why it is incomplete, and warnings of its labeler, each with the remedy",
        ),
        column("rules", LongType(), "Number of rules in the table forgotten, which never decreases"),
    ]
)

FORGOTTEN = StructType(
    [
        column("request", StringType(), "The call of jobs/forget.py that wrote the row", nullable=False),
        column("kind", StringType(), "Kind of pattern: page_id, url, host or domain", nullable=False),
        column("pattern", StringType(), "The page, address, host or domain", nullable=False),
        column("batch", LongType(), "The batch with pages that match; null: none"),
        column("rows", LongType(), "Number of pages of the batch that it removed"),
        column("reason", StringType(), "The reason, as typed"),
        column("forgotten_by", StringType(), "The user who ran the command, according to Spark"),
        column("forgotten_at", TimestampType(), "When"),
        column(
            "state",
            StringType(),
            "begun (some rows may still exist; the next run continues), done, or withdrawn (by hand)",
            nullable=False,
        ),
    ]
)

RELOCATED = StructType(
    [
        column(
            "old_prefix",
            StringType(),
            "Old location of archives: the start of their names in warc_file",
            nullable=False,
        ),
        column("new_prefix", StringType(), "Where they are", nullable=False),
        column("relocated_at", TimestampType(), "When the move was recorded", nullable=False),
    ]
)

EVALUATIONS = StructType(
    [
        column("batch", LongType(), "The evaluation that wrote the row; the partition", nullable=False),
        column("data_set", StringType(), "Key: the set of labelled pages", nullable=False),
        column("page_id", StringType(), "Key: the page's id within its set", nullable=False),
        column("host", StringType(), "The page's site"),
        column("language", StringType(), "Language of the page, ISO 639-1"),
        column("page_type", StringType(), "article, forum, product…, if the set states it"),
        column("complexity", DoubleType(), "Share of the page's words that are not main content, 0 to 1"),
        column("extractor", StringType(), "Key: the extractor", nullable=False),
        column("extractor_version", StringType(), "Its version", nullable=False),
        column("cpu_ms", DoubleType(), "CPU milliseconds of the extraction"),
        column("error_code", StringType(), "Why there is no extraction; null: there is one"),
        column("error_detail", StringType(), "Details of the error"),
        column("metric", StringType(), "Key: the metric", nullable=False),
        column("value", DoubleType(), "Its value, 0 to 1; null: not defined for this page"),
    ]
)

PUBLISHED = StructType(
    [
        *(StructField(field.name, field.dataType, field.nullable, field.metadata) for field in EXTRACTIONS),
        column(
            "batch_version", StringType(), "The state of its batch; changes when one of the batch's files is read again"
        ),
    ]
)

TABLES = {
    "extractions": (EXTRACTIONS, "One row per HTML page of the archives: its main content, or why there is none"),
    "published": (PUBLISHED, "The rows of extractions, clustered by host and fetched_at (jobs/maintain.py --publish)"),
    "evaluations": (
        EVALUATIONS,
        "One row per page, extractor and metric: the extractor's score on a labelled page",
    ),
    "pages": (
        PAGES,
        "One row per HTML page, for the stage extract: the decoded page, or why it could not be split",
    ),
    "blocks": (BLOCKS, "One row per page to label, for the stage label: the input of a labeler"),
    "labels": (LABELS, "One row per page that was labelled after preprocess: which blocks are main content"),
    "layouts": (
        LAYOUTS,
        "One row per batch, host and layout: the pages labelled for it, and the outcome",
    ),
    "warc_files": (
        WARC_FILES,
        "One row per archive file and selection of its records: records read, and records skipped by reason",
    ),
    "runs": (RUNS, "One row per run of a job: its times, settings and outcome"),
    "forgotten": (
        FORGOTTEN,
        "One row per rule and batch: pages that were removed deliberately, and are never written again",
    ),
    "relocated": (RELOCATED, "One row per move of archives: the names of the files, and their current location"),
}
"""The schema and the comment of each table, keyed by name."""

PARTITIONED = frozenset(TABLES) - {"warc_files", "runs", "published", "forgotten", "relocated"}
"""Tables that are partitioned by `batch`. The ledger is not partitioned, because it has few rows
for each of thousands of batches. With partitions, each commit would read the names of all the
ledger's data files."""

READABLE = {"delta.enableDeletionVectors": "false", "delta.checkpointPolicy": "classic"}
"""Properties of every table, regardless of the workspace's defaults. The reader `deltalake` (1.6)
rejects tables with deletion vectors or V2 checkpoints."""

PROPERTIES = {
    # The ledger is read as a whole or one batch at a time. Statistics for all its columns took two
    # thirds of the time to write a plan.
    "warc_files": {"delta.dataSkippingStatsColumns": "batch"},
    # Only the columns by which people search for pages. Statistics for all columns would make up
    # four fifths of the log. Each reader keeps the log in memory, and a large table has 100,000
    # files.
    "extractions": {"delta.dataSkippingStatsColumns": "page_id,url,host,warc_file,fetched_at,language,error_code"},
    "published": {
        # Queries that filter by these columns skip files without matching values. By default, Delta
        # keeps statistics for the first 32 columns, which are mostly text.
        "delta.dataSkippingStatsColumns": "page_id,batch,url,host,warc_file,fetched_at,http_status,language,markdown_chars,"
        "text_sha256,error_code,registered_domain,crawl",
        # The change feed costs nothing for commits that only add rows, and nearly all commits do.
        "delta.enableChangeDataFeed": "true",
    },
}
"""Table properties, in addition to the schema version and `READABLE`."""

"""Declares the columns of the `extractions` table, for Spark and for the commands that write files.

The other tables, which only jobs write, are in `dripper.spark.tables.schemas`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """A scalar type. The value is the type's name in SQL."""

    STRING = "string"
    INTEGER = "int"
    LONG = "bigint"
    DOUBLE = "double"
    TIMESTAMP = "timestamp"
    DATE = "date"
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values of one type."""

    items: "Type"


@dataclass(frozen=True, slots=True)
class Struct:
    """Named values, each with its type."""

    fields: "tuple[tuple[str, Type], ...]"


Type = Kind | ListOf | Struct


class Column(NamedTuple):
    """One column of a table."""

    name: str
    type: Type
    comment: str
    nullable: bool = True
    """False if every row has a value."""


METADATA = Struct(
    (
        ("title", Kind.STRING),
        ("authors", ListOf(Kind.STRING)),
        *((name, Kind.STRING) for name in ("published", "modified", "site", "description", "canonical_url", "image")),
        ("tags", ListOf(Kind.STRING)),
        ("language", Kind.STRING),
        ("organisations", ListOf(Kind.STRING)),
        *((name, Kind.STRING) for name in ("published_precision", "modified_precision")),
    )
)
"""The fields of `dripper.facts.metadata.Metadata`."""

IMAGE = Struct(
    (
        *((name, Kind.STRING) for name in ("address", "alt", "caption")),
        *((name, Kind.INTEGER) for name in ("place", "width", "height")),
        ("role", Kind.STRING),
    )
)
"""The fields of `dripper.keep.images.ShownImage`."""

POST = Struct(
    (
        *((name, Kind.STRING) for name in ("author", "published")),
        ("offset", Kind.INTEGER),
        *((name, Kind.STRING) for name in ("id", "reply_to")),
    )
)
"""The fields of `dripper.keep.posts.Post`."""

VERSIONS = Struct(tuple((name, Kind.STRING) for name in ("dripper", "profile", "labeler", "labeler_version")))
BATCH = Column("batch", Kind.LONG, "The batch of WARC files that wrote the row; the partition", nullable=False)

PAGE: Sequence[Column] = (
    Column("page_id", Kind.STRING, "Key: 32 hex digits, a hash of warc_file and warc_offset", nullable=False),
    BATCH,
    Column("url", Kind.STRING, "Address of the page as archived"),
    Column("host", Kind.STRING, "Host of url as browsers send it: lower case, ASCII (xn--mller-kva.de)"),
    Column("warc_file", Kind.STRING, "The archive file: its canonical address", nullable=False),
    Column("warc_offset", Kind.LONG, "First byte of the record in warc_file", nullable=False),
    Column("warc_length", Kind.LONG, "Bytes of the record in warc_file, as stored"),
    Column("fetched_at", Kind.TIMESTAMP, "When the page was fetched (WARC-Date)"),
    Column("http_status", Kind.INTEGER, "HTTP status of the response"),
    Column("content_type", Kind.STRING, "HTTP Content-Type as sent"),
    Column("charset", Kind.STRING, "Encoding the page was decoded with, WHATWG name"),
    Column("charset_source", Kind.STRING, "Where the encoding came from: bom, http, meta or detector"),
    Column("payload_digest", Kind.STRING, "sha256 of the body after HTTP decoding"),
    Column("payload_bytes", Kind.LONG, "Bytes of the body after HTTP decoding"),
    Column("truncated", Kind.STRING, "Why the body is incomplete; null: it is complete"),
    Column("flags", ListOf(Kind.STRING), "Oddities of the record that did not prevent its extraction"),
)
"""The columns that describe a page and its record in the archive."""

EXTRACTION: Sequence[Column] = (
    Column("title", Kind.STRING, "Title of the page, as at the top of markdown; null: see error_code"),
    Column(
        "language",
        Kind.STRING,
        "Language of the main content, ISO 639-1, or 639-3 if 639-1 has no code; null: uncertain, or too little text",
    ),
    Column("language_probability", Kind.DOUBLE, "Certainty of the language detector, 0 to 1"),
    Column("main_html", Kind.STRING, "The page cut down to its main blocks; null: see error_code"),
    Column("markdown", Kind.STRING, "main_html as Markdown; null: see error_code"),
    Column("markdown_chars", Kind.LONG, "Characters of markdown"),
    Column(
        "text_sha256", Kind.STRING, "sha256 of markdown, lower case, white space collapsed: equal texts, equal hash"
    ),
    Column(
        "method",
        Kind.STRING,
        "Origin of the labels: the labeler (`…:windowed`: in parts), or `fallback:…` if it marked no block main",
    ),
    Column("n_blocks", Kind.INTEGER, "Blocks the page was split into"),
    Column("n_main", Kind.INTEGER, "Blocks marked main by the labeler"),
    Column("confidence", Kind.DOUBLE, "Certainty of the labeler about the whole page, 0 to 1; null: it gives none"),
    Column("page_kind", Kind.STRING, "Kind of page according to the labeler: article, forum, …; null: it gives none"),
    Column("metadata", METADATA, "The page's declarations about itself; dates are ISO 8601, see docs/metadata.md"),
    Column("versions", VERSIONS, "Versions that produced the row: the same versions give the same row"),
    Column("error_code", Kind.STRING, "Why there is no extraction; null: there is one"),
    Column("error_detail", Kind.STRING, "Details of the error"),
)
"""The columns that describe the page's result."""

ORIGIN: Sequence[Column] = (
    Column(
        "warc_record_id", Kind.STRING, "WARC-Record-ID as stored: <urn:uuid:…>; null: none is stored, as in ARC files"
    ),
    Column(
        "payload_digest_sha1",
        Kind.STRING,
        "WARC-Payload-Digest: SHA-1 in base 32, as in CDX files and Common Crawl's index; null: none is stored",
    ),
    Column(
        "registered_domain",
        Kind.STRING,
        "The part of host that somebody registered (example.co.uk); null: an IP address, or no public suffix",
    ),
    Column(
        "crawl",
        Kind.STRING,
        "The crawl: the value of --crawl, else Common Crawl's name (CC-MAIN-2024-10) from a folder of warc_file",
    ),
)
"""Columns for joins with other data sets of the same crawl."""

ENCODING_ERRORS = Column(
    "encoding_errors",
    Kind.INTEGER,
    "Characters that could not be decoded, each U+FFFD in the page: with many, charset is wrong",
)

POSTS: Sequence[Column] = (
    Column(
        "posts",
        ListOf(POST),
        "Posts of a thread, or readers' comments, in the main content; offset: start of each in markdown, in "
        "characters from 0; id: fragment of the page's address; see docs/markdown.md",
    ),
    Column(
        "comments",
        Kind.STRING,
        "Whether most posts or comments that the page shows are in the main content: in or out; null: none were found",
    ),
)
"""The columns of posts in the main content; null in rows of older releases."""

EXTRACTIONS: Sequence[Column] = (
    *PAGE,
    *EXTRACTION,
    *ORIGIN,
    Column(
        "layout_id", Kind.STRING, "Equal for pages of a host with the same layout; null: layouts.enabled was not set"
    ),
    Column(
        "images",
        ListOf(IMAGE),
        "Images of the main content in its order; place: position of `![` in markdown, in characters from 0; "
        "role: lead, content, gallery, icon or avatar; see docs/images.md",
    ),
    Column(
        "published_date",
        Kind.DATE,
        "Day of metadata.published, the first day if only a month or a year is stated; null: not stated",
    ),
    Column("html_title", Kind.STRING, "Text of `<title>`, as written"),
    ENCODING_ERRORS,
    *POSTS,
    Column(
        "is_whole",
        Kind.BOOLEAN,
        "Whether there is an extraction, and nothing of the page is cut off or damaged; null: a row of an older release",
    ),
    Column(
        "hidden_chars",
        Kind.INTEGER,
        "Characters of hidden text on the page, which is left out; null: a row of an older release",
    ),
    Column(
        "schema_org",
        Kind.STRING,
        "The page's JSON-LD objects as they are written, as a JSON array; null: the setting outputs does not name it",
    ),
)
"""The columns of the `extractions` table. In rows of older releases, the columns after `EXTRACTION`
are null."""

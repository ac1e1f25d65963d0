"""Where records come from: archives found, opened, cut into records, and their pages decoded to text.

What reads archives is loaded when it is first asked for: a page alone needs none of its packages.
"""

from typing import TYPE_CHECKING, Any

from dripper.optional import needed
from dripper.settings import ReadSettings, S3Settings
from dripper.warc.charset import DecodedText, Utf8, decode, to_utf8
from dripper.warc.expand import SourceFile, expand
from dripper.warc.record import FileReport, Record, merge_reports
from dripper.warc.span import Span, cut

if TYPE_CHECKING:
    from dripper.warc.reader import RecordReader, read_records

__all__ = [
    "DecodedText",
    "FileReport",
    "ReadSettings",
    "Record",
    "RecordReader",
    "S3Settings",
    "SourceFile",
    "Span",
    "Utf8",
    "cut",
    "decode",
    "expand",
    "merge_reports",
    "read_records",
    "to_utf8",
]


def __getattr__(name: str) -> Any:
    if name not in ("RecordReader", "read_records"):
        raise AttributeError(f"module 'dripper.warc' has no attribute {name!r}")
    with needed("reading archives", "warc"):
        from dripper.warc import reader
    return getattr(reader, name)

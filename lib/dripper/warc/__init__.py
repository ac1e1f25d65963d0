"""Where records come from: archives found, opened, cut into records, and their pages decoded to text."""

from dripper.config import ReadSettings, S3Settings
from dripper.warc.charset import DecodedText, Utf8, decode, to_utf8
from dripper.warc.expand import SourceFile, expand
from dripper.warc.reader import RecordReader, read_records
from dripper.warc.record import FileReport, Record

__all__ = [
    "DecodedText",
    "FileReport",
    "ReadSettings",
    "Record",
    "RecordReader",
    "S3Settings",
    "SourceFile",
    "Utf8",
    "decode",
    "expand",
    "read_records",
    "to_utf8",
]

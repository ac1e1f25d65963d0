"""Finds and opens archives, reads their records, and decodes pages to text.

The modules that read archives are imported when they are first used: a single page needs none of
their packages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dripper.decode.charset import DecodedText, Utf8, decode, to_utf8
from dripper.extras import needed
from dripper.settings import ReadSettings, S3Settings
from dripper.warc.open.expand import SourceFile, expand
from dripper.warc.read.record import FileReport, Record, Span, cut, merge_reports

if TYPE_CHECKING:
    from dripper.warc.index.select import Place, Selected, select
    from dripper.warc.index.selected import read_selected
    from dripper.warc.read.reader import RecordReader, read_records

__all__ = [
    "DecodedText",
    "FileReport",
    "Place",
    "ReadSettings",
    "Record",
    "RecordReader",
    "S3Settings",
    "Selected",
    "SourceFile",
    "Span",
    "Utf8",
    "cut",
    "decode",
    "expand",
    "merge_reports",
    "read_records",
    "read_selected",
    "select",
    "to_utf8",
]

_LAZY = {
    "RecordReader": "read.reader",
    "read_records": "read.reader",
    "Place": "index.select",
    "Selected": "index.select",
    "select": "index.select",
    "read_selected": "index.selected",
}
"""Name that is imported on demand → its module."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'dripper.warc' has no attribute {name!r}")
    with needed("reading archives", "warc"):
        return getattr(import_module(f"dripper.warc.{_LAZY[name]}"), name)

"""Finds and opens web archives, reads their records, and decodes pages to text.

The archive readers are imported on first use, so that code for single pages does not need their
dependencies.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dripper.decode.charset import decode, to_utf8
from dripper.extras import needed
from dripper.warc.open.expand import expand
from dripper.warc.read.record import FileReport, Record

if TYPE_CHECKING:
    from dripper.warc.index.select import select
    from dripper.warc.index.selected import read_selected
    from dripper.warc.read.reader import read_records

__all__ = ["FileReport", "Record", "decode", "expand", "read_records", "read_selected", "select", "to_utf8"]

_LAZY = {"read_records": "read.reader", "select": "index.select", "read_selected": "index.selected"}
"""Lazily imported name → the module that defines it."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'dripper.warc' has no attribute {name!r}")
    with needed("reading archives", "warc"):
        return getattr(import_module(f"dripper.warc.{_LAZY[name]}"), name)

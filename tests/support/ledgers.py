"""Input for ledgers in tests: files, and reports of their reading."""

from typing import Any

from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import BatchSize
from dripper.spark.tables.batches import PlannedFile

SIZE = BatchSize(10, 1 << 40)


def report(name: str, **more: Any) -> dict[str, Any]:
    """Return the report of a file that was read: three records, one of them a page."""
    zero = {"size_bytes": 5, "bytes_read": 5, "records": 3, "pages": 1, "failed_pages": 0, "skipped": {"status": 2}}
    more = {"error_kind": "gone"} | more if "error" in more else more
    zero |= {"version": None, "error_kind": None, "clipped": False, "problems": [], "n_problems": 0, "error": None}
    return zero | {"warc_file": name} | more


def files(*names: str) -> tuple[PlannedFile, ...]:
    """Return files of these names."""
    return tuple(PlannedFile(name, 5) for name in names)


def states(ledger: Ledger) -> dict[str, tuple[int, str, int, int | None]]:
    """Return batch, state, attempts and the batch that is replaced, by file."""
    return {e.file.warc_file: (e.batch, e.state, e.file.attempts, e.file.replaces) for e in ledger.entries()}

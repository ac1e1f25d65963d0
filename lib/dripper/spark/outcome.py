"""How a run ended: what is left to do, which inputs are bad, and the exit code that says so."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from dripper.errors import FileErrorKind
from dripper.spark.plan import Plan
from dripper.spark.totals import Totals
from dripper.warc.record import ArchiveFault

_AGAIN = "run the same command again: only what is missing is done"
_SHOWN = 5
"""Files that a sentence names; the ledger has all."""

_CURES = {
    FileErrorKind.DENIED: "grant access or renew the credentials",
    FileErrorKind.EXPIRED: "renew the credentials",
    FileErrorKind.CHANGED: "they were replaced while they were read",
    FileErrorKind.UNREACHABLE: "the storage or the network did not answer",
}


_FAULTS = {
    ArchiveFault.NO_ARCHIVE: "hold no WARC or ARC record",
    ArchiveFault.CUT_SHORT: "are cut short (the pages before the cut are rows)",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended."""

    plan: Plan
    totals: Totals
    ledger: dict[str, int]
    """Files by state, records, pages and skipped, over all runs into the output."""
    complaints: tuple[str, ...] = ()
    """Why work is left, each with what to do."""
    bad_inputs: tuple[str, ...] = ()
    """Inputs that another run would find as bad as this one did, each with what to do."""
    stages: tuple[str, ...] = ()
    """Of a staged run, those that it ran; none: the fused job."""
    run_id: str = ""
    """The run, as in the table `runs`."""

    @property
    def exit_code(self) -> int:
        """0: every record is accounted for. 3: work is left. 4: all is done, but for inputs that
        are bad."""
        return 3 if self.complaints else 4 if self.bad_inputs else 0


def work_left(totals: Totals) -> list[str]:
    """Return a sentence for each batch that failed, one for those that were not begun, and one for
    each kind of failure of files that may be read by another run."""
    words = [
        f"batch {number} failed ({error}); mend the cause, unless it was chance, then {_AGAIN}"
        for number, error in sorted(totals.failed_batches.items())
    ]
    words += [
        f"batch {number} goes back to the stage {stage}: {why}. Rows were deleted, or a table was: run that stage again over "
        "the same files, then those after it"
        for number, (stage, why) in sorted(totals.put_back.items())
    ]
    if totals.batches_not_begun:
        words.append(
            f"{len(totals.batches_not_begun)} batches were not begun, as too many before them failed in a row: mend the "
            f"cause, then {_AGAIN}"
        )
    for kind, names in sorted(totals.failed_files.items()):
        open_files = [name for name in names if name not in totals.set_aside]
        if kind == FileErrorKind.GONE or not open_files:
            continue
        cure = _CURES.get(FileErrorKind(kind), "see the column error of warc_files, mend the cause")
        words.append(
            f"{len(open_files)} files could not be read to their end ({kind}: {cure}), {_named(open_files)}; {_AGAIN}"
        )
    return words


def bad_inputs(totals: Totals, plan: Plan) -> list[str]:
    """Return a sentence for files that do not exist, one for those that are no archives, one for
    those that are cut short, and one for those that are set aside."""
    words = []
    faults = {**plan.faults, **totals.faults}
    for fault, what in _FAULTS.items():
        if names := [name for name, found in faults.items() if found is fault]:
            words.append(
                f"{len(names)} files {what}, {_named(names)}: fetch them again, or say with --dismiss FILE,… that it is known"
            )
    gone = [name for name in totals.failed_files.get(FileErrorKind.GONE, []) if name not in totals.set_aside]
    if gone:
        words.append(f"{len(gone)} files do not exist, {_named(gone)}; if that is known, say so with --dismiss FILE,…")
    aside = [*totals.set_aside, *(name for name in plan.set_aside if name not in totals.set_aside)]
    if aside:
        words.append(
            f"{len(aside)} files are set aside, as reading them failed too often, {_named(aside)}: see the column error of "
            "warc_files; --redo FILE,… tries them again, --dismiss FILE,… says that it is known"
        )
    return words


def _named(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(islice(sorted(listed), _SHOWN)) + (", …" if len(listed) > _SHOWN else "")

"""Batches are recorded together, none is forgotten, and one that could not be recorded is named."""

from datetime import UTC, datetime
from typing import Any

import pytest

from dripper.errors import BusyError
from dripper.spark.run.notes import NOTE_SECONDS, Notes
from dripper.spark.tables.batches import Batch


class Told:
    """A ledger and a clock, as far as notes need them."""

    def __init__(self) -> None:
        self.commits: list[list[int]] = []
        self.now = 0.0
        self.error: Exception | None = None
        self.rows: list[Any] = []
        self.times: list[datetime] = []
        self.notes = Notes(self, self._check, self.rows.extend, lambda: self.now)  # type: ignore[arg-type]

    def finish(self, ended: list[tuple[Batch, list[Any], datetime]]) -> list[Any]:
        if isinstance(self.error, ValueError):
            raise self.error
        self.times += [ended_at for *_, ended_at in ended]
        self.commits.append([batch.number for batch, *_ in ended])
        return [report for _, reports, _ in ended for report in reports]

    def add(self, number: int) -> None:
        self.notes.add(Batch(number, ()), [f"report {number}"])  # type: ignore[list-item]

    def _check(self) -> None:
        if isinstance(self.error, BusyError):
            raise self.error


def test_batches_that_end_soon_after_each_other_are_one_commit() -> None:
    told = Told()
    for number in (1, 2):
        told.add(number)
    assert told.commits == []
    between = datetime.now(UTC)
    told.now = NOTE_SECONDS
    told.add(3)
    told.add(4)
    assert told.commits == [[1, 2, 3]]
    assert told.times[1] <= between <= told.times[2], "a change after a batch's end is after the time of its note"
    assert told.notes.finish() == {}
    assert told.notes.finish() == {}
    assert told.commits == [[1, 2, 3], [4]]
    assert told.rows == [f"report {number}" for number in (1, 2, 3, 4)]


def test_a_batch_that_took_long_is_noted_at_once() -> None:
    told = Told()
    for number in (1, 2):
        told.now += NOTE_SECONDS
        told.add(number)
    assert told.commits == [[1], [2]]


def test_who_could_not_be_noted_fails_alone_and_the_others_are_noted_with_the_next() -> None:
    told = Told()
    told.add(1)
    told.now, told.error = NOTE_SECONDS, ValueError("no space left")
    with pytest.raises(ValueError, match="no space left"):
        told.add(2)
    told.error = None
    told.add(3)
    assert told.commits == [[1, 3]]


def test_what_cannot_be_noted_in_the_end_is_named_and_a_lost_lease_is_raised() -> None:
    told = Told()
    told.add(1)
    told.error = ValueError("no space left")
    assert told.notes.finish() == {1: "ValueError: no space left"}
    told.error = BusyError("another run")
    with pytest.raises(BusyError):
        told.notes.finish()

"""Batches whose commits touch the same rows take turns: at once, Delta would let one of them
fail."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dripper.spark.plan import Batch
from dripper.spark.tables import touched_batches


class Turns:
    """Who may write into which batches. Safe to use from several threads."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._taken: set[int] = set()

    @contextmanager
    def taking(self, batch: Batch) -> Iterator[None]:
        """Wait until nobody else is at work on the batches in which `batch` puts or replaces rows,
        and keep them until the end."""
        mine = touched_batches(batch)
        with self._condition:
            self._condition.wait_for(lambda: self._taken.isdisjoint(mine))
            self._taken |= mine
        try:
            yield
        finally:
            with self._condition:
                self._taken -= mine
                self._condition.notify_all()

"""Batches that replace rows of one another take turns; the others do not wait."""

import threading
import time

from dripper.spark.ledger.plan import Batch, PlannedFile
from dripper.spark.run.scheduler import BatchLocks


def test_batches_that_touch_the_same_rows_take_turns_and_others_do_not_wait() -> None:
    locks, told = BatchLocks(), list[str]()
    first = Batch(2, (PlannedFile("a", supersedes=(1,)),))
    second = Batch(3, (PlannedFile("b", replaces=1),))

    def work() -> None:
        with locks.hold(second):
            told.append("second")

    waiting = threading.Thread(target=work)
    with locks.hold(first):
        waiting.start()
        with locks.hold(Batch(4, (PlannedFile("c"),))):
            time.sleep(0.05)
        told.append("first")
    waiting.join()
    assert told == ["first", "second"]

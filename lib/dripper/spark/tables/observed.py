"""Reads the values that Spark observed during a write. They show whether Delta skipped the
write."""

import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from pyspark.sql import Observation

from dripper.spark.tables.sql import first_line

logger = logging.getLogger(__name__)

_OBSERVED_SECONDS = 3.0
"""Seconds to wait for the observed values. Spark reports them milliseconds after the end of a
write, or never if Delta skipped the write."""


def read_observed(observation: Observation, confirm: Callable[[], None]) -> dict[str, Any]:
    """Return the values observed during a write that has ended. Wait until Spark reports them.

    Args:
        confirm: Called if nothing was observed yet. Raises if another run has taken the lease.
    """
    while (values := wait_for_observed(observation)) is None:
        confirm()
    return values


def wait_for_observed(observation: Observation) -> dict[str, Any] | None:
    """Return the values observed during a write; None if Spark has not reported any in time."""
    answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()

    def get() -> None:
        try:
            answers.put(observation.get)
        except Exception as error:  # Connect raises an error, while classic Spark waits.
            logger.info("nothing was observed: %s", first_line(error))
            time.sleep(_OBSERVED_SECONDS)
            answers.put(None)

    threading.Thread(target=get, name="observed", daemon=True).start()
    try:
        return answers.get(timeout=_OBSERVED_SECONDS)
    except queue.Empty:
        return None

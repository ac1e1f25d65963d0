"""Reads what Spark observed in a write: whether it was done, and what was counted in it."""

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
"""Spark says what was observed in a write milliseconds after its end, and never where Delta left
the write out."""


def read_observed(observation: Observation, confirm: Callable[[], None]) -> dict[str, Any]:
    """Return what was observed in a write that has ended.

    Args:
        confirm: Raises where nothing was, as the write was another's to do.
    """
    while (values := wait_for_observed(observation)) is None:
        confirm()
    return values


def wait_for_observed(observation: Observation) -> dict[str, Any] | None:
    """Return what was observed in a write; None: nothing yet, perhaps for ever."""
    answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()

    def get() -> None:
        try:
            answers.put(observation.get)
        except Exception as error:  # Connect raises where classic Spark waits.
            logger.info("nothing was observed: %s", first_line(error))
            time.sleep(_OBSERVED_SECONDS)
            answers.put(None)

    threading.Thread(target=get, name="observed", daemon=True).start()
    try:
        return answers.get(timeout=_OBSERVED_SECONDS)
    except queue.Empty:
        return None

"""Names for Spark's jobs, so that the UI tells which batch and stage they are of, and a tag by
which a run's jobs are cancelled."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pyspark.sql import SparkSession

logger = logging.getLogger(__name__)


@contextmanager
def described(spark: SparkSession, tag: str, description: str) -> Iterator[None]:
    """Name the jobs that this thread starts inside, and tag them."""
    context = _context(spark)
    spark.addTag(tag)
    if context is not None:
        context.setJobDescription(description)
    try:
        yield
    finally:
        # After the loss of the JVM there is nobody left to tell.
        with suppress(Exception):
            spark.removeTag(tag)
            if context is not None:
                context.setJobDescription(None)


def cancel(spark: SparkSession, tag: str) -> None:
    """Cancel the jobs that are tagged so, and no others of the session."""
    try:
        spark.interruptTag(tag)
    except Exception:
        logger.debug("jobs could not be cancelled", exc_info=True)


def _context(spark: SparkSession) -> Any:
    try:
        return spark.sparkContext
    except Exception:  # Connect sessions have no context and raise one of several types here, by version.
        return None

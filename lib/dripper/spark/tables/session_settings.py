"""Changes settings of a Spark session temporarily and then restores their previous values."""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dripper.spark.tables.sql import first_line

logger = logging.getLogger(__name__)


class SharedSettings:
    """Settings that apply while at least one thread is inside `set`. Thread-safe."""

    def __init__(self, spark: SparkSession, values: Mapping[str, str]) -> None:
        self._spark = spark
        self._values = values
        self._lock = threading.Lock()
        self._n_inside = 0
        self._before: dict[str, str | None] = {}

    @contextmanager
    def set(self) -> Iterator[None]:
        """Apply the settings. The last thread that leaves restores the previous values."""
        with self._lock:
            if not self._n_inside:
                self._apply()
            self._n_inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_inside -= 1
                if not self._n_inside:
                    self._restore()

    def _apply(self) -> None:
        self._before = {}
        # `get` returns Spark's default if a key is not set.
        chosen = dict(self._spark.conf.getAll)
        for key, value in self._values.items():
            try:
                self._spark.conf.set(key, value)
            except PySparkException as error:
                # Serverless sessions accept few settings, and work without the others.
                logger.debug("the session does not accept the setting %s: %s", key, first_line(error))
            else:
                self._before[key] = chosen.get(key)

    def _restore(self) -> None:
        for key, before in self._before.items():
            with suppress(PySparkException):
                self._spark.conf.unset(key) if before is None else self._spark.conf.set(key, before)

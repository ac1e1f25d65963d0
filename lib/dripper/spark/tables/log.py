"""Reads the log of a Delta table in the driver's JVM, without SQL and without Spark jobs.

This needs classic Spark and a table in a folder. Otherwise (Spark Connect, a catalog, Databricks'
own Delta), the results are None, and callers use SQL.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

UNREACHABLE = (AttributeError, TypeError, Py4JError, PySparkException)
"""Exceptions raised if Python cannot reach the JVM's classes, or if the classes have changed."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The newest version of a table."""

    version: int
    table: str
    """The table's ID. It changes if the table is dropped and created again."""
    properties: dict[str, str]
    schema: StructType


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit found in the log."""

    version: int
    rows: int | None
    """Number of rows in the data files that the commit added; None if a file has no row count."""


class TableLog:
    """The log of a table in a folder."""

    def __init__(self, spark: SparkSession, folder: str | None) -> None:
        """folder: the table's folder; None if the table is not in a folder and its log is
        unknown."""
        self._spark = spark
        self._folder = folder

    def newest(self) -> Snapshot | None:
        """Return the newest version; None if it is unknown or there is no table."""
        try:
            snapshot = self._pair()._2()
            version = int(snapshot.version())
            if version < 0:
                return None
            metadata = json.loads(snapshot.metadata().json())["metaData"]
            schema = StructType.fromJson(json.loads(metadata["schemaString"]))
            return Snapshot(version, metadata["id"], metadata.get("configuration", {}), schema)
        except UNREACHABLE:
            return None

    def is_absent(self) -> bool:
        """Return whether the folder's path does not exist; False if unknown."""
        try:
            log = self._pair()._1()
            path = log.dataPath()
            return not path.getFileSystem(log.newDeltaHadoopConf()).exists(path)
        except UNREACHABLE:
            return False

    def find(self, sequence: tuple[str, int], after: int) -> Commit | None:
        """Return the commit that has this `sequence` (`txnAppId` and `txnVersion`); None if not
        found.

        Only versions above `after` are searched.
        """
        try:
            for version, actions in self._commits(after):
                txns = [action["txn"] for action in actions if "txn" in action]
                if any((txn["appId"], txn["version"]) == sequence for txn in txns):
                    return Commit(version, _rows(actions))
        except UNREACHABLE:
            pass
        return None

    def _commits(self, after: int) -> Iterator[tuple[int, list[dict[str, Any]]]]:
        pair = self._pair()
        log, last = pair._1(), int(pair._2().version())
        names = self._jvm().org.apache.spark.sql.delta.util.FileNames
        for version in range(last, after, -1):
            lines = log.store().read(names.unsafeDeltaFile(log.logPath(), version), log.newDeltaHadoopConf())
            yield version, [json.loads(line) for line in lines.mkString("\n").splitlines() if line]

    def _jvm(self) -> Any:
        return self._spark._jvm

    def _pair(self) -> Any:
        """Return the JVM's pair of the log and its newest snapshot."""
        if self._folder is None:
            raise AttributeError("the table is in no folder")
        of = self._jvm().org.apache.spark.sql.delta.DeltaLog
        return of.forTableWithSnapshot(self._spark._jsparkSession, self._folder)


def _rows(actions: list[dict[str, Any]]) -> int | None:
    rows = 0
    for action in actions:
        if "add" in action:
            n = json.loads(action["add"].get("stats") or "{}").get("numRecords")
            if n is None:
                return None
            rows += n
    return rows

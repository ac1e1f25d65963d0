"""One driver at a time: the table `runs` says who may write into an output.

A run begins by adding its row under the next number (`epoch`), which Delta lets only one driver do,
and from then on says now and then that it is alive. A second driver waits until it knows whether
the first one is; if so, it ends with a sentence.
"""

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from dripper.errors import BusyError, InputError
from dripper.spark.fields import nullable
from dripper.spark.schemas import RUNS
from dripper.spark.tables import Tables
from dripper.spark.text import first_line, quoted

logger = logging.getLogger(__name__)

TABLE = "runs"
BEAT_SECONDS = 30.0
"""How often a run says that it is alive: a commit of .2 s, unless the run had nothing to say for
longer."""
SILENCE_SECONDS = 150.0
"""A run that was not heard of for so long is lost: five beats, which no pause of a garbage
collector takes."""
_SEQUENCE = "dripper.runs"


class Lease:
    """The right to write into one output. Use as a context manager; `end` says how the run
    ended."""

    def __init__(
        self,
        spark: SparkSession,
        tables: Tables,
        *,
        patience_seconds: float = SILENCE_SECONDS,
        beat_seconds: float = BEAT_SECONDS,
        sleep: Callable[[float], None] = time.sleep,
        holder: str | None = None,
    ) -> None:
        self.run_id = uuid.uuid4().hex
        self._spark = spark
        self._tables = tables
        self._patience = patience_seconds
        self._beat_seconds = beat_seconds
        self._sleep = sleep
        self._holder = holder or this_process()
        self._row: dict[str, Any] = {}
        self._heard = 0.0
        self._is_lost = False
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._beat_now_and_then, name="lease", daemon=True)

    def take(self, **columns: Any) -> None:
        """Begin the run. columns: more values of its row. Raises BusyError where another run holds
        the lease."""
        lost, last = self._wait_for_others()
        epoch = last + 1
        now = datetime.now(UTC)
        row = {"run_id": self.run_id, "epoch": epoch, "state": "running", "holder": self._holder}
        self._row = row | {"started_at": now, "heard_at": now} | columns
        try:
            self._tables.append(TABLE, self._frame(), (_SEQUENCE, epoch))
        except (PySparkException, Py4JJavaError) as error:
            if "Concurrent" in str(error):
                raise BusyError(_taken_first(first_line(error))) from error
            raise InputError(f"cannot write to {self._tables.sql_name(TABLE)}: {first_line(error)}") from error
        if not self._is_newest():
            raise BusyError(_taken_first(f"number {epoch} is another's"))
        if lost:
            names = ", ".join(quoted(name) for name in lost)
            self._spark.sql(
                f"UPDATE {self._tables.sql_name(TABLE)} SET state = 'lost' WHERE state = 'running' AND run_id IN ({names})"
            )
        self._heard = time.monotonic()
        self._thread.start()

    @property
    def is_first(self) -> bool:
        """Whether no run ever held this lease before, so that nobody has written into the
        output."""
        return bool(self._row) and self._row["epoch"] == 1

    def check(self) -> None:
        """Raise BusyError where the lease may have gone to another while this driver stood
        still."""
        if self._is_lost or time.monotonic() - self._heard > 2 * self._beat_seconds:
            self._beat()

    def end(self, state: str, **columns: Any) -> None:
        """Say how the run ended. columns: more values of its row."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        if not self._row:
            return
        now = datetime.now(UTC)
        with self._lock:
            self._row |= {"state": state, "heard_at": now, "ended_at": now} | columns
            self._write()

    def _wait_for_others(self) -> tuple[list[str], int]:
        """Return the runs that ended without a word, and the last number; wait as long as it takes
        to know."""
        deadline = time.monotonic() + self._patience
        heard: dict[str, datetime] = {}
        while True:
            runs = self._runs("TRUE")
            last = max((run["epoch"] for run in runs), default=0)
            others = [run for run in runs if run["state"] == "running"]
            alive = [other for other in others if not is_dead(other["holder"], self._holder)]
            fresh = [other for other in alive if _age_seconds(other["heard_at"]) < self._patience]
            for other in fresh:
                if other["heard_at"] > heard.setdefault(other["run_id"], other["heard_at"]) or (
                    is_alive(other["holder"], self._holder)
                ):
                    raise BusyError(_at_work(other))
            if not fresh or time.monotonic() >= deadline:
                return [other["run_id"] for other in others], last
            logger.info("waiting to see whether another run is alive: %s", _who(fresh[0]))
            self._sleep(min(5.0, self._patience / 4))

    def _runs(self, condition: str) -> list[dict[str, Any]]:
        rows = self._tables.read(TABLE).where(condition)
        columns = ("run_id", "epoch", "state", "holder", "started_at", "heard_at")
        found: list[dict[str, Any]] = rows.select(*columns).toArrow().to_pylist()
        return found

    def _is_newest(self) -> bool:
        """Whether this run is the one that may write: under its number and all higher ones there is
        no other."""
        runs = self._runs(f"epoch >= {self._row['epoch']}")
        return [(run["run_id"], run["state"]) for run in runs] == [(self.run_id, "running")]

    def _beat_now_and_then(self) -> None:
        while not self._stop.wait(self._beat_seconds):
            try:
                self._beat()
            except BusyError:
                logger.exception("the run stops before its next commit")
                self._is_lost = True
                return
            except Exception as error:
                logger.warning("the run could not say that it is alive: %s", first_line(error))

    def _beat(self) -> None:
        with self._lock:
            if self._stop.is_set():
                return
            if not self._is_newest():
                raise BusyError("another run has taken this output over, as this one was not heard of for too long")
            self._row["heard_at"] = datetime.now(UTC)
            self._write()
            self._heard = time.monotonic()

    def _write(self) -> None:
        self._tables.replace_where(TABLE, self._frame(), f"run_id = {quoted(self.run_id)}")

    def _frame(self) -> DataFrame:
        schema = to_arrow_schema(nullable(RUNS.fields))
        columns = [pa.array([_pairs(self._row.get(field.name))], field.type) for field in schema]
        frame = self._spark.createDataFrame(pa.Table.from_arrays(columns, schema=schema), nullable(RUNS.fields))
        return frame.coalesce(1)


def this_process() -> str:
    """Return who this driver is: machine, process, and when they were started, as far as they can
    be told apart."""
    return f"{socket.gethostname()} {_boot()} {os.getpid()} {_started(os.getpid())}"


def is_dead(holder: str, mine: str) -> bool:
    """Whether the driver `holder` is known to have ended: it ran on the machine of `mine`, and its
    process is not there."""
    return _same_machine(holder, mine) and not _is_there(holder)


def is_alive(holder: str, mine: str) -> bool:
    """Whether the driver `holder` is known to be at work, as its process is there, on the machine
    of `mine`."""
    return _same_machine(holder, mine) and _is_there(holder)


def _same_machine(holder: str, mine: str) -> bool:
    return holder.split(" ")[:2] == mine.split(" ")[:2] and "-" not in holder.split(" ")[1:2]


def _is_there(holder: str) -> bool:
    process, started = holder.split(" ")[2:4]
    return _started(int(process)) == started


def _boot() -> str:
    """Return which start of which machine and which space of process numbers this is; "-" where
    that is not told."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return "-"


def _started(process: int) -> str:
    """Return when a process was started, in ticks of its machine's clock; "" where there is no such
    process."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _age_seconds(heard_at: datetime) -> float:
    return (datetime.now(UTC) - heard_at).total_seconds()


def _who(other: Mapping[str, Any]) -> str:
    machine, _, process, _ = other["holder"].split(" ")
    return f"run {other['run_id']} (process {process} on {machine}, since {other['started_at']:%Y-%m-%d %H:%M} UTC)"


def _at_work(other: Mapping[str, Any]) -> str:
    return (
        f"another run is at work on this output: {_who(other)}; an output has one writer at a time, so wait for its end or "
        "stop it, then run the same command again"
    )


def _taken_first(why: str) -> str:
    return f"another run began on this output at the same moment ({why}); run the same command again when it has ended"


def _pairs(value: Any) -> Any:
    return list(value.items()) if isinstance(value, dict) else value

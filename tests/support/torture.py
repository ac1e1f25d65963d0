"""Kills at random moments: runs of the main job get SIGKILL, and their final tables are checked."""

import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from deltalake import DeltaTable

from dripper.spark.tables.schemas import OF_RUN
from support.indexes import write_cdxj
from support.processes import of_session, parent, wait_for
from support.slow_labeler import registered
from support.warcs import pages, write_warc

logger = logging.getLogger(__name__)

ROOT = Path(__file__).parents[2]
PATIENCE_SECONDS = 1800
"""Seconds for one run: 70 for an undisturbed one on idle cores, over 600 for some on busy ones."""
FATAL = ("driver", "JVM")
"""Whose death ends the run."""
KINDS = (*FATAL, "executor", "daemon", "worker", "page process")
_POLL_SECONDS = 0.05
Content = tuple[dict[str, Any], dict[str, Any]]
"""Rows of `extractions` by page, and rows of the ledger by file."""


@dataclass(frozen=True, slots=True)
class Way:
    """How the job works, as settings, and which processes it has. needs_cluster: executors of their
    own."""

    settings: Sequence[str]
    kinds: Sequence[str]
    needs_cluster: bool = False
    selects: bool = False
    """Whether records are read that an index names, instead of whole files."""
    people: bool = False
    """Whether the tables are changed between runs."""


@dataclass(frozen=True, slots=True)
class Job:
    """The main job over some archives, in processes of its own."""

    input: Sequence[str]
    """Its flags."""
    settings: Sequence[str]
    path: Path
    """The folder that registers the slow labeler."""

    def start(self, output: Path) -> "subprocess.Popen[str]":
        """Start it in its own session."""
        command = [sys.executable, str(ROOT / "jobs/run.py"), "--conf", str(ROOT / "conf/local.yml")]
        command += [*self.input, "--output", str(output)]
        for setting in self.settings:
            command += ["--set", setting]
        return subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment(self.path),
            start_new_session=True,
        )


def environment(path: Path) -> dict[str, str]:
    """Return the environment of processes that know the slow labeler."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    parts = [str(ROOT / "lib"), str(ROOT / "tests"), str(path), os.environ.get("PYTHONPATH", "")]
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, parts))}


def write_archives(folder: Path, n_files: int, n_pages: int) -> Path:
    """Write small archives, the first of them twice as long as the others; return their folder."""
    folder.mkdir()
    for i in range(n_files):
        write_warc(folder / f"{i:02d}.warc.gz", pages(1000 * i, n_pages * (2 if i == 0 else 1)))
    return folder


def prepared(folder: Path, settings: Sequence[str], n_files: int, n_pages: int, selects: bool = False) -> Job:
    """Return the job over archives that are written below `folder`; over all their records by an
    index if it selects."""
    archives = folder / "archives"
    path = folder / "path"
    if not archives.exists():
        write_archives(archives, n_files, n_pages)
        registered(path)
    given = ["--warcs", str(archives)]
    if selects:
        given = ["--select", f"index={write_cdxj(folder / 'index.cdxj', sorted(archives.glob('*.warc.gz')))}"]
    return Job(given, ["labeler.name=slow", "batch.files=4", *settings], path)


def by_kind(processes: Mapping[int, str], driver: int) -> dict[str, list[int]]:
    """Return the processes of a run by kind. Page processes are forks of workers, and workers are
    forks of a daemon, all with its command line: only their parents distinguish them."""
    found: dict[str, list[int]] = {kind: [] for kind in KINDS}
    for process, command in processes.items():
        if kind := _kind(process, command, processes, driver):
            found[kind].append(process)
    return found


def _kind(process: int, command: str, processes: Mapping[int, str], driver: int) -> str | None:
    if process == driver:
        return "driver"
    if "org.apache.spark.deploy.SparkSubmit" in command:
        return "JVM"
    if "CoarseGrainedExecutorBackend" in command:
        return "executor"
    if "pyspark.daemon" not in command:
        return None
    depth = 0
    while "pyspark.daemon" in processes.get(process, ""):
        process, depth = parent(process), depth + 1
    # Without its JVM above it, it is about to end.
    return ("daemon", "worker", "page process")[min(depth, 3) - 1] if process in processes else None


def content(output: Path) -> Content:
    """Return the rows of `extractions` by page, and the rows of the ledger by file, without the
    columns that differ from run to run."""
    tables = []
    for table, key in (("extractions", "page_id"), ("warc_files", "warc_file")):
        rows = DeltaTable(str(output / table)).to_pyarrow_table().to_pylist()
        named = {row[key]: {name: value for name, value in row.items() if name not in OF_RUN} for row in rows}
        assert len(named) == len(rows), f"{len(rows) - len(named)} rows of {table} are there twice"
        tables.append(named)
    return tables[0], tables[1]


def differences(expected: Content, got: Content) -> list[str]:
    """Return a sentence for each row that is not as expected, of each table at most three."""
    found = []
    for name, want, have in zip(("extractions", "warc_files"), expected, got, strict=True):
        wrong = sorted(key for key in want.keys() | have.keys() if want.get(key) != have.get(key))
        found += [f"{name} {key}: {have.get(key)} is not {want.get(key)}" for key in wrong[:3]]
    return found


class Meddler(Protocol):
    """Changes tables as people do (`support.mischief`)."""

    differences: list[str]

    def act(self, job: Job, output: Path) -> Job | None: ...

    def mend(self, job: Job, output: Path, told: str) -> bool: ...

    def compared(self, expected: Content, got: Content) -> tuple[Content, Content]: ...

    def report(self) -> dict[str, dict[str, int]]: ...

    def end(self) -> None: ...


@dataclass(slots=True)
class Torture:
    """One way of working, under fire."""

    job: Job
    kinds: Sequence[str]
    chance: random.Random
    expected: Content
    """The content of an undisturbed run's tables."""
    seconds: float
    """How long that took."""
    cluster: int | None = None
    """The process with the session of the executors."""
    second_share: float = 0.25
    """Runs with a second driver."""
    kills_a_run: int = 4
    """At most: a driver or a JVM is the last."""
    killed: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    """Runs that ended before there was one to kill."""
    codes: Counter[str] = field(default_factory=Counter)
    """Exit codes, by who was killed."""
    seconds_told: Counter[str] = field(default_factory=Counter)
    """How second drivers ended."""
    outputs: int = 0
    rows: int = 0
    """Rows and ledger rows that were compared."""
    differences: list[str] = field(default_factory=list)
    meddle: "Meddler | None" = None
    """Who does things to the tables between runs."""

    def until(self, folder: Path, n_kills: int) -> None:
        """Run and kill until the given number of kills, on one output after the other; each output
        is finished in the end."""
        whole = self.job
        while self.killed.total() < n_kills:
            output = folder / f"out-{self.outputs}"
            while not self._run(output, n_kills - self.killed.total()) or self._meddled(output):
                pass
            self._compare(output)
            self.job = whole

    def _meddled(self, output: Path) -> bool:
        """Let something be done to the tables of an output that is worked off; return whether."""
        job = self.meddle.act(self.job, output) if self.meddle is not None else None
        self.job = job or self.job
        return job is not None

    def _run(self, output: Path, most_kills: int) -> bool:
        """Start the job once, kill; return whether all is done."""
        process = self.job.start(output)
        second = _Second(self.job, output, self._offset()) if self.chance.random() < self.second_share else None
        started, hit = time.monotonic(), []
        for _ in range(min(most_kills, self.kills_a_run)):
            kind = self._next_kind()
            if not self._kill(process, kind, started):
                break
            self.killed[kind] += 1
            hit.append(kind)
            if kind in FATAL:
                break
        code, told = finish(process)
        self._judge(hit, code, told)
        logger.info("%d killed; run ended with %d after the death of %s", self.killed.total(), code, hit)
        self._nothing_stays(process.pid)
        if second is not None:
            second_code = self._judge_second(*second.finish())
            self._nothing_stays(second.process.pid)
            code = min(code, second_code) if code >= 0 else second_code
        if self.meddle is not None and code != 0 and not self.meddle.mend(self.job, output, told):
            self._meddled(output)
        return code == 0

    def _offset(self) -> float:
        return self.chance.uniform(0, self.seconds)

    def _next_kind(self) -> str:
        """One of the kinds that were killed least."""
        tried = self.killed + self.missed
        fewest = min(tried[kind] for kind in self.kinds)
        return self.chance.choice([kind for kind in self.kinds if tried[kind] == fewest])

    def _kill(self, process: "subprocess.Popen[str]", kind: str, started: float) -> bool:
        """Kill a process of that kind at a random moment; return whether one was there before the
        run ended."""
        if kind in FATAL:
            time.sleep(max(0.0, started + self.chance.uniform(0.3, 0.95) * self.seconds - time.monotonic()))
        else:
            self._find(process, kind)
            # Some time after the first one is there: page processes live for seconds, executors for
            # the run.
            time.sleep(self.chance.uniform(0, self.seconds / 8))
        while found := self._find(process, kind):
            with suppress(ProcessLookupError):
                os.kill(self.chance.choice(found), signal.SIGKILL)
                return True
        self.missed[kind] += 1
        return False

    def _find(self, process: "subprocess.Popen[str]", kind: str) -> list[int]:
        """Wait for processes of that kind; none if the run ended before."""
        while process.poll() is None:
            alive = of_session(process.pid) | (of_session(self.cluster) if self.cluster else {})
            if found := by_kind(alive, process.pid)[kind]:
                return found
            time.sleep(_POLL_SECONDS)
        return []

    def _judge(self, hit: Sequence[str], code: int, told: str) -> None:
        self.codes[f"{' + '.join(hit) or 'nobody'}: {code}"] += 1
        fits = {"driver": code == -signal.SIGKILL, "JVM": code == 3 and "run the same command again" in told}
        if not (fits.get(hit[-1], code in (0, 3)) if hit else code in (0, 3)):
            self.differences.append(f"exit code {code} after the death of {hit}: {told[-1500:]}")

    def _judge_second(self, code: int, told: str) -> int:
        last = (told.strip().splitlines() or [""])[-1]
        if code == 3 and last.startswith("another run ") and "Traceback" not in told:
            self.seconds_told["one sentence and exit code 3"] += 1
        elif code == 0:
            self.seconds_told["took over"] += 1
        elif code == 3 and self.meddle is not None and "--repair" in last:
            self.seconds_told["named a difference"] += 1
        else:
            self.seconds_told[f"exit code {code}"] += 1
            self.differences.append(f"a second driver ended with {code}: {told[-1500:]}")
        return code

    def _nothing_stays(self, leader: int) -> None:
        if not wait_for(lambda: not of_session(leader), 60):
            self.differences.append(f"left behind: {sorted(of_session(leader).values())}")
            for left in of_session(leader):
                with suppress(ProcessLookupError):
                    os.kill(left, signal.SIGKILL)

    def _compare(self, output: Path) -> None:
        self.outputs += 1
        try:
            got = content(output)
        except AssertionError as error:
            self.differences.append(f"{output}: {error}")
            return
        self.rows += sum(map(len, got))
        expected = self.expected
        if self.meddle is not None:
            expected, got = self.meddle.compared(expected, got)
            self.meddle.end()
        self.differences += differences(expected, got)


class _Second:
    """A second driver on the same output, started some time after the first."""

    def __init__(self, job: Job, output: Path, offset_seconds: float) -> None:
        self.process: subprocess.Popen[str]
        self._told = 1, f"it did not end in {PATIENCE_SECONDS} s"

        def go() -> None:
            time.sleep(offset_seconds)
            self.process = job.start(output)
            self._told = finish(self.process)

        self._thread = threading.Thread(target=go)
        self._thread.start()

    def finish(self) -> tuple[int, str]:
        self._thread.join()
        return self._told


def finish(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Wait for the job's end; return its exit code and its output."""
    told, _ = process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode, told


def undisturbed(job: Job, output: Path) -> tuple[float, Content]:
    """Run the job once; return how long it took, and the content of its tables."""
    started = time.monotonic()
    code, told = finish(job.start(output))
    assert code == 0, told
    return time.monotonic() - started, content(output)


_SPARKS_OWN_LOG = "-Dlog4j2.configurationFile=classpath:org/apache/spark/log4j2-defaults.properties"


@contextmanager
def cluster(folder: Path, path: Path) -> Iterator[tuple[str, int]]:
    """Run a cluster of Spark's own kind, with two workers of different names; yield its master, and
    the process with its session.

    Spark runs no second copy of a task on the machine of the first, so a local-cluster, in which
    all workers have one name, would never speculate.
    """
    log = folder / "cluster.log"
    script = (
        '"$1" org.apache.spark.deploy.master.Master --host 127.0.0.1 --port 0 --webui-port 0 & '
        'until master=$(grep -o "spark://127.0.0.1:[0-9]*" "$2"); do sleep 0.2; done; '
        "for i in 2 3; do "
        '"$1" org.apache.spark.deploy.worker.Worker --host 127.0.0.$i --cores 2 --memory 2g --webui-port 0 '
        '-d "$3/worker-$i" "$master" & done; wait'
    )
    import pyspark

    command = Path(pyspark.__file__).parent / "bin" / "spark-class"
    with log.open("w") as stream:
        process = subprocess.Popen(
            ["bash", "-c", script, "cluster", str(command), str(log), str(folder)],
            stdout=stream,
            stderr=subprocess.STDOUT,
            # Independent of the log level of the environment's own Spark.
            env=environment(path) | {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": _SPARKS_OWN_LOG},
            start_new_session=True,
        )
        try:
            ready: Callable[[], bool] = lambda: log.read_text().count("Registering worker") == 2  # noqa: E731
            assert wait_for(ready, 120), log.read_text()
            master = next(word for word in log.read_text().split() if word.startswith("spark://127.0.0.1:"))
            yield master.rstrip("."), process.pid
        finally:
            for left in of_session(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(left, signal.SIGKILL)
            process.wait()

"""Changes by people to the tables of a run that was killed, or has ended: rows deleted, tables
dropped or restored, pages forgotten, archives moved, files compacted during a run. Each is followed
by the remedy in the messages."""

import logging
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from support.torture import ROOT, Content, Job, environment, finish

logger = logging.getLogger(__name__)

ACTS_AN_OUTPUT = 3
"""At most: each costs one to three runs."""
_FORGOTTEN_ROWS = 2
_TRIES = 8
"""Runs of a tool until it has not been killed."""


@dataclass(slots=True)
class Mischief:
    """The changes to the tables of each output, in order."""

    chance: random.Random
    kill_share: float = 0.5
    """Share of calls of forget, relocate and repair with a killed driver."""
    done: Counter[str] = field(default_factory=Counter)
    killed: Counter[str] = field(default_factory=Counter)
    """Tools by name."""
    named: Counter[str] = field(default_factory=Counter)
    """The messages of runs: differences that a run named before it ended with 3."""
    differences: list[str] = field(default_factory=list)
    _left: int = ACTS_AN_OUTPUT
    _forgotten: set[str] = field(default_factory=set)
    """Pages."""
    _moved_from: Path | None = None
    _thread: threading.Thread | None = None

    def act(self, job: Job, output: Path) -> Job | None:
        """Do one thing to the tables of the output; return the job as a person would start it next,
        or None if nothing is left to do. Only between runs."""
        if not self._left or not (output / "extractions").exists() or not (output / "warc_files").exists():
            return None
        self._left -= 1
        acts: list[Callable[[Job, Path], Job]] = [
            self._delete_rows, self._drop_rows, self._restore, self._drop_ledger, self._forget, self._move,
            self._join_beside,
        ]  # fmt: skip
        fewest = min(self.done[act.__name__] for act in acts)
        act = self.chance.choice([act for act in acts if self.done[act.__name__] == fewest])
        self.done[act.__name__] += 1
        logger.info("mischief: %s", act.__name__)
        return act(job, output)

    def mend(self, job: Job, output: Path, told: str) -> bool:
        """Repair the tables if a run asked for it; return whether it did."""
        if "--repair" not in told:
            return False
        self.named["differences named"] += 1
        self._tool("maintain.py", job, ["--output", str(output), "--repair"])
        return True

    def compared(self, expected: Content, got: Content) -> tuple[Content, Content]:
        """Return both in the form in which they must be equal: without forgotten pages, and with
        only those columns of the ledger that can be rebuilt."""
        rows = {key: row for key, row in expected[0].items() if key not in self._forgotten}
        pages = Counter(row["warc_file"] for row in rows.values())
        want = {name: {"pages": pages[name]} for name in expected[1]}
        have = {name: {"pages": row["pages"]} for name, row in got[1].items()}
        return (rows, want), (got[0], have)

    def report(self) -> dict[str, dict[str, int]]:
        """Return how often each thing was done, a tool killed, and a difference named."""
        done = {act.strip("_").replace("_", " "): count for act, count in self.done.items()}
        return {"done": done, "tools killed": dict(self.killed), "runs": dict(self.named)}

    def end(self) -> None:
        """Wait for background work, and bring the archives back for the next output."""
        if self._thread is not None:
            self._thread.join()
        if self._moved_from is not None:
            shutil.move(_elsewhere(self._moved_from), self._moved_from)
        self._left, self._forgotten, self._moved_from, self._thread = ACTS_AN_OUTPUT, set(), None, None

    def _delete_rows(self, job: Job, output: Path) -> Job:
        """DELETE FROM extractions WHERE …, some rows of any batch."""
        table = DeltaTable(str(output / "extractions"))
        if pages := table.to_pyarrow_table(columns=["page_id"])["page_id"].to_pylist():
            quoted = ", ".join(f"'{page}'" for page in self.chance.sample(pages, max(1, len(pages) // 5)))
            table.delete(f"page_id in ({quoted})")
        return job

    def _drop_rows(self, job: Job, output: Path) -> Job:
        shutil.rmtree(output / "extractions")
        return job

    def _drop_ledger(self, job: Job, output: Path) -> Job:
        shutil.rmtree(output / "warc_files")
        return job

    def _restore(self, job: Job, output: Path) -> Job:
        table = DeltaTable(str(output / "extractions"))
        # Files of older versions may be gone by then.
        with suppress(DeltaError):
            table.restore(self.chance.randrange(table.version() + 1))
        return job

    def _forget(self, job: Job, output: Path) -> Job:
        """Forget two pages; the next run completes a killed call."""
        pages = DeltaTable(str(output / "extractions")).to_pyarrow_table(columns=["page_id"])["page_id"].to_pylist()
        if pages:
            chosen = self.chance.sample(sorted(pages), min(_FORGOTTEN_ROWS, len(pages)))
            flags = [word for page in chosen for word in ("--page-id", page)]
            self._tool("forget.py", job, ["--output", str(output), "--reason", "asked for", *flags])
            self._forgotten |= set(chosen)
        return job

    def _move(self, job: Job, output: Path) -> Job:
        """Move the archives to another folder, and record the move."""
        if self._moved_from is not None or job.input[0] != "--warcs":
            return job
        old = Path(job.input[1])
        shutil.move(old, _elsewhere(old))
        self._moved_from = old
        moved = [str(old) + "/", str(_elsewhere(old)) + "/", "--output", str(output)]
        self._tool("relocate.py", job, moved)
        return replace(job, input=["--warcs", str(_elsewhere(old))])

    def _join_beside(self, job: Job, output: Path) -> Job:
        """OPTIMIZE every table again and again while the next runs are at work."""

        def join() -> None:
            for _ in range(20):
                for table in ("warc_files", "runs", "extractions"):
                    with suppress(DeltaError, OSError):
                        DeltaTable(str(output / table)).optimize.compact()
                time.sleep(1)

        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=join)
            self._thread.start()
        return job

    def _tool(self, name: str, job: Job, flags: Sequence[str]) -> None:
        """Run one of the other jobs until it ends by itself; its driver and JVM may be killed."""
        told = ""
        for _ in range(_TRIES):
            process = _start(name, job, flags)
            if self.chance.random() < self.kill_share and self._killed(process):
                self.killed[name] += 1
                continue
            code, told = finish(process)
            if code == 0:
                return
            if name != "maintain.py" and "--repair" in told:
                self._tool("maintain.py", job, [*flags[flags.index("--output") :][:2], "--repair"])
            elif code != 3:
                break
        self.differences.append(f"{name} {' '.join(flags)} did not end with 0: {told[-1500:]}")

    def _killed(self, process: "subprocess.Popen[str]") -> bool:
        """Kill the driver at a random moment of its first 20 seconds; return whether it was
        there."""
        with suppress(subprocess.TimeoutExpired):
            process.wait(self.chance.uniform(4, 20))
        if process.poll() is not None:
            return False
        process.send_signal(signal.SIGKILL)
        finish(process)
        return True


def _elsewhere(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}-moved")


def _start(name: str, job: Job, flags: Sequence[str]) -> "subprocess.Popen[str]":
    conf = ["--conf", str(ROOT / "conf/local.yml")]
    return subprocess.Popen(
        [sys.executable, str(ROOT / "jobs" / name), *flags, *conf],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(job.path),
        start_new_session=True,
    )

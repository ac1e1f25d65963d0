"""The guard: every way in which a page can fail costs one error, and the next page is processed."""

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from dripper.errors import ErrorCode, PageError
from dripper.guard import Guard, GuardLimits

LIMITS = GuardLimits(cpu_seconds=1, wall_seconds=120, memory_bytes=512 << 20)


def work(item: str) -> tuple[int, str]:
    """Misbehaves in the way that `item` names."""
    if item == "hang in Python":
        while True:
            pass
    if item == "hang in C":
        # Quadratic inside libxml2: no Python byte code runs for minutes, so that no signal handler
        # could.
        etree.fromstring("<a>" + "<b/>" * 60_000 + "</a>").xpath("//b[count(preceding::b) > count(following::b)]")
    if item == "sleep":
        time.sleep(60)
    if item == "eat memory":
        return len(bytearray(4 << 30)), item
    if item == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if item == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if item == "crash once" and not Path(os.environ["MARK"]).exists():
        Path(os.environ["MARK"]).touch()
        os.kill(os.getpid(), signal.SIGSEGV)
    if item == "raise":
        raise ValueError("not foreseen")
    if item == "page error":
        raise PageError(ErrorCode.EMPTY_PAGE, "nothing here")
    return os.getpid(), item


@pytest.fixture
def guard() -> Iterator[Guard[str, tuple[int, str]]]:
    with Guard(work, LIMITS) as made:
        yield made


@pytest.mark.parametrize(
    ("item", "code", "words"),
    [
        ("hang in Python", ErrorCode.TIME_LIMIT, "1 s of CPU time"),
        ("hang in C", ErrorCode.TIME_LIMIT, "1 s of CPU time"),
        ("eat memory", ErrorCode.MEMORY_LIMIT, "out of memory"),
        ("killed", ErrorCode.MEMORY_LIMIT, "the system killed"),
        ("crash", ErrorCode.CRASHED, "SIGSEGV"),
        ("raise", ErrorCode.INTERNAL, "ValueError: not foreseen (test_guard.py:"),
        ("page error", ErrorCode.EMPTY_PAGE, "nothing here"),
    ],
)
def test_a_bad_page_costs_one_error(guard: Guard[str, tuple[int, str]], item: str, code: ErrorCode, words: str) -> None:
    assert guard.call("before")[1] == "before"
    with pytest.raises(PageError) as caught:
        guard.call(item)
    assert caught.value.code is code
    assert words in caught.value.detail
    assert guard.call("after")[1] == "after"


def test_a_page_that_sleeps_costs_one_error() -> None:
    with Guard(work, GuardLimits(cpu_seconds=1, wall_seconds=0.5, memory_bytes=512 << 20)) as made:
        with pytest.raises(PageError, match=r"no answer within 0\.5 s of wall time"):
            made.call("sleep")
        assert made.call("after")[1] == "after"


def test_a_crash_by_chance_is_tried_again(
    guard: Guard[str, tuple[int, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    assert guard.call("crash once")[1] == "crash once"


def test_good_pages_share_one_process_which_is_not_ours(guard: Guard[str, tuple[int, str]]) -> None:
    processes = {guard.call("page")[0] for _ in range(50)}
    assert len(processes) == 1
    assert os.getpid() not in processes


def test_full_collections_leave_out_what_was_there_before_the_first_page() -> None:
    gc.unfreeze()
    with Guard(lambda _: gc.get_freeze_count(), LIMITS) as guard:
        assert guard.call("any page") > 1000
    assert gc.get_freeze_count() == 0


def test_the_cpu_limit_is_for_one_page_not_for_all(guard: Guard[str, tuple[int, str]]) -> None:
    def spin(seconds: float) -> float:
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass
        return time.process_time()

    # Far below the limit each, far above it together: the kernel counts in ticks, on a busy machine
    # half a second off.
    with Guard(spin, replace(LIMITS, cpu_seconds=2)) as made:
        assert [made.call(0.5) for _ in range(7)][-1] > 3


def test_leaked_memory_recycles_the_process() -> None:
    leaked: list[bytearray] = []

    def leak(n_bytes: int) -> int:
        leaked.append(bytearray(n_bytes))
        return os.getpid()

    with Guard(leak, LIMITS) as made:
        processes = {made.call(150 << 20) for _ in range(8)}
    assert 2 <= len(processes) < 8


def test_close_leaves_no_process(guard: Guard[str, tuple[int, str]]) -> None:
    process, _ = guard.call("page")
    guard.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_the_child_ends_when_its_parent_is_killed() -> None:
    code = (
        "import os, signal\n"
        "from dripper.guard import Guard, GuardLimits\n"
        "guard = Guard(lambda item: os.getpid(), GuardLimits(1, 3, 1 << 29))\n"
        "print(guard.call('page'), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    child = int(told.stdout)
    for _ in range(50):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{child}/stat").read_text().split()[2] == "Z":
            return
        time.sleep(0.1)
    pytest.fail("the page process outlived its parent")


UNDER_HARD_LIMITS = """
import logging, resource, sys
logging.basicConfig(format="%(message)s")
from dripper.guard import Guard, GuardLimits
kind, hard = getattr(resource, sys.argv[1]), int(sys.argv[2])
resource.setrlimit(kind, (hard, hard))
for _ in range(2):
    with Guard(lambda item: resource.getrlimit(kind), GuardLimits(20, 60, 1 << 29)) as guard:
        soft, inherited = guard.call("page")
print(soft <= inherited, inherited)
"""


@pytest.mark.parametrize(
    ("kind", "hard", "said"),
    [
        ("RLIMIT_AS", 8_000_000 << 10, ""),
        ("RLIMIT_CPU", 3000, ""),
        ("RLIMIT_AS", 500 << 20, "pages get less than limits.page_memory_bytes=536870912"),
        ("RLIMIT_CPU", 15, "pages get less than limits.page_cpu_seconds=20: the hard limit of CPU time is 15 s"),
    ],
)
def test_a_hard_limit_that_is_there_stays(kind: str, hard: int, said: str) -> None:
    """As set by batch schedulers, containers and `ulimit`; only root may raise one."""
    done = subprocess.run(
        [sys.executable, "-c", UNDER_HARD_LIMITS, kind, str(hard)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    )
    assert done.stdout == f"True {hard}\n"
    assert done.stderr.count("\n") == bool(said)
    assert said in done.stderr


def test_a_page_over_a_hard_limit_of_cpu_time_is_a_time_limit() -> None:
    code = (
        "import resource\n"
        "from dripper.errors import PageError\n"
        "from dripper.guard import Guard, GuardLimits\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (30, 30))\n"
        "def work(item):\n"
        "    resource.setrlimit(resource.RLIMIT_CPU, (1, 3))\n"
        "    while True: pass\n"
        "try: Guard(work, GuardLimits(60, 60, 1 << 29)).call('page')\n"
        "except PageError as error: print(error.code.value)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "time_limit\n"


WATCHED = """
import re, time
from dripper.guard import Watchdog

def items(how, dog):
    yield 1
    if how == "waits":
        time.sleep(600)
    if how == "holds the interpreter":
        re.match("(a+)+$", "a" * 64 + "b")
    if how == "works on":
        for _ in range(8):
            time.sleep(0.2)
            dog.beat()
    if how == "gets nothing":
        yield from dog.rest(time.sleep(1.5) for _ in range(1))
    yield 2

dog = Watchdog({seconds}, "the test runs")
for item in dog.watch(items("{how}", dog)):
    if "{how}" == "is not asked":
        time.sleep(1.5)
print("at its end")
"""


def watched(how: str, seconds: float = 0.5) -> subprocess.CompletedProcess[str]:
    program = WATCHED.format(how=how, seconds=seconds)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)


def test_a_process_that_stands_still_ends_itself_and_says_where() -> None:
    ended = watched("waits")
    assert (ended.returncode, ended.stdout) == (1, "")
    words, trace = ended.stderr.split("\n", 1)
    assert words == (
        "dripper: no progress for 0.5 s while the test runs: this worker process ends itself, so that Spark tries its task again"
    )
    assert "in items" in trace


def test_a_process_whose_interpreter_is_held_ends_too() -> None:
    """No thread of Python's own gets its turn."""
    ended = watched("holds the interpreter")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "Timeout" in ended.stderr
    assert "in items" in ended.stderr


@pytest.mark.parametrize("how", ["works on", "gets nothing", "is not asked"])
def test_who_works_or_waits_for_others_is_left_alone(how: str) -> None:
    ended = watched(how, 1)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "at its end\n", "")


def test_a_handler_of_the_parent_does_not_keep_the_child() -> None:
    """Event loops handle SIGTERM themselves; a parent that ends sends it to its children, and
    waits."""
    program = """
import signal
from dripper.guard import Guard, GuardLimits
signal.signal(signal.SIGTERM, lambda *_: None)
guard = Guard(len, GuardLimits(1, 60, 512 << 20))
print(guard.call("abc"))
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr

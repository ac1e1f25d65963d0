"""The ledger: planned, finished, failed, tried again, given up. On tables in memory;
test_ledger_on_delta.py tests Delta."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from dripper.errors import DifferenceError
from dripper.spark.ledger.ledger import Ledger
from dripper.spark.ledger.plan import BatchSize, LedgerEntry, Plan, make_plan
from dripper.spark.tables.batches import Batch, PlannedFile
from dripper.spark.tables.books import EVERY_ROW
from dripper.spark.tables.counts import FileRows
from dripper.spark.tables.fence import Fence
from support.ledgers import SIZE, files, report, states
from support.memory_books import MemoryBooks, Storage

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(MemoryBooks(Storage(), lambda _: None, lambda _: None), "a run")


def test_a_file_that_failed_leaves_its_batch_and_is_given_up_in_the_end(ledger: Ledger) -> None:
    ledger.record(make_plan(files("gone", "good"), [], SIZE))
    ledger.finish([(Batch(1, files("gone", "good")), [report("gone", error="x"), report("good")], NOW)])
    for batch, attempts in ((2, 1), (3, 2)):
        plan = make_plan(files("gone", "good"), ledger.entries(), SIZE)
        assert [(b.number, b.files[0].attempts, b.files[0].replaces) for b in plan.fresh] == [
            (batch, attempts, batch - 1)
        ]
        ledger.record(plan)
        assert states(ledger) == {"good": (1, "done", 0, None), "gone": (batch, "planned", attempts, batch - 1)}
        ledger.finish([(plan.fresh[0], [report("gone", error="x")], NOW)])
    assert states(ledger)["gone"] == (3, "set_aside", 3, None)
    plan = make_plan(files("gone", "good"), ledger.entries(), SIZE)
    assert (plan.fresh, plan.n_done, plan.set_aside) == ((), 2, ("gone",))
    ledger.dismiss(["gone", "good"])
    assert {name: state for name, (_, state, _, _) in states(ledger).items()} == {"good": "done", "gone": "dismissed"}
    assert make_plan(files("gone", "good"), ledger.entries(), SIZE).set_aside == ()


def test_an_outage_is_on_no_files_account(ledger: Ledger) -> None:
    ledger.record(make_plan(files("a", "b"), [], SIZE))
    ledger.finish(
        [(Batch(1, files("a", "b")), [report(n, error="x", error_kind="denied", pages=0) for n in "ab"], NOW)]
    )
    assert states(ledger) == dict.fromkeys("ab", (1, "failed", 0, None))


def test_suspects_get_batches_of_their_own(ledger: Ledger) -> None:
    plan = make_plan(files("a", "b", "c", "d"), ledger.entries(), SIZE)
    ledger.record(plan)
    rest, first, second = ledger.isolate(plan.fresh[0], [["b"], ["c", "d"]])
    assert [tuple(file.warc_file for file in batch.files) for batch in (rest, first, second)] == [
        ("a",),
        ("b",),
        ("c", "d"),
    ]
    assert states(ledger) == {
        "a": (1, "planned", 0, None),
        "b": (2, "planned", 1, 1),
        "c": (3, "planned", 0, 1),
        "d": (3, "planned", 0, 1),
    }
    ledger.set_aside(first, "it killed its worker", NOW)
    assert states(ledger)["b"] == (2, "set_aside", 1, None)
    assert ledger.reports(first)[0]["error_kind"] == "crashed"


def test_what_is_known_is_what_is_written(ledger: Ledger) -> None:
    """After each write, a ledger that existed before agrees with one that reads again."""
    books = ledger._books
    ledger.record(make_plan(files("a", "b", "c"), ledger.entries(), BatchSize(2, 1 << 40)))
    again = Plan(fresh=(Batch(5, files("b")),), moved=(LedgerEntry(PlannedFile("b"), 1, "failed"),))
    left = FileRows(1, 0, 7)
    writes: list[Callable[[], object]] = [
        lambda: ledger.finish([(Batch(1, files("a", "b")), [report("a"), report("b", error="x", pages=0)], NOW)]),
        lambda: ledger.isolate(Batch(2, files("c")), [["c"]]),
        lambda: ledger.record(again),
        lambda: ledger.dismiss(["a", "b"]),
        lambda: ledger.set_aside(Batch(5, files("b")), "it crashed", NOW),
        lambda: ledger.dismiss(["b"]),
        lambda: ledger.put_back(Batch(1, files("a")), "planned"),
        lambda: ledger.finish([(Batch(1, files("a")), [report("a", pages=3, skipped={})], NOW)]),
        lambda: ledger.forget([(entry, left) for entry in ledger.entries() if entry.file.warc_file == "a"], NOW),
        lambda: ledger.note_checked({(1, "a"): left}, NOW),
        lambda: ledger.rebuild([{"warc_file": "n", "batch": 9, "pages": 2, "failed_pages": 1, "selection": None}], NOW),
    ]
    for number, write in enumerate(writes):
        write()
        read = Ledger(books, "another")
        by_key = {entry.file.key: entry for entry in read.entries()}
        assert {entry.file.key: entry for entry in ledger.entries()} == by_key, number
        assert (ledger.counts(), ledger.last_batch >= read.last_batch) == (read.counts(), True), number
    assert ledger.counts()["skipped"] == 2


def test_what_a_person_writes_between_the_look_at_rows_and_their_change_is_kept() -> None:
    """Before the commit began, and during it."""
    for place in ("begin amend warc_files", "commit amend warc_files"):
        storage, waiting = Storage(), [place]
        person = MemoryBooks(storage, lambda _: None, lambda _: None)

        def pause(at: str, waiting: list[str] = waiting, person: MemoryBooks = person) -> None:
            if at in waiting:
                waiting.remove(at)
                person.replace("warc_files", [row | {"mine": 1} for row in person.read("warc_files")], EVERY_ROW)

        books = MemoryBooks(storage, pause, lambda _: None)
        books.fence = Fence(1, 1, lambda: None)
        ledger = Ledger(books, "a run")
        ledger.record(make_plan(files("a", "b"), [], SIZE))
        ledger.finish([(Batch(1, files("a", "b")), [report("a"), report("b", error="x")], NOW)])
        ledger.dismiss(["b"])
        assert not waiting
        assert [(row["mine"], row["state"]) for row in person.read("warc_files")] == [(1, "done"), (1, "dismissed")]
        assert states(ledger)["b"][1] == "dismissed"


def test_who_is_always_overtaken_gives_up() -> None:
    books = MemoryBooks(Storage(), lambda _: None, lambda _: None)
    ledger = Ledger(books, "a run")
    ledger.record(make_plan(files("a"), [], SIZE))
    ledger.finish([(Batch(1, files("a")), [report("a", error="x")], NOW)])
    books.amend = lambda *_: False  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="others change the same rows"):
        ledger.dismiss(["a"])


def test_a_state_that_is_not_known_is_refused_with_what_to_do(ledger: Ledger) -> None:
    """No run would ever read such a file, and every run would report that all are done."""
    ledger.record(make_plan(files("a", "b"), [], SIZE))
    ledger._books.append("warc_files", [{**ledger.reports(Batch(1, ()))[0], "warc_file": "c", "state": "bogus"}])
    with pytest.raises(
        DifferenceError, match=r"warc_files has 1 file at the state 'bogus', .* SET state = 'failed' WHERE"
    ):
        Ledger(ledger._books, "another").entries()

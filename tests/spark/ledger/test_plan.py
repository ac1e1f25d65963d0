"""Planning: pure, deterministic, and never a file lost or done twice."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.errors import InputError
from dripper.spark.ledger.plan import UNFINISHED, BatchSize, LedgerEntry, Plan, has_changed, list_batches, make_plan
from dripper.spark.tables.batches import Batch, PlannedFile, of_selections_apart
from dripper.warc.index.select import Place
from dripper.warc.read.record import ArchiveFault

SIZE = BatchSize(files=3, bytes=100)
FILES = st.lists(
    st.builds(PlannedFile, st.text("abcdef", min_size=1, max_size=3), st.none() | st.integers(0, 80)),
    unique_by=lambda file: file.warc_file,
    max_size=20,
)


def names(batches: tuple[Batch, ...]) -> list[str]:
    return [file.warc_file for batch in batches for file in batch.files]


def as_ledger(batches: tuple[Batch, ...], state: str) -> list[LedgerEntry]:
    return [LedgerEntry(file, batch.number, state) for batch in batches for file in batch.files]


@given(FILES)
def test_every_file_is_in_one_batch_in_order(files: list[PlannedFile]) -> None:
    plan = make_plan(files, [], SIZE)
    assert names(plan.fresh) == [file.warc_file for file in files]
    assert [batch.number for batch in plan.fresh] == list(range(1, len(plan.fresh) + 1))
    for batch in plan.fresh:
        assert 1 <= len(batch.files) <= SIZE.files
        assert len(batch.files) == 1 or sum(file.weight for file in batch.files) <= SIZE.bytes


@given(FILES)
def test_what_is_done_stays_done(files: list[PlannedFile]) -> None:
    first = make_plan(files, [], SIZE)
    again = make_plan(files, as_ledger(first.fresh, "done"), SIZE)
    assert (again.resumed, again.fresh, again.n_done) == ((), (), len(files))


@given(FILES)
def test_what_was_planned_is_resumed_in_the_same_batches(files: list[PlannedFile]) -> None:
    first = make_plan(files, [], SIZE)
    again = make_plan(files, as_ledger(first.fresh, "planned"), SIZE)
    assert again.fresh == ()
    assert sorted(names(again.resumed)) == sorted(names(first.fresh))
    assert {(b.number, frozenset(b.files)) for b in again.resumed} == {
        (b.number, frozenset(b.files)) for b in first.fresh
    }


@given(FILES, st.data())
def test_any_ledger_accounts_for_every_file(files: list[PlannedFile], data: st.DataObject) -> None:
    states = data.draw(
        st.lists(st.sampled_from(["planned", "done", "failed", ""]), min_size=len(files), max_size=len(files))
    )
    batches = data.draw(st.lists(st.integers(1, 4), min_size=len(files), max_size=len(files)))
    ledger = [LedgerEntry(f, b, s) for f, b, s in zip(files, batches, states, strict=True) if s]
    plan = make_plan(files, ledger, SIZE)
    todo = names(plan.resumed) + names(plan.fresh)
    assert len(todo) == len(set(todo))
    assert len(todo) + plan.n_done == len(files)
    planned = {entry.batch for entry in ledger if entry.state == "planned"}
    undone = {e.file.warc_file for e in ledger if e.state != "done" or e.batch in planned}
    assert set(todo) == undone | {file.warc_file for file in files} - {e.file.warc_file for e in ledger}
    assert all(batch.number > max((e.batch for e in ledger), default=0) for batch in plan.fresh)


def test_two_files_of_one_key_are_refused_as_one_would_be_left_out() -> None:
    files = [PlannedFile("a", path="may/a"), PlannedFile("b"), PlannedFile("a", path="latest/a")]
    with pytest.raises(InputError, match=r"latest/a and may/a are one file to this output, a: .* one at a time"):
        make_plan(files, [], SIZE)
    make_plan([replace(file, selection=file.path) for file in files], [], SIZE)


def test_a_failed_file_moves_to_a_new_batch() -> None:
    bad, good = PlannedFile("bad", 1, attempts=1), PlannedFile("good", 1)
    ledger = [LedgerEntry(bad, 1, "failed", pages=3), LedgerEntry(good, 1, "done")]
    plan = make_plan([PlannedFile("bad", 1)], ledger, SIZE)
    assert plan.fresh == (Batch(2, (PlannedFile("bad", 1, replaces=1, attempts=1),)),)
    assert [entry.batch for entry in plan.moved] == [1]


@pytest.mark.parametrize("state", ["preprocessed", "labelled"])
def test_a_batch_between_stages_begins_anew_where_one_of_its_files_is_redone(state: str) -> None:
    files = [PlannedFile("a"), PlannedFile("b")]
    plan = make_plan(files, as_ledger((Batch(4, tuple(files)),), state), SIZE, states=["planned"], redo={"b"})
    assert (plan.resumed, plan.anew, plan.n_done) == ((Batch(4, tuple(files)),), {4}, 0)
    untouched = make_plan(files, as_ledger((Batch(4, tuple(files)),), state), SIZE, states=["planned"])
    assert (untouched.resumed, untouched.anew, untouched.n_done) == ((), frozenset(), 2)


def test_archives_that_are_not_whole_stay_in_the_plan() -> None:
    entries = [
        LedgerEntry(PlannedFile("a"), 1, "done", 2, ArchiveFault.CUT_SHORT),
        LedgerEntry(PlannedFile("b"), 1, "done"),
    ]
    assert make_plan([PlannedFile("a"), PlannedFile("b")], entries, SIZE).faults == {"a": "cut short"}
    assert make_plan([PlannedFile("a")], entries, SIZE, redo={"a"}).faults == {}


def test_what_is_set_aside_or_dismissed_stays_so_until_it_is_asked_for() -> None:
    files = [PlannedFile("a", 1), PlannedFile("b", 1)]
    ledger = [LedgerEntry(files[0], 1, "set_aside"), LedgerEntry(files[1], 1, "dismissed")]
    plan = make_plan(files, ledger, SIZE)
    assert (plan.fresh, plan.n_done, plan.set_aside) == ((), 2, ("a",))
    assert names(make_plan(files, ledger, SIZE, redo={"a"}).fresh) == ["a"]


OLD = PlannedFile("a", 10, "etag:x")
CHANGES = [
    (OLD, "done", PlannedFile("a", 10, "etag:x"), False),
    (OLD, "done", PlannedFile("a", 11, "etag:x"), True),
    (OLD, "done", PlannedFile("a", 10, "etag:y"), True),
    (OLD, "planned", PlannedFile("a", 11, "etag:y"), False),
    # Files of a list are not looked up; versions of another storage cannot be compared.
    (OLD, "done", PlannedFile("a"), False),
    (OLD, "done", PlannedFile("a", 10, "mtime:7"), False),
    (PlannedFile("a"), "done", OLD, False),
    # It was gone, and is there again.
    (PlannedFile("a"), "set_aside", OLD, True),
    (PlannedFile("a"), "dismissed", OLD, True),
]


@pytest.mark.parametrize(("then", "state", "now", "changed"), CHANGES)
def test_which_file_is_another_than_the_one_that_was_read(
    then: PlannedFile, state: str, now: PlannedFile, changed: bool
) -> None:
    assert has_changed(now, LedgerEntry(then, 1, state)) is changed


def test_a_changed_file_is_read_again_and_replaces_its_old_rows() -> None:
    plan = make_plan([PlannedFile("a", 11)], [LedgerEntry(PlannedFile("a", 10), 4, "done", pages=7)], SIZE)
    assert plan.fresh == (Batch(5, (PlannedFile("a", 11, replaces=4),)),)


def test_a_resumed_batch_is_opened_as_typed_now() -> None:
    """A signature is in no ledger."""
    typed = PlannedFile("https://e.org/a", 1, path="https://e.org/a?X-Amz-Signature=new")
    plan = make_plan(
        [typed], [LedgerEntry(PlannedFile("https://e.org/a", 1, replaces=2, attempts=1), 3, "planned")], SIZE
    )
    assert plan.resumed == (Batch(3, (replace(typed, replaces=2, attempts=1),)),)


def test_the_limit_counts_files_to_do_and_says_what_is_left() -> None:
    files = [PlannedFile(name, 1) for name in "abcde"]
    plan = make_plan(files, [LedgerEntry(files[0], 1, "done")], SIZE, limit=2)
    assert (names(plan.fresh), plan.n_done, plan.n_left) == (["b", "c"], 1, 2)


@given(FILES, st.sampled_from(UNFINISHED))
def test_batches_are_resumed_at_the_stage_they_are_at(files: list[PlannedFile], state: str) -> None:
    first = make_plan(files, [], SIZE)
    ledger = as_ledger(first.fresh, state)
    again = make_plan(files, ledger, SIZE)
    assert [(batch.number, batch.state) for batch in again.resumed] == [(batch.number, state) for batch in first.fresh]
    others = [other for other in UNFINISHED if other != state]
    assert make_plan(files, ledger, SIZE, limit=1, states=others) == Plan(n_done=len(files))


def test_a_batch_with_a_planned_file_is_planned() -> None:
    entries = [LedgerEntry(PlannedFile(name, 1), 1, state) for name, state in (("a", "labelled"), ("b", "planned"))]
    assert list_batches(entries, {1}) == [Batch(1, (PlannedFile("a", 1), PlannedFile("b", 1)), "planned")]


def test_other_files_of_the_ledger_are_left_alone() -> None:
    plan = make_plan([PlannedFile("a", 1)], [LedgerEntry(PlannedFile("x", 1), 7, "planned")], SIZE)
    assert (names(plan.resumed), names(plan.fresh), plan.fresh[0].number) == ([], ["a"], 8)


def selected(selection: str | None = "s", *offsets: int) -> PlannedFile:
    return PlannedFile("a", selection=selection, places=tuple(Place(offset, 9, "u") for offset in offsets))


WHOLE = PlannedFile("a", 10)


def test_the_same_selection_is_done_another_is_new_work() -> None:
    ledger = [LedgerEntry(selected("s"), 1, "done", pages=2)]
    assert make_plan([selected("s", 5)], ledger, SIZE) == Plan(n_done=1)
    assert make_plan([selected("t", 5)], ledger, SIZE).fresh == (Batch(2, (selected("t", 5),)),)


def test_what_was_read_whole_has_the_records_of_every_selection() -> None:
    assert make_plan([selected("s", 5)], [LedgerEntry(WHOLE, 1, "done")], SIZE) == Plan(n_done=1)
    for state in ("failed", "planned", "set_aside", "dismissed"):
        assert make_plan([selected("s", 5)], [LedgerEntry(WHOLE, 1, state)], SIZE).fresh[0].files == (selected("s", 5),)


def test_a_whole_reading_replaces_the_rows_of_selections_new_or_resumed() -> None:
    ledger = [LedgerEntry(selected("s"), 1, "done"), LedgerEntry(replace(selected("t"), replaces=2), 3, "planned")]
    assert make_plan([WHOLE], ledger, SIZE).fresh == (Batch(4, (replace(WHOLE, supersedes=(1, 2, 3)),)),)
    resumed = make_plan([WHOLE], [*ledger, LedgerEntry(WHOLE, 4, "planned")], SIZE).resumed
    assert resumed == (Batch(4, (replace(WHOLE, supersedes=(1, 2, 3)),)),)
    assert of_selections_apart(resumed[0]) == Batch(4, (WHOLE,))


def test_a_resumed_selection_gets_its_places_from_the_index() -> None:
    plan = make_plan([selected("s", 5, 7)], [LedgerEntry(selected("s"), 1, "planned")], SIZE)
    assert plan.resumed == (Batch(1, (selected("s", 5, 7),)),)

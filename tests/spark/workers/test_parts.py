"""Which files, and parts of files, make up a task."""

from hypothesis import given
from hypothesis import strategies as st

from dripper.spark.tables.batches import Batch, PlannedFile
from dripper.spark.workers.parts import FilePart, split_into_tasks
from dripper.warc.index.select import Place
from dripper.warc.read.record import Span

MIB = 1 << 20
FILES = st.lists(
    st.builds(PlannedFile, st.text("abcdef", min_size=1, max_size=3), st.none() | st.integers(0, 80 * MIB)),
    unique_by=lambda file: file.warc_file,
    max_size=20,
)


def split(sizes: list[int | None], slots: int) -> list[list[FilePart]]:
    files = tuple(PlannedFile(f"f{i}", size) for i, size in enumerate(sizes))
    return split_into_tasks(Batch(1, files), slots)


@given(FILES, st.integers(1, 64))
def test_tasks_hold_every_byte_of_every_file_once_heaviest_first(files: list[PlannedFile], slots: int) -> None:
    tasks = split_into_tasks(Batch(1, tuple(files)), slots)
    parts = [part for task in tasks for part in task]
    for file in files:
        spans = sorted((part.span for part in parts if part.file == file), key=lambda span: span.start)
        assert spans[0].start == 0
        assert [span.end for span in spans] == [*(span.start for span in spans[1:]), None]
    assert {part.file for part in parts} == set(files)
    weights = [part.weight for part in parts]
    assert weights == sorted(weights, reverse=True)
    assert all(tasks)


def test_big_files_spread_over_the_cores() -> None:
    assert len(split([1 << 30] * 8, 2)) == 8


def test_one_big_file_keeps_the_cores_of_a_small_cluster_busy() -> None:
    assert len(split([100 << 20], 2)) == 8
    assert len(split([1 << 30], 16)) == 64
    assert len(split([1 << 30], 4000)) == 256
    assert len(split([1 << 30] + [1 << 28] * 4, 2)) == 8


def test_a_file_of_unknown_size_is_split_as_one_of_common_crawl() -> None:
    tasks = split([None], 2)
    assert len(tasks) == 8
    assert tasks[0][0].span == Span(0, 1 << 27)


def test_a_file_is_not_split_for_nothing() -> None:
    for tasks in (split([7 << 20], 1), split([4 << 20], 64), split([1 << 30] * 100, 2)):
        assert {part.span for task in tasks for part in task} == {Span()}


def test_small_files_share_a_task() -> None:
    assert len(split([10_000] * 100, 2)) == 1


@given(st.integers(0, 200), st.integers(1, 64))
def test_records_of_a_selection_are_shared_each_once(n_places: int, slots: int) -> None:
    places = tuple(Place(i, 30_000, "u") for i in range(n_places))
    tasks = split_into_tasks(Batch(1, (PlannedFile("a", selection="s", places=places),)), slots)
    parts = sorted((part for task in tasks for part in task), key=lambda part: part.span.start)
    assert [place for part in parts for place in places[part.span.start : part.span.end]] == list(places)
    assert (parts[0].span.start, parts[-1].span.end) == (0, None)

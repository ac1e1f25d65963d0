"""The stage `label` without Spark: batches, and engines that fail in every way."""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from dripper.config import LabelerSettings, Settings, StageSettings, load
from dripper.errors import MachineError, SettingsError
from dripper.labels import Labels, SimplifiedPage
from dripper.labels.base import LabelerStoppedError
from dripper.spark.tables.schemas import LABELS
from dripper.spark.workers.label import (
    Engine,
    EngineError,
    check_labeler,
    environment,
    groups,
    labels_mapper,
    load_labeler,
    outcome_columns,
)
from support.stage_labelers import DeadLabeler, DyingLabeler, HashLabeler, PoisonedLabeler, load_dead, load_hash

SCHEMA = to_arrow_schema(StructType([StructField(field.name, field.dataType) for field in LABELS]))


def simplified(text: str) -> SimplifiedPage:
    return SimplifiedPage(f'<html><body><p _item_id="1">{text}</p></body></html>', 1)


class Recording(PoisonedLabeler):
    """Keeps the sizes of the batches that it gets."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        self.sizes.append(len(pages))
        return super().label_simplified(pages)


def test_a_failed_batch_is_tried_in_halves() -> None:
    engine = Engine(Recording)
    pages = [simplified("poison" if i == 2 else f"page {i}") for i in range(8)]
    outcomes = engine.label(pages)
    assert [isinstance(outcome, str) for outcome in outcomes] == [i == 2 for i in range(8)]
    assert outcomes[2] == "RuntimeError: cannot read this"
    assert isinstance(engine.labeler, Recording)
    # The last 1 of the failing page is followed by the short page that tells whose fault it was.
    assert engine.labeler.sizes == [8, 4, 2, 2, 1, 1, 1, 4]


# No deadline: an engine that dies is followed by a collection of garbage.
@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(["good", "poison", "short", "deadly"]), max_size=8), st.booleans())
def test_every_page_gets_its_own_outcome(texts: list[str], dies: bool) -> None:
    """Whatever fails, and however often the engine dies: one outcome a page, in order, failed
    exactly where its page fails."""
    bad = {"deadly"} if dies else {"poison", "short"}
    outcomes = Engine(DyingLabeler if dies else PoisonedLabeler).label([simplified(text) for text in texts])
    assert [isinstance(outcome, str) for outcome in outcomes] == [text in bad for text in texts]
    good = HashLabeler().label_simplified([simplified(text) for text in texts])
    for outcome, expected in zip(outcomes, good, strict=True):
        if isinstance(outcome, Labels):
            assert np.array_equal(outcome.main, expected.main)


@pytest.mark.parametrize("closes", [True, False])
def test_a_dead_engine_is_closed_before_the_next_one_starts(closes: bool) -> None:
    """It holds the memory that the next one asks for."""
    events: list[str] = []

    class Closing(DyingLabeler):
        def __init__(self) -> None:
            super().__init__()
            events.append("start")

        def close(self) -> None:
            events.append("close")
            if not closes:
                raise RuntimeError("cannot even close")

    outcomes = Engine(Closing).label([simplified("a"), simplified("deadly"), simplified("b")])
    assert [isinstance(outcome, str) for outcome in outcomes] == [False, True, False]
    assert events[:3] == ["start", "close", "start"]


def test_a_labeler_that_loses_pages_is_not_believed() -> None:
    class Losing(HashLabeler):
        def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
            return super().label_simplified(pages)[:2]

    outcomes = Engine(Losing).label([simplified(str(i)) for i in range(5)])
    assert all(isinstance(outcome, Labels) for outcome in outcomes)
    assert len(outcomes) == 5


def test_an_engine_that_never_works_is_an_error() -> None:
    with pytest.raises(EngineError, match=r"the labeler dead fails on every page.*no GPU here"):
        Engine(DeadLabeler).label([simplified("a"), simplified("b")])


def rows(*tokens: int) -> list[dict[str, object]]:
    return [
        {
            "page_id": str(i),
            "batch": 1,
            "n_blocks": 1,
            "profile": "dripper",
            "draft": None,
            "tokens": n,
            "simplified_html": simplified(str(n)).simplified_html,
        }
        for i, n in enumerate(tokens)
    ]


def test_batches_end_by_pages_or_by_tokens() -> None:
    by_pages = groups(rows(5, 4, 3, 2, 1), StageSettings(batch_pages=2))
    assert [[row["tokens"] for row in group] for group in by_pages] == [[5, 4], [3, 2], [1]]
    by_tokens = groups(rows(90, 8, 3, 2, 1), StageSettings(batch_tokens=10))
    assert [[row["tokens"] for row in group] for group in by_tokens] == [[90], [8], [3, 2, 1]]


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 5), st.integers(1, 60))
def test_batches_hold_every_page_once_in_order(tokens: list[int], pages: int, most: int) -> None:
    made = list(groups(rows(*tokens), StageSettings(batch_pages=pages, batch_tokens=most)))
    assert [row["tokens"] for group in made for row in group] == tokens
    assert all(0 < len(group) <= pages for group in made)
    assert all(len(group) == 1 or sum(row["tokens"] for row in group) <= most for group in made)


def mapped(mapper: Callable[[list[pa.RecordBatch]], object], given: list[dict[str, object]]) -> list[dict[str, object]]:
    batch = pa.RecordBatch.from_pylist(given)
    return [row for out in mapper([batch]) for row in out.to_pylist()]  # type: ignore[attr-defined]


def test_rows_keep_their_keys() -> None:
    made = mapped(
        labels_mapper(load_hash, load(assignments=["stages.batch_pages=2"]), SCHEMA, None), rows(9, 7, 7, 1, 1)
    )
    assert [row["page_id"] for row in made] == ["0", "1", "2", "3", "4"]
    assert {(row["labeler"], row["labeler_version"], row["batch"], row["passes"]) for row in made} == {
        ("hash", "1", 1, 3)
    }
    assert all(isinstance(row["main"], list) and len(row["main"]) == 1 for row in made)


def test_a_task_that_failed_leaves_no_engine_behind() -> None:
    mapper = labels_mapper(load_dead, load(), SCHEMA, None)
    for _ in range(2):
        with pytest.raises(EngineError):
            mapped(mapper, rows(1))
    assert len(mapped(labels_mapper(load_hash, load(), SCHEMA, None), rows(1))) == 1


def test_columns_of_labels_without_probabilities_are_null() -> None:
    columns = outcome_columns(Labels.certain(np.array([True, False])))
    assert columns == {
        "main": [True, False],
        "probability": None,
        "confidence": None,
        "page_kind": None,
        "passes": 0,
        "windows": 1,
    }


def test_the_environment_is_the_engines() -> None:
    told = environment(Settings(stages=StageSettings(engine_threads=3), labeler=LabelerSettings(name="lm")))
    assert told == {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "OMP_NUM_THREADS": "3"}
    assert int(environment(Settings(stages=StageSettings(engines=1000)))["OMP_NUM_THREADS"]) == 1


def test_only_labelers_of_simplified_html_are_loaded() -> None:
    assert load_labeler(load(assignments=["labeler.name=all"])).name == "all"
    with pytest.raises(SettingsError, match=r"the labeler cpu reads whole pages.*jobs/run\.py"):
        load_labeler(Settings())
    # It may be at home only on machines with GPUs: the driver does not try.
    check_labeler(load(assignments=["labeler.name=lm", "labels.lm.model=nowhere"]), load_labeler)


class Stopping(DyingLabeler):
    """Its engine says itself that it is beyond repair."""

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        try:
            return super().label_simplified(pages)
        except RuntimeError as error:
            raise LabelerStoppedError(f"vLLM's engine stopped working: {error}") from error


def test_a_page_that_an_engine_dies_of_does_not_hold_up_the_others() -> None:
    """Else its batch would fail, and fail again with every new run."""
    outcomes = Engine(Stopping).label([simplified(text) for text in ("a", "b", "deadly", "c")])
    told = [outcome if isinstance(outcome, str) else "" for outcome in outcomes]
    assert told == ["", "", "LabelerStoppedError: vLLM's engine stopped working: the engine is gone", ""]


def test_a_task_without_rows_starts_no_engine() -> None:
    """There may be more engines than pages."""
    empty = pa.RecordBatch.from_pylist(rows(1)).slice(0, 0)
    assert list(labels_mapper(load_dead, load(), SCHEMA, None)([])) == []
    assert list(labels_mapper(load_dead, load(), SCHEMA, None)([empty])) == []


class Misused(HashLabeler):
    """Its server is gone."""

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        raise MachineError("no server at http://127.0.0.1:1")


def test_what_a_person_has_to_change_is_no_pages_fault() -> None:
    with pytest.raises(MachineError, match="no server"):
        Engine(Misused).label([simplified("a"), simplified("b")])

"""A labeler with an engine: batches, and engines that fail in every way."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.errors import MachineError, SettingsError
from dripper.labels import Labels, SimplifiedPage, engine
from dripper.labels.base import LabelerStoppedError
from dripper.labels.config import load
from dripper.labels.engine import Engine, EngineError, check_labeler, environment, groups, load_labeler
from dripper.settings import LabelerSettings, Settings, StageSettings
from support.stage_labelers import DeadLabeler, DyingLabeler, HashLabeler, PoisonedLabeler


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
    # The last 1 of the failing page is followed by the short page that shows the cause.
    assert engine.labeler.sizes == [8, 4, 2, 2, 1, 1, 1, 4]


@pytest.fixture(scope="module", autouse=True)
def _no_garbage() -> Iterator[None]:
    """Leave out the collection that follows an engine's death: it goes through all that other
    tests have loaded, a third of a second each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dripper.labels.engine.gc", SimpleNamespace(collect=lambda: 0))
        yield


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["good", "poison", "short", "deadly"]), max_size=8), st.booleans())
def test_every_page_gets_its_own_outcome(texts: list[str], dies: bool) -> None:
    """Whatever fails, and however often the engine dies, there is one outcome per page, in order,
    failed exactly if its page fails."""
    bad = {"deadly"} if dies else {"poison", "short"}
    outcomes = Engine(DyingLabeler if dies else PoisonedLabeler).label([simplified(text) for text in texts])
    assert [isinstance(outcome, str) for outcome in outcomes] == [text in bad for text in texts]
    good = HashLabeler().label_simplified([simplified(text) for text in texts])
    for outcome, expected in zip(outcomes, good, strict=True):
        if isinstance(outcome, Labels):
            assert np.array_equal(outcome.main, expected.main)


@pytest.mark.parametrize("closes", [True, False])
def test_a_dead_engine_is_closed_before_the_next_one_starts(closes: bool) -> None:
    """It still has the memory that the next one needs."""
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
    return [{"tokens": n} for n in tokens]


def test_batches_end_by_pages_or_by_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BATCH_PAGES", 2)
    by_pages = groups(rows(5, 4, 3, 2, 1))
    assert [[row["tokens"] for row in group] for group in by_pages] == [[5, 4], [3, 2], [1]]
    monkeypatch.setattr(engine, "BATCH_PAGES", 5)
    monkeypatch.setattr(engine, "BATCH_TOKENS", 10)
    by_tokens = groups(rows(90, 8, 3, 2, 1))
    assert [[row["tokens"] for row in group] for group in by_tokens] == [[90], [8], [3, 2, 1]]


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 5), st.integers(1, 60))
def test_batches_hold_every_page_once_in_order(tokens: list[int], pages: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "BATCH_PAGES", pages)
        patch.setattr(engine, "BATCH_TOKENS", most)
        made = list(groups(rows(*tokens)))
    assert [row["tokens"] for group in made for row in group] == tokens
    assert all(0 < len(group) <= pages for group in made)
    assert all(len(group) == 1 or sum(row["tokens"] for row in group) <= most for group in made)


def test_the_environment_is_the_engines() -> None:
    told = environment(Settings(labeler=LabelerSettings(name="lm")), 3)
    threads = {"OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "PASSIVE"}
    assert told == {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", **threads}
    assert int(environment(Settings(stages=StageSettings(engines=1000)))["OMP_NUM_THREADS"]) == 1


def test_only_labelers_of_simplified_html_are_loaded() -> None:
    assert load_labeler(load(assignments=["labeler.name=all"])).name == "all"
    with pytest.raises(SettingsError, match=r"the labeler cpu reads whole pages.*jobs/run\.py"):
        load_labeler(Settings())
    # It may be installed only on machines with GPUs, so the driver does not try.
    check_labeler(load(assignments=["labeler.name=lm", "labels.lm.model=nowhere"]), load_labeler)


class Stopping(DyingLabeler):
    """Its engine itself reports that it is broken for good."""

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        try:
            return super().label_simplified(pages)
        except RuntimeError as error:
            raise LabelerStoppedError(f"vLLM's engine stopped working: {error}") from error


def test_a_page_that_an_engine_dies_of_does_not_hold_up_the_others() -> None:
    """Otherwise its batch would fail again in every run."""
    outcomes = Engine(Stopping).label([simplified(text) for text in ("a", "b", "deadly", "c")])
    told = [outcome if isinstance(outcome, str) else "" for outcome in outcomes]
    assert told == ["", "", "LabelerStoppedError: vLLM's engine stopped working: the engine is gone", ""]


class Misused(HashLabeler):
    """Its server is gone."""

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        raise MachineError("no server at http://127.0.0.1:1")


def test_what_a_person_has_to_change_is_no_pages_fault() -> None:
    with pytest.raises(MachineError, match="no server"):
        Engine(Misused).label([simplified("a"), simplified("b")])

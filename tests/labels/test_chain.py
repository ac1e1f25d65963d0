"""Chains of labelers: the labeler that decides each page, and a failure of the next one."""

from collections.abc import Sequence

import numpy as np
import pytest

from dripper.errors import ErrorCode, PageError, SettingsError
from dripper.html import Page, preprocess
from dripper.labels import Labels, SimplifiedLabeler, Use, load
from dripper.labels.base import SimplifiedPage
from dripper.labels.chain import chain_of, make_chain
from dripper.labels.registry import (
    check_use,
    find_entry,
    load_from_settings,
    own_names,
    resolve_fallback,
    runs_staged,
    split_into_stages,
)
from dripper.settings import LabelerSettings, LabelsSettings
from support.checkpoints import NEED_A_CHECKPOINT

PAGES = [preprocess(f"<p>page {i}<p>two") for i in range(4)]


class Rule:
    """Marks the first block, with `confidence[i]` for page i; fails if that is a PageError."""

    version = "1"

    def __init__(self, name: str, confidence: Sequence[float | None], main: bool = True) -> None:
        self.name = name
        self.confidence = confidence
        self.main = main
        self.asked: list[int] = []

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        numbers = [PAGES.index(page) for page in pages]
        if None in [self.confidence[i] for i in numbers]:
            raise PageError(ErrorCode.LABELER_FAILED, f"{self.name} failed")
        self.asked += numbers
        return [self.labels(self.confidence[i]) for i in numbers]

    def labels(self, confidence: float | None) -> Labels:
        assert confidence is not None
        return Labels(np.array([self.main, False]), np.full(2, np.nan, np.float32), confidence)


def test_each_next_one_sees_what_the_one_before_is_not_sure_of() -> None:
    first, second = Rule("a", [0.9, 0.5, np.nan, 0.7]), Rule("b", [np.nan] * 4)
    chain = make_chain([first, second], 0.7)
    assert (chain.name, chain.version) == ("a,b", "1,1,below=0.7")
    assert [labels.method for labels in chain.label(PAGES)] == ["a", "b", "b", "a"]
    assert second.asked == [1, 2]
    assert chain.label([]) == []


class SimplifiedRule(Rule):
    """A rule that reads simplified HTML, and notes the labels of the previous ones."""

    def __init__(self, name: str, confidence: Sequence[float | None]) -> None:
        super().__init__(name, confidence)
        self.drafts: list[Labels | None] = []

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        return self.label_simplified([SimplifiedPage.of(page) for page in pages])

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        self.drafts += [page.draft for page in pages]
        htmls = [page.simplified_html for page in PAGES]
        return [self.labels(self.confidence[htmls.index(page.simplified_html)]) for page in pages]


def test_the_next_one_gets_what_the_one_before_found() -> None:
    first, second = Rule("a", [0.9, 0.5, 0.1, 0.7]), SimplifiedRule("b", [np.nan] * 4)
    make_chain([first, second], 0.7).label(PAGES)
    assert [draft.confidence for draft in second.drafts if draft] == [0.5, 0.1]
    firsts, seconds = SimplifiedRule("a", [0.9, 0.5, 0.1, 0.7]), SimplifiedRule("b", [np.nan] * 4)
    chain = make_chain([firsts, seconds], 0.7)
    assert isinstance(chain, SimplifiedLabeler)
    chain.label_simplified([SimplifiedPage.of(page) for page in PAGES])
    assert firsts.drafts == [None] * 4
    assert [draft.confidence for draft in seconds.drafts if draft] == [0.5, 0.1]


def test_where_the_next_one_fails_or_marks_nothing_the_one_before_decides() -> None:
    for second in (Rule("b", [0.9, None, 0.9, 0.9]), Rule("b", [np.nan] * 4, main=False)):
        labels = make_chain([Rule("a", [0.1] * 4), second], 0.7).label(PAGES)
        assert labels[1].method == "a:instead_of_b"
        assert labels[1].confidence == 0.1
        assert labels[0].method == ("b" if second.main else "a:instead_of_b")


def test_three_labelers_and_the_last_that_marked_anything() -> None:
    chain = make_chain([Rule("a", [0.1, 0.9, 0.1, 0.1]), Rule("b", [0.9, 0.1, 0.1, None]), Rule("c", [None] * 4)], 0.7)
    assert [labels.method for labels in chain.label(PAGES)] == ["b", "a", "b:instead_of_c", "a:instead_of_c"]


def test_a_page_that_nobody_could_label_is_the_callers_problem() -> None:
    with pytest.raises(PageError, match="b failed"):
        make_chain([Rule("a", [None] * 4), Rule("b", [None] * 4)], 0.7).label(PAGES)
    assert make_chain([Rule("a", [None] * 4), Rule("b", [0.1] * 4)], 0.7).label(PAGES)[0].method == "b"


def test_a_chain_of_the_registry_labels_as_its_members() -> None:
    chain = load("cpu,all", escalate_below=1)
    labels = chain.label(PAGES[:1])[0]
    assert (chain.name, labels.method, labels.main.all()) == ("cpu,all", "all", True)
    never = load("cpu,all", escalate_below=0).label(PAGES[:1])[0]
    alone = load("cpu").label(PAGES[:1])[0]
    assert never.method == "cpu"
    assert (never.main.tolist(), never.confidence) == (alone.main.tolist(), alone.confidence)
    assert "+title=include," in load("cpu,all", cpu={"title": "include"}).version
    with pytest.raises(SettingsError, match="no labeler 'title'"):
        load("cpu,all", title="include")
    assert isinstance(make_chain([load("all"), load("all")], 0.5), SimplifiedLabeler)
    assert not isinstance(chain, SimplifiedLabeler)


@pytest.mark.parametrize("name", sorted(set(own_names()) - NEED_A_CHECKPOINT))
def test_an_entry_says_whether_its_labels_have_a_confidence(name: str) -> None:
    confidence = load(name).label(PAGES[:1])[0].confidence
    assert find_entry(name).tells_confidence == (not np.isnan(confidence))


def test_commas_behind_a_colon_are_those_of_one_labeler() -> None:
    assert chain_of("vote:cpu,web2text") == ("vote:cpu,web2text",)
    assert chain_of("cpu, lm") == ("cpu", "lm")
    for wrong in ("cpu,", ",lm", "cpu,cpu", "cpu,,lm"):
        with pytest.raises(SettingsError, match="write each labeler of a chain once"):
            chain_of(wrong)


def test_in_stages_the_labelers_before_the_first_that_wants_one_label_on_the_way() -> None:
    def parts(name: str) -> list[str | None]:
        return [part and part.name for part in split_into_stages(LabelerSettings(name=name, staged=True))]

    assert parts("lm") == [None, "lm"]
    assert parts("cpu,lm") == ["cpu", "lm"]
    assert parts("cpu,all,lm") == ["cpu,all", "lm"]
    assert parts("cpu,all") == ["cpu", "all"]
    assert runs_staged(LabelerSettings(name="cpu,lm"))
    assert not runs_staged(LabelerSettings(name="cpu,trafilatura"))
    assert resolve_fallback(LabelerSettings(name="cpu,lm")) == "body"


def test_chains_that_cannot_work_are_one_sentence() -> None:
    def check(name: str, stages: Sequence[str] = (), **more: object) -> None:
        settings = LabelerSettings.model_validate({"name": name, **more})
        check_use(settings, LabelsSettings(), Use("dripper", stages))

    with pytest.raises(SettingsError, match="the labeler trafilatura does not say how sure it is"):
        check("trafilatura,cpu")
    with pytest.raises(SettingsError, match=r"escalate_share compares the pages of a batch"):
        check("cpu,trafilatura", escalate_share=0.1)
    check("cpu,all", ["preprocess"], escalate_share=0.1)
    with pytest.raises(SettingsError, match=r"labels\.lm\.endpoint"):
        check("cpu,lm")
    with pytest.raises(SettingsError, match=r"set labels\.lm\.model"):
        check("cpu,lm", ["preprocess", "label"])
    with pytest.raises(SettingsError, match="no labeler 'xyz'"):
        load_from_settings(LabelerSettings(name="cpu,xyz"), LabelsSettings())

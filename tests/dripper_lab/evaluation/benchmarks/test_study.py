from pathlib import Path

import pandas as pd
import pytest

from dripper_lab.evaluation.benchmarks.agreement import agreements
from dripper_lab.evaluation.benchmarks.study import findings, macro, table_3
from dripper_lab.evaluation.benchmarks.wceb import PARTS, Reference, read_reference
from dripper_lab.evaluation.extractors.base import Contender, Standing
from dripper_lab.evaluation.report.worst import Excerpt, differences, shorten_excerpts
from support.small_set import fake, half, perfect

REFERENCE = Reference(
    {"dragnet": {"1": "a", "2": "b", "3": "c"}, "readability": {"1": "x"}},
    {("dragnet", "goose3"): {"a": 0.5, "b": 0.9, "c": 0.8}, ("readability", "goose3"): {"x": 1.0}},
)

REFERENCE_OF_THREE = Reference(
    {**REFERENCE.ids, "cleaneval-en": {"1": "y"}}, {**REFERENCE.f1, ("cleaneval", "goose3"): {"y": 0.1}}
)


def rows(name: str, scores: dict[tuple[str, str], float]) -> list[dict[str, object]]:
    return [
        {"data_set": data_set, "id": id, "extractor": name, "wceb_f1": f1, "level": "low" if f1 > 0.5 else "high"}
        for (data_set, id), f1 in scores.items()
    ]


def frame(**extractors: dict[tuple[str, str], float]) -> pd.DataFrame:
    return pd.DataFrame([row for name, scores in extractors.items() for row in rows(name.replace("_", "-"), scores)])


GOOSE = {("dragnet", "1"): 0.5, ("dragnet", "2"): 0.01, ("dragnet", "3"): 0.81, ("readability", "1"): 0.9}


def test_agreement_by_set_and_page() -> None:
    dragnet, readability = agreements(frame(goose3=GOOSE, unknown=GOOSE), REFERENCE)
    assert (dragnet.data_set, dragnet.extractor, dragnet.pages, dragnet.lost, dragnet.gained) == (
        "dragnet",
        "goose3",
        3,
        1,
        0,
    )
    assert (dragnet.ours, dragnet.theirs) == pytest.approx((0.44, 2.2 / 3))
    assert dragnet.same == pytest.approx(1 / 3)
    assert dragnet.median_gap == pytest.approx(0.01)
    assert readability.gap == pytest.approx(-0.1)
    assert agreements(pd.DataFrame({"extractor": []}), REFERENCE) == []


def test_pages_without_a_published_score_are_left_out() -> None:
    (found,) = agreements(frame(goose3=GOOSE | {("readability", "1"): float("nan")}), REFERENCE)
    assert found.data_set == "dragnet"


def test_table_3_beside_ours() -> None:
    (line,) = table_3(frame(goose3=GOOSE), REFERENCE)
    assert (line.their_name, line.study_mean, line.study_median) == ("Goose3", 0.810, 0.940)
    assert line.here_theirs == pytest.approx((2.2 / 3 + 1) / 2)
    assert line.ours_mean == pytest.approx((0.44 + 0.9) / 2)
    assert line.ours_median == pytest.approx((0.5 + 0.9) / 2)


def test_a_macro_median_is_the_median_of_the_parts_medians(shared: Path) -> None:
    """The scores of another group give the study's figures that way, and only that way: the means
    of the medians are .959, .961 and .939."""
    reference = read_reference(shared / "data")
    for extractor, mean, median in (
        ("trafilatura", 0.883, 0.957),
        ("readability", 0.861, 0.970),
        ("resiliparse", 0.859, 0.942),
    ):
        found = macro([reference.f1[part, extractor].values() for part in PARTS])
        assert found == pytest.approx((mean, median), abs=0.001)
        assert round(found[1], 3) == median


def test_medians_of_three_parts() -> None:
    one_more = {("cleaneval-en", "1"): 0.45}
    (line,) = table_3(frame(goose3=GOOSE | one_more), REFERENCE_OF_THREE)
    assert line.ours_median == pytest.approx(0.5)


def test_findings_hold_or_do_not() -> None:
    extractors = [
        fake("one", half), fake("two", half), fake("page", half, Standing.TEXT),
        Contender("vote", Standing.ENSEMBLE, "numpy", lambda: perfect),
    ]  # fmt: skip
    high, low = ("dragnet", "1"), ("readability", "1")
    scores = frame(
        one={high: 0.4, low: 0.9}, two={high: 0.45, low: 0.6}, vote={high: 0.6, low: 0.95}, page={high: 0.1, low: 0.99}
    )
    votes, no_best, skewed, converters = findings(scores, extractors)
    assert votes.holds
    assert "best single one (one, 0.650)" in votes.here
    assert no_best.holds
    assert not skewed.holds
    assert converters.holds
    worse = frame(
        one={high: 0.9, low: 0.9}, two={high: 0.1, low: 0.1}, vote={high: 0.2, low: 0.2}, page={high: 0.4, low: 0.4}
    )
    votes, no_best, _, converters = findings(worse, extractors)
    assert not votes.holds
    assert not no_best.holds
    assert not converters.holds


def test_differences_side_by_side() -> None:
    truth, output = differences("one two three four", "menu one two four five")
    assert truth == [Excerpt("one two", True), Excerpt("three", False), Excerpt("four", True)]
    assert output == [Excerpt("menu", False), Excerpt("one two", True), Excerpt("four", True), Excerpt("five", False)]
    assert differences("", "") == ([], [])


def test_long_texts_are_folded_and_cut() -> None:
    words = " ".join(str(number) for number in range(100))
    first, fold, last = shorten_excerpts([Excerpt(words, True)])
    assert (first.text, fold.text, last.text) == ("0 1 2 3 4 5 6 7", "84 words in both", "92 93 94 95 96 97 98 99")
    cut = list(shorten_excerpts([Excerpt(words, False)] * 5))
    assert sum(len(piece.text.split()) for piece in cut if not piece.is_folded) == 350
    assert cut[-1] == Excerpt("150 more words", True, True)

"""Which rows a training does better without."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dripper.errors import InputError
from dripper.html import Page
from dripper.labels import Labels
from dripper_lab.annotation.export import Export
from dripper_lab.annotation.filtering import Filter, agreements, filter_data_set
from dripper_lab.annotation.importing import read_answers, write_data_set
from dripper_lab.datasets import count_pages, read_pages
from support.annotating import write_answers


class AllMain:
    name = "all"
    version = "1"

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        n_blocks = len(pages[0].blocks)
        return [Labels(np.ones(n_blocks, bool), np.ones(n_blocks, np.float32), confidence=0.9)]


@pytest.fixture
def data_set(exported: Export, tmp_path: Path) -> Path:
    """Five pages: good, good and twice annotated, disagreed on, guessed, without main content."""

    def answer(number: int, main: str, **changes: object) -> dict[str, object]:
        return {"page": f"p0000{number}", "kind": "article", "main": main, "sure": 3} | changes

    first = write_answers(
        tmp_path / "a.jsonl",
        answer(1, "3-9"),
        answer(2, "3-9"),
        answer(3, "3-9"),
        answer(4, "3", sure=1),
        answer(5, ""),
    )
    second = write_answers(tmp_path / "b.jsonl", answer(2, "3-9"), answer(3, "1-2", kind="forum"))
    write_data_set(exported, read_answers([first, second], exported), tmp_path / "mine")
    return tmp_path / "mine"


def test_rows_are_marked_with_the_reason(data_set: Path) -> None:
    kept, left_out = filter_data_set(data_set, Filter())
    assert kept == 2
    assert left_out == {"low agreement": 1, "annotator unsure": 1, "no main content": 1}
    assert [page.more["main_blocks"] for page in read_pages(data_set.parent, "mine")] == ["3-9", "3-9"]
    counts = count_pages(data_set.parent, "mine")
    assert {name.strip(): n for name, n in counts.bad.items()} == left_out


def test_another_filter_starts_anew(data_set: Path) -> None:
    filter_data_set(data_set, Filter())
    kept, left_out = filter_data_set(data_set, Filter(least_agreement=0, least_sure=1))
    assert (kept, left_out) == (4, {"no main content": 1})


def test_an_empty_page_where_a_labeler_is_sure_is_named_apart(data_set: Path) -> None:
    _, left_out = filter_data_set(data_set, Filter(labeler=AllMain()))
    assert left_out["no main content, but the labeler is sure"] == 1
    _, left_out = filter_data_set(data_set, Filter(labeler=AllMain(), least_confidence=0.95))
    assert left_out["no main content"] == 1


def test_annotations_that_share_too_little_with_a_labeler_are_named(data_set: Path) -> None:
    """By the labeler all blocks are main, by the annotators one to seven of each page."""
    by = Filter(labeler=AllMain(), least_shared=0.01, least_sure=1, least_agreement=0)
    assert filter_data_set(data_set, by)[0] == 4
    kept, left_out = filter_data_set(data_set, replace(by, least_shared=0.99))
    assert (kept, left_out["labelled otherwise"]) == (0, 4)
    assert filter_data_set(data_set, Filter())[0] == 2


def test_marks_of_others_stay(data_set: Path) -> None:
    truth = data_set / "truth.jsonl"
    truth.write_text(truth.read_text().replace('"sure": 3', '"bad": "cut off", "sure": 3', 1))
    for _ in range(2):
        assert filter_data_set(data_set, Filter())[1]["cut off"] == 1


def test_agreement_is_of_the_pages_with_two_annotators(data_set: Path) -> None:
    found = list(agreements(data_set))
    assert [each.same_kind for each in found] == [True, False]
    assert (found[0].words, found[1].words) == (1, 0)


@pytest.mark.parametrize(
    ("was", "becomes", "words"),
    [
        ('"n_blocks": ', '"n_blocks": 9', r"was annotated on 9\d+ blocks, and its page has \d+ today"),
        ('"main_blocks_second": "3-9"', '"main_blocks_second": "3-99999"', "the row .*: main names block 99999"),
    ],
)
def test_numbers_of_other_blocks_are_refused(data_set: Path, was: str, becomes: str, words: str) -> None:
    truth = data_set / "truth.jsonl"
    truth.write_text(truth.read_text().replace(was, becomes))
    with pytest.raises(InputError, match=words):
        filter_data_set(data_set, Filter())


def test_what_is_no_data_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no truth\.jsonl"):
        filter_data_set(tmp_path, Filter())

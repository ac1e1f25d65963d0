"""From answers to a data set, and messages about unusable answers."""

import json
from pathlib import Path

import pytest

from dripper.errors import InputError
from dripper_lab.annotation.export import TEMPLATE, Export
from dripper_lab.annotation.importing import read_answers, write_data_set
from dripper_lab.datasets import count_pages, read_pages
from support.annotating import write_answers
from support.labelled import labelled_pages

GOOD = {"page": "p00001", "kind": "article", "main": "3-5", "sure": 3}


def test_a_data_set_is_read_like_any_other(exported: Export, tmp_path: Path) -> None:
    empty = GOOD | {"page": "p00002", "kind": "error", "main": "", "sure": 2}
    first = write_answers(tmp_path / "a.jsonl", GOOD | {"annotator": "Ada"}, "", empty)
    second = write_answers(tmp_path / "b.jsonl", GOOD | {"main": "4-6", "kind": "forum", "annotator": "Bo"})
    answers = read_answers([first, second], exported)
    assert answers.wrong == []
    assert write_data_set(exported, answers, tmp_path / "mine") == 2
    (page,) = read_pages(tmp_path, "mine")
    blocks = exported.page("p00001")[1].blocks
    assert page.truth_text == "\n".join(block.text for block in blocks[2:5] if block.text)
    assert page.html == labelled_pages()[0].html
    assert (page.id, page.url) == (labelled_pages()[0].id, labelled_pages()[0].url)
    assert page.page_type == "article"
    assert page.language == "en"
    told = {"sure": 3, "main_blocks": "3-5", "main_blocks_second": "4-6", "page_type_second": "forum"}
    assert told.items() <= page.more.items()
    assert (page.more["annotator"], page.more["annotator_second"]) == ("Ada", "Bo")
    assert (page.more["n_blocks"], page.more["profile"]) == (len(blocks), "dripper")
    counts = count_pages(tmp_path, "mine")
    assert (counts.rows, dict(counts.bad)) == (2, {"no main content": 1})
    assert json.loads((tmp_path / "mine" / "META.json").read_text())["annotators"] == ["Ada", "Bo"]
    with pytest.raises(InputError, match="is there already"):
        write_data_set(exported, answers, tmp_path / "mine")


def test_every_line_that_is_not_usable_is_named_with_the_reason(exported: Export, tmp_path: Path) -> None:
    n_blocks = exported.n_blocks("p00003")
    file = write_answers(
        tmp_path / "answers.jsonl",
        GOOD,
        GOOD | {"main": "3"},
        GOOD | {"page": "p00099"},
        GOOD | {"page": "p00003", "main": f"1-{n_blocks + 1}"},
        GOOD | {"page": "p00004", "kind": "thread"},
        {"kind": "article"},
        "{broken",
        GOOD | {"page": "p00005"},
    )
    answers = read_answers([file], exported)
    assert list(answers.of_page) == ["p00001", "p00005"]
    assert [sentence.partition(": ")[0] for sentence in answers.wrong] == [
        f"answers.jsonl line {number}" for number in (2, 3, 4, 5, 6)
    ] + ["answers.jsonl line 7 is not JSON"]
    for sentence, words in zip(
        answers.wrong,
        (
            "page p00001 stands in line 1 already",
            "page p00099 is not in ",
            f"main names block {n_blocks + 1}, and the page has the blocks 1 to {n_blocks}",
            "kind 'thread' is unknown",
            "page, kind, main and sure",
            "Expecting",
        ),
        strict=True,
    ):
        assert words in sentence


def test_a_template_that_is_half_filled_in_is_half_the_answers(exported: Export, tmp_path: Path) -> None:
    lines = (exported.folder / TEMPLATE).read_text().splitlines()
    answers = read_answers([write_answers(tmp_path / "a.jsonl", GOOD, *lines[1:])], exported)
    assert (list(answers.of_page), answers.blank, answers.wrong) == (["p00001"], 10, [])


def test_a_third_answer_has_no_place(exported: Export, tmp_path: Path) -> None:
    files = [write_answers(tmp_path / f"{name}.jsonl", GOOD) for name in "abc"]
    assert read_answers(files, exported).wrong == [
        "c.jsonl line 1: page p00001 has two answers in the files before; a third has no place"
    ]


def test_a_file_that_cannot_be_read_is_named(exported: Export, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl cannot be read: No such file"):
        read_answers([tmp_path / "none.jsonl"], exported)

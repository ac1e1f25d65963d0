"""Conversations for fine-tuning: the prompts of the labeler lm, and the right answers."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("platformdirs", reason="needs the extra [lm]")

from dripper.errors import InputError
from dripper.html import preprocess
from dripper.labels.lm.answer import parse_answer
from dripper.labels.lm.prompt import own_prompt
from dripper.labels.lm.settings import LmSettings
from dripper_lab.annotation.fine_tuning import Framing, is_held_out, main_blocks, write_conversations
from dripper_lab.datasets import LabelledPage
from support.labelled import labelled_pages, pages


def framing(**settings: object) -> Framing:
    return Framing.of(LmSettings.model_validate({"prompt": "own", "answer": "json", **settings}))


def written(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def answers(rows: Sequence[dict[str, Any]]) -> list[dict[int, bool]]:
    return [parse_answer(row["messages"][1]["content"]) for row in rows]


@pytest.mark.parametrize("form", ["json", "compact"])
def test_a_page_becomes_the_prompt_and_the_answer_of_the_labeler(tmp_path: Path, form: str) -> None:
    told = write_conversations(labelled_pages(), framing(answer=form), tmp_path / "sft", "dripper", 0, {"by": "me"})
    rows = written(tmp_path / "sft", "train.jsonl")
    assert told.pages == {"train.jsonl": 11}
    assert written(tmp_path / "sft", "validation.jsonl") == []
    for row, page, labelled in zip(rows, pages(), labelled_pages(), strict=True):
        asked, said = row["messages"]
        assert asked == {"role": "user", "content": own_prompt(form).text(page.simplified_html)}
        assert said["role"] == "assistant"
        main, aligned = main_blocks(labelled, page)
        assert aligned
        assert parse_answer(said["content"]) == dict(zip(page.item_ids, main.tolist(), strict=True))
        assert said["content"].startswith('{"1": "' if form == "json" else "1")
    meta = json.loads((tmp_path / "sft" / "META.json").read_text())
    assert (meta["prompt"], meta["by"], meta["labels_from_text"]) == (own_prompt(form).version, "me", 11)
    assert meta["settings"]["labels.lm.answer"] == form
    info = json.loads((tmp_path / "sft" / "dataset_info.json").read_text())
    assert {one["file_name"] for one in info.values()} == {"train.jsonl", "validation.jsonl"}
    recipe = yaml.safe_load((tmp_path / "sft" / "llamafactory.yaml").read_text())
    assert recipe["dataset"] in info
    assert "eval_dataset" not in recipe
    assert (recipe["num_train_epochs"], recipe["learning_rate"]) == (4, 1e-4)


def test_a_long_page_becomes_windows_with_the_labels_of_their_blocks(tmp_path: Path) -> None:
    (labelled,) = [page for page in labelled_pages() if page.id == "dev-4249"] or labelled_pages()[:1]
    told = write_conversations([labelled], framing(context_tokens=2500), tmp_path / "sft", "dripper", 0, {})
    rows = written(tmp_path / "sft", "train.jsonl")
    assert told.windows["train.jsonl"] == len(rows) > 1
    page = preprocess(labelled.html.decode())
    main, _ = main_blocks(labelled, page)
    first, *_, last = answers(rows)
    assert [first[item] for item in sorted(first)] == main[: len(first)].tolist()
    assert [last[item] for item in sorted(last)] == main[-len(last) :].tolist()
    assert [row["id"] for row in rows] == [f"wcxb-dev/{labelled.id}#{at}" for at in range(len(rows))]


def test_annotated_numbers_count_where_they_are_of_these_blocks() -> None:
    html = (
        "<p>Menu</p><p><img src=a.png></p><p>Text one.</p><p><img src=b.png></p><p>Text two.</p><p><img src=c.png></p>"
    )
    page = preprocess(html)
    row = LabelledPage("1", "mine", None, html.encode(), None, "Text one.\nText two.", more={"main_blocks": "3,5"})
    annotated = replace(row, more={"main_blocks": "1,3", "n_blocks": 6, "profile": "dripper"})
    main, aligned = main_blocks(annotated, page)
    # The picture between two main texts is main, those at the ends are not.
    assert (main.tolist(), aligned) == ([True, True, True, False, False, False], False)
    for stale in (row, replace(row, more={"main_blocks": "1,3", "n_blocks": 7}), replace(annotated, more={})):
        main, aligned = main_blocks(stale, page)
        assert (main.tolist(), aligned) == ([False, False, True, True, True, False], True)


def test_what_teaches_nothing_or_may_not_teach_is_left_out_and_counted(tmp_path: Path) -> None:
    one, two, three, *_ = labelled_pages()
    some = [replace(one, truth_text="zzz qqq"), replace(two, more={"split": "evaluation"}), replace(three, html=b" ")]
    told = write_conversations(some, framing(), tmp_path / "sft", "dripper", 0, {})
    assert told.left_out == {"no block is main": 1, "split: evaluation": 1, "empty_page": 1}
    assert told.pages == {}
    with pytest.raises(InputError, match="is there already"):
        write_conversations(some, framing(), tmp_path / "sft", "dripper", 0, {})


def test_a_site_is_on_one_side(tmp_path: Path) -> None:
    sites = [f"site{number}.org" for number in range(1000)]
    held_out = {site for site in sites if is_held_out(site, 0.1)}
    assert 70 < len(held_out) < 130
    plain = {site for site in sites if hashlib.sha256(site.encode()).digest()[0] < 26}
    assert len(held_out & plain) < 30, (
        "a set whose evaluation was split off by the plain hash has sites left to validate on"
    )
    assert held_out < {site for site in sites if is_held_out(site, 0.2)}
    told = write_conversations(labelled_pages(), framing(), tmp_path / "sft", "dripper", 0.5, {})
    validated = {row["id"].split("/")[1].split("#")[0] for row in written(tmp_path / "sft", "validation.jsonl")}
    assert validated == {page.id for page in labelled_pages() if is_held_out(page.host, 0.5)}
    assert 0 < told.pages["validation.jsonl"] < 11


def test_special_tokens_of_a_page_cannot_end_the_prompt() -> None:
    page = preprocess('<p class="<|im_end|>">Text')
    (((asked, _),)) = framing().messages(page, np.array([True]))
    assert "<|im_end|>" not in asked["content"]

"""Asking a model: a stub endpoint that answers well, badly, late, or not at all."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from dripper.errors import InputError, MachineError
from dripper.labels.lm import api
from dripper.labels.lm.api import Access, Api
from dripper_lab.annotation.asking import HOPELESS, AskResult, Round, ask, twice_share
from dripper_lab.annotation.chat import Annotator, last_object
from dripper_lab.annotation.export import Export
from dripper_lab.annotation.folders import guidelines
from dripper_lab.annotation.importing import read_answers
from support.annotating import ChatStub, Reply, answered, page_of, right, shown
from support.servers import serving

Ask = Callable[..., tuple[ChatStub, AskResult]]


@pytest.fixture
def asking(exported: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    monkeypatch.setattr(api, "BACKOFF_SECONDS", 0.01)
    running = ExitStack()

    def run(reply: Reply, pages: list[str] | None = None, **access: Any) -> tuple[ChatStub, AskResult]:
        stub = running.enter_context(serving(ChatStub(reply)))
        known = Access(**{"key": "sk-secret", "concurrency": 3, "attempts": 3, "timeout_seconds": 20} | access)
        annotator = Annotator(Api(stub.address, known, "--endpoint"), "big", guidelines(), {"temperature": 0})
        round_ = Round(tmp_path / "answers.jsonl", annotator, list(exported.rows) if pages is None else pages)
        return stub, ask(exported, [round_], known.concurrency)

    with running:
        yield run


def test_every_page_is_asked_about_once_with_the_guidelines(asking: Ask, exported: Export, tmp_path: Path) -> None:
    stub, asked = asking(right)
    assert (asked.answered, asked.earlier, asked.failed) == (11, 0, {})
    assert asked.used == {"requests": 11, "prompt_tokens": 1100, "completion_tokens": 110}
    assert sorted(stub.asked) == list(exported.rows)
    (body,) = [body for body in stub.bodies if page_of(body) == "p00002"]
    assert body["path"] == "/v1/chat/completions"
    assert (body["model"], body["temperature"]) == ("big", 0)
    assert body["messages"] == [
        {"role": "system", "content": guidelines()},
        {"role": "user", "content": exported.text("p00002")},
    ]
    assert stub.keys == {"Bearer sk-secret"}
    answers = read_answers([tmp_path / "answers.jsonl"], exported)
    (answer,) = answers.of_page["p00002"]
    assert list(answer.main) == shown(body)[1:-1]
    assert answer.annotator == "big"


def test_a_run_goes_on_where_one_stopped(asking: Ask, tmp_path: Path) -> None:
    asking(right, ["p00001", "p00002"])
    file = tmp_path / "answers.jsonl"
    whole = file.read_text()
    file.write_text(whole + '{"page": "p00003", "kind": "art')
    stub, asked = asking(right)
    assert (asked.answered, asked.earlier) == (9, 2)
    assert sorted(stub.asked)[0] == "p00003"
    assert file.read_text().startswith(whole)
    assert [json.loads(line)["page"] for line in file.read_text().splitlines()].count("p00003") == 1
    stub, asked = asking(right)
    assert (stub.bodies, asked.answered, asked.earlier) == ([], 0, 11)


def test_an_answer_not_in_form_is_asked_for_once_more(asking: Ask) -> None:
    def late(_stub: ChatStub, body: dict[str, Any]) -> tuple[int, str]:
        if len(body["messages"]) > 2:
            return right(_stub, body)
        return 200, "It is an article." if page_of(body) == "p00001" else answered(body, kind="thread")

    stub, asked = asking(late, ["p00001", "p00002"])
    assert (asked.answered, asked.failed) == (2, {})
    again = {page_of(body): body["messages"][2:] for body in stub.bodies if len(body["messages"]) > 2}
    assert again["p00001"][0] == {"role": "assistant", "content": "It is an article."}
    assert "not an answer in form: there is no JSON object in 'It is an article.'" in again["p00001"][1]["content"]
    assert "kind 'thread' is unknown" in again["p00002"][1]["content"]


def test_a_page_without_an_answer_is_told_and_asked_about_by_the_next_run(asking: Ask, tmp_path: Path) -> None:
    def picky(_stub: ChatStub, body: dict[str, Any]) -> tuple[int, str]:
        page = page_of(body)
        if page == "p00001":
            return 400, "too long"
        return 200, answered(body, main="999999") if page == "p00002" else answered(body)

    stub, asked = asking(picky)
    assert asked.answered == 9
    assert asked.failed["p00001"] == "the server refuses the page with 400: too long"
    assert asked.failed["p00002"].startswith("twice no answer in form: main names block 999999")
    assert Counter(stub.asked)["p00002"] == 2
    _, asked = asking(right)
    assert (asked.answered, asked.earlier, asked.failed) == (2, 9, {})


def test_a_busy_endpoint_is_tried_again_and_never_flooded(asking: Ask) -> None:
    def busy(stub: ChatStub, body: dict[str, Any]) -> tuple[int, str]:
        threading.Event().wait(0.02)
        return right(stub, body) if Counter(stub.asked)[page_of(body)] > 1 else (503, "later")

    stub, asked = asking(busy)
    assert asked.answered == 11
    assert len(stub.bodies) == 22
    assert 1 < stub.most_busy <= 3


@pytest.mark.parametrize(
    ("status", "said", "words"),
    [
        (401, "no such key: sk-secret", "--endpoint: .* answers 401: no such key: …"),
        (503, "down", "answers 503: down"),
        (400, "no such model", f"none of {HOPELESS} pages got an answer; page p.*: .* 400: no such model"),
    ],
)
def test_an_endpoint_of_no_use_ends_the_work(
    asking: Ask, caplog: pytest.LogCaptureFixture, status: int, said: str, words: str
) -> None:
    with pytest.raises(MachineError, match=words) as caught:
        asking(lambda *_: (status, said))
    assert "secret" not in str(caught.value) + caplog.text


def test_a_file_with_other_lines_is_not_written_into(asking: Ask, tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text('{"page": "p77777"}\n')
    with pytest.raises(InputError, match="line 1: page p77777 is not in"):
        asking(right)


@pytest.mark.parametrize(
    "said",
    [
        '{"kind": "form"}',
        'Here:\n```json\n{"kind": "form"}\n```',
        '<think>{"kind": "article"} or not?</think>{"kind": "form"}',
        'It has {braces} and {"kind": "form"}',
    ],
)
def test_the_last_object_of_a_text_is_the_answer(said: str) -> None:
    assert last_object(said) == {"kind": "form"}


def test_the_share_that_is_annotated_twice_stays_the_same() -> None:
    numbers = [f"p{number:05d}" for number in range(200)]
    assert len(twice_share(numbers, 0.1)) == 20
    assert set(twice_share(numbers, 0.1)) < set(twice_share(numbers, 0.2))
    assert twice_share(numbers, 0) == []

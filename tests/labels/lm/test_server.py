"""Server mode against a small server that fails in the ways servers do."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dripper.errors import ErrorCode, MachineError, PageError, SettingsError
from dripper.labels.lm import api
from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.api import Access, Api
from dripper.labels.lm.encoder import Job
from dripper.labels.lm.server import ServerDecoder, choose_model, parse_served_answer
from dripper.labels.lm.settings import LmSettings
from dripper.labels.lm.template import Templates
from support.servers import serving

Reply = Callable[["Stub", dict[str, Any]], tuple[int, dict[str, str], bytes]]


class Stub(ThreadingHTTPServer):
    """Counts requests, and the largest number of concurrent ones; `reply` answers them."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply = reply
        self.bodies: list[dict[str, Any]] = []
        self.lock = threading.Lock()
        self.busy = self.most_busy = 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Stub

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.bodies.append(body | {"authorization": self.headers.get("Authorization")})
            self.server.busy += 1
            self.server.most_busy = max(self.server.most_busy, self.server.busy)
        status, headers, content = self.server.reply(self.server, body)
        with self.server.lock:
            self.server.busy -= 1
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Silent."""


def completion(text: str, tokens: int = 7) -> bytes:
    return json.dumps({"choices": [{"text": text}], "usage": {"completion_tokens": tokens}}).encode()


def right(_stub: Stub, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
    """Every block with an even number is main."""
    blocks = body["structured_outputs"]["regex"].count("(main|other)")
    return 200, {}, completion("".join(f"{item}{'other' if item % 2 else 'main'}" for item in range(1, blocks + 1)))


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[Stub, ServerDecoder]]]:
    monkeypatch.setattr(api, "BACKOFF_SECONDS", 0.01)
    monkeypatch.setattr(api, "Access", partial(api.Access, timeout_seconds=5))
    running = ExitStack()

    def started(reply: Reply, **options: object) -> tuple[Stub, ServerDecoder]:
        stub = running.enter_context(serving(Stub(reply)))
        address = f"http://127.0.0.1:{stub.server_address[1]}/v1"
        settings = LmSettings.model_validate({"endpoint": address, **options})
        templates = Templates(FORMS["compact"], encode)
        decoder = ServerDecoder(Api.of(settings), "tiny", templates, settings.concurrency)
        running.callback(decoder.close)
        return stub, decoder

    with running:
        yield started


def encode(text: str) -> list[int]:
    """Digits are their own ids; main is 10, other 11."""
    text = text.replace("main", "a").replace("other", "b")
    return [int(character, 16) for character in text]


JOBS = [Job([1, 2, 3], 2), Job([4], 3), Job([5], 1)]


def test_answers_come_in_order_with_what_they_cost(start) -> None:  # type: ignore[no-untyped-def]
    stub, decoder = start(right, api_key="secret")
    decoded = decoder.decode(JOBS)
    assert [one.main.tolist() for one in decoded] == [[False, True], [False, True, False], [False]]
    assert [(one.passes, one.tokens) for one in decoded] == [(7, 9), (7, 7), (7, 7)]
    assert all(np.isnan(one.margins).all() for one in decoded)
    body = next(one for one in stub.bodies if one["prompt"] == [1, 2, 3])
    assert body["structured_outputs"] == {"regex": "1(main|other)2(main|other)"}
    assert body["allowed_token_ids"] == [1, 2, 10, 11]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("tiny", 0, 4)
    assert body["authorization"] == "Bearer secret"
    assert "logit_bias" not in body


def test_no_more_requests_are_under_way_than_set(start) -> None:  # type: ignore[no-untyped-def]
    def slow(stub: Stub, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        threading.Event().wait(0.02)
        return right(stub, body)

    stub, decoder = start(slow, concurrency=3)
    decoded = decoder.decode([Job([item], 1 + item % 5) for item in range(40)])
    assert [len(one.main) for one in decoded] == [1 + item % 5 for item in range(40)]
    assert 1 < stub.most_busy <= 3


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_server_that_is_busy_is_asked_again(start, status: int) -> None:  # type: ignore[no-untyped-def]
    def busy_twice(stub: Stub, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        return right(stub, body) if len(stub.bodies) > 2 else (status, {"Retry-After": "0"}, b"later")

    stub, decoder = start(busy_twice)
    assert decoder.decode(JOBS[:1])[0].main.tolist() == [False, True]
    assert len(stub.bodies) == 3


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ((503, {}, b"still loading"), "answers 503: still loading"),
        ((401, {}, b"who are you"), "answers 401: who are you"),
        ((404, {}, b"no such model"), "answers 404: no such model"),
        ((200, {}, b"<html>"), "not an OpenAI-compatible API: '<html>'"),
        ((200, {}, b"[]"), "not an OpenAI-compatible API"),
    ],
)
def test_a_server_that_is_of_no_use_ends_the_work(start, reply: object, words: str) -> None:  # type: ignore[no-untyped-def]
    _, decoder = start(lambda *_: reply)
    with pytest.raises(MachineError, match=words):
        decoder.decode(JOBS)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ((400, {}, b"prompt too long"), "refuses the page with 400: prompt too long"),
        ((200, {}, b"{}"), "no answer in the server's reply"),
        ((200, {}, completion("I am sorry")), "labels no block: 'I am sorry'"),
    ],
)
def test_an_answer_that_is_of_no_use_fails_the_page(start, reply: object, words: str) -> None:  # type: ignore[no-untyped-def]
    _, decoder = start(lambda *_: reply)
    with pytest.raises(PageError, match=words) as caught:
        decoder.decode(JOBS)
    assert caught.value.code is ErrorCode.LABELER_FAILED


@pytest.mark.parametrize("reply", [(400, {}, b"not in the grammar"), (200, {}, completion("!!!!"))])
def test_a_server_that_cannot_write_the_form_is_found_at_the_start(start, reply: object) -> None:  # type: ignore[no-untyped-def]
    _, decoder = start(right)
    decoder.try_form([1])
    _, decoder = start(lambda *_: reply)
    with pytest.raises(SettingsError, match=r"of tiny gives no answer of the form compact .*backend xgrammar, or set"):
        decoder.try_form([1])


def test_a_server_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "Access", partial(api.Access, attempts=1))
    settings = LmSettings(endpoint="http://127.0.0.1:9/v1")
    with pytest.raises(MachineError, match=r"127\.0\.0\.1:9/v1/models does not answer"):
        Api.of(settings).get("models")


def test_an_address_that_is_none_is_named() -> None:
    with pytest.raises(SettingsError, match="write an address such as"):
        Api.of(LmSettings.model_validate({"endpoint": "localhost:8000"}))


def test_a_key_is_not_shown() -> None:
    assert "secret" not in repr(LmSettings.model_validate({"api_key": "secret"}))


def test_a_key_that_a_server_repeats_is_not_shown(start) -> None:  # type: ignore[no-untyped-def]
    _, decoder = start(lambda *_: (401, {}, b"wrong key sk-secret-1"), api_key="sk-secret-1")
    with pytest.raises(MachineError, match="answers 401: wrong key …") as caught:
        decoder.decode(JOBS)
    assert "secret" not in str(caught.value)


def test_a_key_that_cannot_be_sent_is_refused_without_showing_it() -> None:
    with pytest.raises(SettingsError, match="such as a line break") as caught:
        Api("http://h/v1", Access(key="secret\n"), "labels.lm.endpoint")
    assert "secret" not in str(caught.value)


def test_answers_with_gaps(caplog: pytest.LogCaptureFixture) -> None:
    assert parse_served_answer("1main9main3other", 3).tolist() == [True, False, False]
    assert "labels 2 of 3 blocks" in caplog.text


CHECKPOINT = SimpleNamespace(checkpoint=SimpleNamespace(name="tiny", folder=SimpleNamespace(name="tiny")), context=4000)


@pytest.mark.parametrize(
    ("models", "served"),
    [
        ([{"id": "/models/tiny"}, {"id": "b"}], "/models/tiny"),
        ([{"id": "b"}, {"id": "tiny", "max_model_len": 4000}], "tiny"),
        ([{"id": "named-otherwise"}], "named-otherwise"),
    ],
)
def test_the_served_name_is_found(models: list[dict[str, Any]], served: str) -> None:
    settings = LmSettings.model_validate({"model": "/models/tiny", "endpoint": "http://h/v1"})
    assert choose_model(models, CHECKPOINT, settings) == served  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ([], r"serves \[\], not /models/tiny"),
        ([{"id": "a"}, {"id": "b"}], r"serves \['a', 'b'\], not /models/tiny"),
        ([{"id": "tiny", "max_model_len": 2048}], r"set labels\.lm\.context_tokens=2048, or .*--max-model-len 4000"),
    ],
)
def test_a_server_of_something_else_is_named(models: list[dict[str, Any]], words: str) -> None:
    settings = LmSettings.model_validate({"model": "/models/tiny", "endpoint": "http://h/v1"})
    with pytest.raises(SettingsError, match=words):
        choose_model(models, CHECKPOINT, settings)  # type: ignore[arg-type]

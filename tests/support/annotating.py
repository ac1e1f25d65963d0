"""An export of the labelled pages, answers about it, and a chat endpoint that gives them."""

import json
import re
import threading
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from dripper_lab.annotation.export import Export, export
from dripper_lab.annotation.sources import unlabelled_pages
from support.labelled import FOLDER

Reply = Callable[["ChatStub", dict[str, Any]], tuple[int, str]]
PAGES = str(FOLDER / "wcxb-dev")


def make_export(folder: Path, budget: int = 100_000, sample: int | None = None) -> Export:
    """Export the 11 labelled pages."""
    export(partial(unlabelled_pages, [PAGES]), folder, budget, sample)
    return Export.read(folder)


def write_answers(file: Path, *rows: object) -> Path:
    """Write a file of answers; texts are written unchanged."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return file


class ChatStub(ThreadingHTTPServer):
    """Keeps requests, and counts the largest number of concurrent ones; `reply` gives status and
    the text of the answer."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.bodies: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self.lock = threading.Lock()
        self.busy = self.most_busy = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def asked(self) -> list[str]:
        """The pages in the requests, in their order."""
        return [page_of(body) for body in self.bodies]


def page_of(body: dict[str, Any]) -> str:
    """Return the page that a request is about."""
    return re.match(r"page: (p\d+)\n", body["messages"][1]["content"])[1]  # type: ignore[index]


def shown(body: dict[str, Any]) -> list[int]:
    """Return the numbers of the blocks that a request shows."""
    return [int(number) for number in re.findall(r"^(\d+)\t", body["messages"][1]["content"], re.MULTILINE)]


def answered(body: dict[str, Any], **changes: object) -> str:
    """Return an answer: all shown blocks but the first and the last are main."""
    main = ",".join(map(str, shown(body)[1:-1]))
    return json.dumps({"page": page_of(body), "kind": "article", "main": main, "sure": 3} | changes)


def right(_stub: ChatStub, body: dict[str, Any]) -> tuple[int, str]:
    return 200, answered(body)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ChatStub

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        stub = self.server
        with stub.lock:
            stub.bodies.append(body | {"path": self.path})
            stub.keys.add(self.headers.get("Authorization"))
            stub.busy += 1
            stub.most_busy = max(stub.most_busy, stub.busy)
        status, said = stub.reply(stub, body)
        with stub.lock:
            stub.busy -= 1
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        told = json.dumps({"choices": [{"message": {"content": said}}], "usage": usage}) if status == 200 else said
        self.send_response(status)
        self.send_header("Content-Length", str(len(told.encode())))
        self.end_headers()
        self.wfile.write(told.encode())

    def log_message(self, *_: object) -> None:
        """Silent."""

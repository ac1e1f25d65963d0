"""A small data folder that tests of a whole run read: two sets of pages with menus around their
content."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dripper_lab.datasets import LabelledPage
from dripper_lab.evaluation import run
from dripper_lab.evaluation.extractors.base import Contender, Form, Standing, Task
from dripper_lab.evaluation.score_set import SetScoring

SENTENCE = "rain fell on the old harbour while boats came home and gulls cried over nets full of silver fish"
WORDS = SENTENCE.split()


def story(number: int) -> str:
    return " ".join(WORDS[(number * 7 + step * (number + 2)) % len(WORDS)] for step in range(60)) + "."


def page_html(number: int) -> str:
    menu = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in WORDS[:8])
    return (
        f"<html lang=en><head><title>Page {number}</title></head><body><nav><ul>{menu}</ul></nav>"
        f"<article><h1>Page {number}</h1><p>{story(number)}</p><p>{story(number + 1)}</p></article>"
        f"<footer>All rights reserved, imprint, contact, privacy</footer></body></html>"
    )


def truth(number: int) -> str:
    return f"Page {number}\n{story(number)}\n{story(number + 1)}"


def labelled(number: int, data_set: str = "cleaneval-en") -> LabelledPage:
    return LabelledPage(
        str(number), data_set, f"http://site{number % 4}.org/{number}", page_html(number).encode(), None, truth(number),
        page_type="article", language="en",
    )  # fmt: skip


def write_set(folder: Path, name: str, numbers: range) -> None:
    (folder / name / "html").mkdir(parents=True)
    rows = []
    for number in numbers:
        html = page_html(number).encode()
        (folder / name / "html" / f"{number}.html").write_bytes(html)
        rows.append(
            {
                "id": str(number),
                "file": f"html/{number}.html",
                "url": f"http://site{number % 4}.org/{number}",
                "truth_text": truth(number),
                "html_sha256": hashlib.sha256(html).hexdigest(),
                "page_type": "article",
            }
        )
    (folder / name / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def fake(name: str, extract: object, kind: Standing = Standing.PEER, form: Form = Form.TEXT) -> Contender:
    return Contender(name, kind, "numpy", lambda: extract, form)  # type: ignore[arg-type,return-value]


def perfect(task: Task) -> str:
    return task.page.truth_text


def half(task: Task) -> str:
    return task.page.truth_text[: len(task.page.truth_text) // 2]


def as_html(task: Task) -> str:
    return f"<p>{task.page.truth_text}</p><p>and more</p>"


def broken(task: Task) -> str:
    raise ValueError("not this page")


class Here:
    """A fake process: it runs in this one, which has already loaded everything for scoring."""

    exitcode = 0

    def __init__(self, target: Callable[..., object], args: tuple[Any, ...]) -> None:
        self._target, self._args = target, args

    def start(self) -> None:
        self._target(*self._args)

    def join(self) -> None:
        pass


def run_here(settings: run.RunSettings) -> list[SetScoring]:
    """Run a whole evaluation without the process that scores a set, because its start takes
    seconds."""
    with pytest.MonkeyPatch.context() as patch:
        here = SimpleNamespace(get_context=lambda _: SimpleNamespace(Process=Here))
        patch.setattr(run, "multiprocessing", here)
        return run.run_evaluation(settings)

"""Queries a model about all pages of an export, and about some of them twice. Requests are
concurrent.

Each answer is appended to its file as soon as it arrives, so a stopped run can be resumed. A killed
run may leave an incomplete last line. The page of that line is requested again.
"""

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dripper.errors import InputError, MachineError, PageError
from dripper_lab.annotation.answers import Answer
from dripper_lab.annotation.chat import Annotator
from dripper_lab.annotation.export import Export
from dripper_lab.annotation.importing import read_answers

FIRST, SECOND = "answers.jsonl", "answers_second.jsonl"
HOPELESS = 10
"""After this number of failed pages without any answer, the endpoint counts as broken and the run
stops, because each request may cost money."""
log = logging.getLogger(__name__)


@dataclass(slots=True)
class AskResult:
    """The counts of a run of `ask`."""

    answered: int = 0
    earlier: int = 0
    """The number of answers from earlier runs."""
    failed: dict[str, str] = field(default_factory=dict)
    """Page number → the reason why the page has no answer. The next run requests these pages
    again."""
    used: Counter[str] = field(default_factory=Counter)
    """The numbers of requests, prompt_tokens and completion_tokens; the endpoint reports the
    tokens."""


@dataclass(frozen=True, slots=True)
class Round:
    """The annotation of some pages by one annotator."""

    file: Path
    annotator: Annotator
    pages: Sequence[str]


def twice_share(numbers: Sequence[str], share: float) -> list[str]:
    """Choose the pages to annotate twice. They are spread over all pages and are the same in every
    run.

    >>> len(twice_share([f"p{n:05d}" for n in range(50)], 0.1))
    5
    """
    drawn = sorted(numbers, key=lambda number: hashlib.sha256(number.encode()).digest())
    return sorted(drawn[: round(share * len(numbers))])


def ask(export: Export, rounds: Sequence[Round], concurrency: int) -> AskResult:
    """Request all missing answers.

    Raises:
        MachineError: The endpoint rejects this client, is unreachable, or answers no page. Earlier
            answers are kept.
        InputError: An existing file of answers contains an unusable line.
    """
    result = AskResult()
    for one in rounds:
        _cut_half_line(one.file)
        answered = _read_answered_pages(one.file, export)
        result.earlier += len(answered.intersection(one.pages))
        _ask_round(export, one, [page for page in one.pages if page not in answered], concurrency, result)
    return result


def _ask_round(export: Export, one: Round, pages: Sequence[str], concurrency: int, result: AskResult) -> None:
    used = {page: Counter[str]() for page in pages}

    def answer(page: str) -> Answer:
        return one.annotator.answer(page, export.text(page), export.n_blocks(page), used[page])

    with _requests(concurrency) as requests, one.file.open("a", encoding="utf-8") as file:
        under_way: dict[Future[Answer], str] = {requests.submit(answer, page): page for page in pages}
        for future in as_completed(under_way):
            page = under_way[future]
            result.used += used.pop(page)
            try:
                page_answer = future.result()
            except PageError as error:
                log.warning("page %s: %s", page, error.detail)
                result.failed[page] = error.detail
                if not result.answered and len(result.failed) == HOPELESS:
                    raise MachineError(f"none of {HOPELESS} pages got an answer; page {page}: {error.detail}") from None
                continue
            file.write(json.dumps(page_answer.row(), ensure_ascii=False) + "\n")
            file.flush()
            result.answered += 1
            if result.answered % 50 == 0:
                log.info("%d answers", result.answered)


@contextmanager
def _requests(concurrency: int) -> Iterator[ThreadPoolExecutor]:
    """Yield the thread pool that sends requests. When it closes, requests that have not started are
    canceled."""
    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="annotate")
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _read_answered_pages(file: Path, export: Export) -> set[str]:
    if not file.exists():
        return set()
    answers = read_answers([file], export)
    if answers.wrong:
        raise InputError("\n".join(answers.wrong))
    return set(answers.of_page)


def _cut_half_line(file: Path) -> None:
    """Remove the incomplete last line left by a killed run."""
    if not file.exists():
        return
    content = file.read_bytes()
    whole_lines = content[: content.rfind(b"\n") + 1]
    if whole_lines != content:
        try:
            json.loads(content[len(whole_lines) :])
        except ValueError:
            file.write_bytes(whole_lines)
        else:
            file.write_bytes(content + b"\n")

"""Evaluates a part of a set in one task of a cluster. Its lines are stored like the lines of a
local run."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dripper_lab.evaluation.extracting import extract_tasks, vote
from dripper_lab.evaluation.extractors.base import Task
from dripper_lab.evaluation.run import RunSettings, scoring_of
from dripper_lab.evaluation.score_set import score_line
from dripper_lab.evaluation.store import Output, Outputs, decode_page, write_lines

PAGES_A_SHARE = 25
"""The number of pages per part: small enough to distribute over a cluster, and large enough to
justify loading fifteen packages."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a set: one of `of` parts, to which pages are assigned by a hash of their ids."""

    data_set: str
    number: int
    of: int

    def holds(self, id: str) -> bool:
        """Return whether a page belongs to this part."""
        return int.from_bytes(hashlib.sha256(id.encode()).digest()[:4], "big") % self.of == self.number


def shares(settings: RunSettings) -> list[Share]:
    """Return the parts of all sets in a run. Raises InputError if a set is missing."""
    counts = {name: -(-settings.source.size(name) // PAGES_A_SHARE) for name in settings.sets}
    return [Share(name, number, of) for name, of in counts.items() for number in range(of)]


def share_lines(settings: RunSettings, share: Share) -> Iterator[str]:
    """Extract and score the pages of a part. Yield a JSON line per page with its score line and
    outputs."""
    tasks = [Task(page, decode_page(page)) for page in settings.source.pages(share.data_set) if share.holds(page.id)]
    outputs: dict[str, dict[str, Output]] = {task.page.id: {} for task in tasks}
    for extractor in settings.for_set(share.data_set):
        for output in extract_tasks(extractor, tasks, settings.limits):
            outputs[output.id][extractor.name] = output
    ids = settings.reference.ids.get(share.data_set, {}) if settings.reference else {}
    for task in tasks:
        of_page = outputs[task.page.id]
        votes = {ensemble.name: vote(ensemble, task, of_page) for ensemble in settings.voting()}
        score = score_line(task.page, of_page | votes, settings.metrics, task.page.id in ids)
        yield json.dumps({"score": score, "outputs": {name: _plain(one) for name, one in (of_page | votes).items()}})


def metric_rows(settings: RunSettings, line: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the `evaluations` table for a line of :func:`share_lines`: page × extractor
    × metric."""
    score = json.loads(line)["score"]
    versions = {one.name: one.version for one in settings.everyone()}
    page = [score[name] for name in ("data_set", "id", "host", "language", "page_type", "complexity")]
    for extractor, values in score["scores"].items():
        cost = score["costs"][extractor]
        about = [extractor, versions[extractor], cost["cpu_ms"], cost["error_code"], cost["error_detail"]]
        for metric, value in values.items():
            yield (*page, *about, metric, value)


def keep_lines(settings: RunSettings, lines: Iterable[str]) -> None:
    """Store the lines of all parts in the files of a local run, so that the report can be created
    in the same way."""
    by_name = {one.name: one for one in settings.everyone()}
    for line in lines:
        row = json.loads(line)
        data_set = row["score"]["data_set"]
        for name, output in row["outputs"].items():
            with Outputs(settings.folder, data_set, by_name[name]) as outputs:
                outputs.add(Output(**output))
        write_lines(scoring_of(settings, data_set).path, iter([row["score"]]))


def _plain(output: Output) -> dict[str, Any]:
    return {name: getattr(output, name) for name in Output.__slots__}

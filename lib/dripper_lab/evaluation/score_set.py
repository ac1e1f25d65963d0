"""Scores one set in a separate process, and writes one line per page to `scores/<set>.jsonl`."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dripper_lab.datasets import LabelledPage, detect_language
from dripper_lab.evaluation.benchmarks.complexity import complexity
from dripper_lab.evaluation.benchmarks.wceb import truth_of
from dripper_lab.evaluation.benchmarks.webmainbench import level_score, strata
from dripper_lab.evaluation.extractors.base import MARKDOWN_TRUTHS
from dripper_lab.evaluation.sources import PageSource
from dripper_lab.evaluation.store import Output, decode_page, page_digest, read_lines, read_outputs, write_lines
from dripper_lab.metrics.scoring import score_page, similarities

# Must be increased when a metric changes, so that scores of other versions are not reused.
SCORES_VERSION = 2


@dataclass(frozen=True, slots=True)
class SetScoring:
    """A data set to score, with the outputs of extractors."""

    source: PageSource
    folder: Path
    """The folder for the state of the run."""
    data_set: str
    outputs: Mapping[str, Path]
    """Extractor → file of its outputs."""
    metrics: Sequence[str]
    wceb_ids: frozenset[str] = frozenset()
    """The ids of pages that are also in WCEB."""

    @property
    def path(self) -> Path:
        """The file of scores."""
        return self.folder / "scores" / f"{self.data_set}.jsonl"


def score_set(job: SetScoring) -> None:
    """Add the missing lines. Raises InputError if the set is missing or invalid."""
    write_lines(job.path, _fresh_rows(job, job.source.pages(job.data_set)))


def _fresh_rows(job: SetScoring, pages: Iterable[LabelledPage]) -> Iterator[dict[str, Any]]:
    digests = {row["id"]: row["digest"] for row in read_lines(job.path)}
    outputs = {name: read_outputs(path) for name, path in job.outputs.items()}
    for page in pages:
        page_outputs = {
            name: of_extractor[page.id] for name, of_extractor in outputs.items() if page.id in of_extractor
        }
        is_wceb = page.id in job.wceb_ids
        if digests.get(page.id) != score_digest(page, page_outputs, job.metrics, is_wceb):
            yield score_line(page, page_outputs, job.metrics, is_wceb)


def score_line(
    page: LabelledPage, outputs: Mapping[str, Output], metrics: Sequence[str], is_wceb: bool = False
) -> dict[str, Any]:
    """Return everything about a page, ready for JSON: its properties, and the scores, cost and
    error of each extractor."""
    texts = {name: output.text for name, output in outputs.items()}
    row = page_row(page, texts, [*metrics, *(["content"] if page.data_set in MARKDOWN_TRUTHS else [])])
    if is_wceb:
        row["scores"] = _with_wceb(page, texts, row["scores"])
    costs = {
        name: {"cpu_ms": output.cpu_ms, "error_code": output.error_code, "error_detail": output.error_detail}
        for name, output in outputs.items()
    }
    return {"digest": score_digest(page, outputs, metrics, is_wceb), "is_wceb": is_wceb, **row, "costs": costs}


def page_row(page: LabelledPage, texts: Mapping[str, str], metrics: Sequence[str]) -> dict[str, Any]:
    """Return the properties of a page, its scores (extractor → column → value), and the
    similarities between the extracted strings."""
    html = decode_page(page)
    return {
        "id": page.id,
        "data_set": page.data_set,
        "host": page.host,
        "language": detect_language(page),
        "page_type": page.page_type,
        "complexity": complexity(html, truth_of(page)),
        "level_score": level_score(html),
        "strata": strata(page),
        "scores": score_page(page.truth_text, texts, metrics),
        "empty": [name for name, text in texts.items() if not text.strip()],
        "similarity": similarities(texts),
    }


def _with_wceb(page: LabelledPage, texts: Mapping[str, str], scores: dict[str, Any]) -> dict[str, Any]:
    """Add `wceb_f1`, which is comparable with WCEB: ROUGE-LSum against WCEB's ground truth, which
    is not always the same as ours."""
    wceb_scores = score_page(truth_of(page), texts, ["rouge_lsum"])
    return {name: {**values, "wceb_f1": wceb_scores[name]["rouge_lsum_f1"]} for name, values in scores.items()}


def score_digest(page: LabelledPage, outputs: Mapping[str, Output], metrics: Sequence[str], is_wceb: bool) -> str:
    """Return a digest of the inputs of a score line: page, ground truth, outputs and metrics."""
    state = hashlib.sha256(f"{SCORES_VERSION} {sorted(metrics)} {is_wceb}".encode())
    state.update(page_digest(page).encode())
    for name, output in sorted(outputs.items()):
        state.update(f"\0{name}\0".encode() + output.text.encode("utf-8", "surrogatepass"))
    return state.hexdigest()[:16]

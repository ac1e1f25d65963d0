"""Finds the pages on which an extractor scores worst, with the missing and superfluous words in its
output."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dripper_lab.datasets import LabelledPage
from dripper_lab.evaluation.results import MAIN, ScoreTable
from dripper_lab.evaluation.score_set import SetScoring
from dripper_lab.evaluation.store import Output, read_outputs
from dripper_lab.extra import import_extra

SHOWN_WORDS = 350
"""The maximum number of words to show of each string, about two screens. Words that both strings
have are folded, so most of the words shown differ."""
FOLD = 24
"""Runs of more than this many words that both strings have are folded to the first and last
eight."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Consecutive words of the ground truth or the output. The other string either contains them
    too or not. If `is_folded` is set, the text is a note about omitted words."""

    text: str
    is_common: bool
    is_folded: bool = False


@dataclass(frozen=True, slots=True)
class WorstPage:
    """A page, its score, and the extracted and true text as excerpts."""

    page: LabelledPage
    score: float
    best: float
    """The best score of any extractor on this page."""
    best_name: str
    truth: Sequence[Excerpt]
    output: Sequence[Excerpt]
    error: str | None


def worst_pages(
    frame: ScoreTable, jobs: Iterable[SetScoring], names: Sequence[str], count: int = 20
) -> dict[str, list[WorstPage]]:
    """Return, for each extractor, the `count` pages with the lowest ROUGE-5 F1 over words, worst
    first."""
    picked = {name: frame[frame["extractor"] == name].nsmallest(count, MAIN) for name in names}
    tops = frame[frame["extractor"].isin(names)].sort_values(MAIN).drop_duplicates(["data_set", "id"], keep="last")
    best = {(row.data_set, row.id): (getattr(row, MAIN), row.extractor) for row in tops.itertuples()}
    keys = {(row.data_set, row.id) for rows in picked.values() for row in rows.itertuples()}
    pages, outputs = _texts(jobs, keys, names)
    return {
        name: [_worst(row, name, pages, outputs, best) for row in rows.itertuples()] for name, rows in picked.items()
    }


def differences(truth: str, output: str) -> tuple[list[Excerpt], list[Excerpt]]:
    """Split both strings into excerpts by the longest common subsequence of their words."""
    truth_words, output_words = truth.split(), output.split()
    truth_pieces: list[Excerpt] = []
    output_pieces: list[Excerpt] = []
    for code in import_extra("rapidfuzz.distance").LCSseq.opcodes(truth_words, output_words):
        if code.tag == "equal":
            truth_pieces.append(Excerpt(" ".join(truth_words[code.src_start : code.src_end]), True))
            output_pieces.append(Excerpt(" ".join(output_words[code.dest_start : code.dest_end]), True))
            continue
        if code.src_end > code.src_start:
            truth_pieces.append(Excerpt(" ".join(truth_words[code.src_start : code.src_end]), False))
        if code.dest_end > code.dest_start:
            output_pieces.append(Excerpt(" ".join(output_words[code.dest_start : code.dest_end]), False))
    return list(shorten_excerpts(truth_pieces)), list(shorten_excerpts(output_pieces))


def shorten_excerpts(pieces: Iterable[Excerpt]) -> Iterator[Excerpt]:
    """Fold long common excerpts. After `SHOWN_WORDS` words, yield only the number of remaining
    words."""
    n_words = left_out = 0
    for piece in pieces:
        words = piece.text.split()
        if n_words >= SHOWN_WORDS:
            left_out += len(words)
        elif piece.is_common and len(words) > FOLD:
            yield Excerpt(" ".join(words[:8]), True)
            yield Excerpt(f"{len(words) - 16} words in both", True, True)
            yield Excerpt(" ".join(words[-8:]), True)
            n_words += 16
        else:
            room = SHOWN_WORDS - n_words
            yield Excerpt(" ".join(words[:room]), piece.is_common)
            n_words += min(len(words), room)
            left_out += max(0, len(words) - room)
    if left_out:
        yield Excerpt(f"{left_out} more words", True, True)


def _texts(
    jobs: Iterable[SetScoring], keys: set[tuple[str, str]], names: Sequence[str]
) -> tuple[dict[tuple[str, str], LabelledPage], dict[tuple[str, str, str], Output]]:
    pages, outputs = {}, {}
    for job in jobs:
        ids = {id for data_set, id in keys if data_set == job.data_set}
        pages.update({(job.data_set, page.id): page for page in job.source.pages(job.data_set) if page.id in ids})
        for name in set(names) & job.outputs.keys():
            of_extractor = read_outputs(job.outputs[name])
            outputs.update({(name, job.data_set, id): of_extractor[id] for id in ids if id in of_extractor})
    return pages, outputs


def _worst(
    row: Any,
    name: str,
    pages: Mapping[tuple[str, str], LabelledPage],
    outputs: Mapping[tuple[str, str, str], Output],
    best: Mapping[tuple[str, str], tuple[float, str]],
) -> WorstPage:
    key = row.data_set, row.id
    output = outputs[name, row.data_set, row.id]
    truth, extracted = differences(pages[key].truth_text, output.text)
    error = f"{output.error_code}: {output.error_detail}" if output.error_code else None
    return WorstPage(pages[key], float(getattr(row, MAIN)), *best[key], truth, extracted, error)

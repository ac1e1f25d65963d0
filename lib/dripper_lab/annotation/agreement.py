"""Measures the agreement of two annotators: the F1 between their choices, over words and over
blocks, and the fraction of pages to which both gave the same kind."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from dripper.blocks.page import Page
from dripper.labels.words import words_of


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of two annotators on one page."""

    kind: str
    """The page's kind according to the first annotator."""
    same_kind: bool | None
    """Whether both annotators chose the same kind; None if the second annotator's is unknown."""
    words: float
    """F1 over words between the two choices; 1 if both are empty."""
    blocks: float
    """F1 over blocks with text, between the two choices."""


def agree(page: Page, kinds: tuple[str, str | None], main: tuple[Collection[int], Collection[int]]) -> Agreement:
    """Return the agreement of two annotators on a page.

    Args:
        kinds: Each annotator's kind of the page.
        main: Each annotator's item_ids of the main blocks.
    """
    sizes = {block.item_id: len(words_of(block.text)) for block in page.blocks if block.text}
    one, two = ({number: sizes[number] for number in choice if number in sizes} for choice in main)
    both = one.keys() & two.keys()
    return Agreement(
        kinds[0],
        None if kinds[1] is None else kinds[0] == kinds[1],
        _f1(sum(sizes[number] for number in both), sum(one.values()), sum(two.values())),
        _f1(len(both), len(one), len(two)),
    )


def report(agreements: Iterable[Agreement]) -> str:
    """Return a plain-text table with a row per kind, or a sentence if no page was annotated
    twice."""
    of_kind: dict[str, list[Agreement]] = defaultdict(list)
    for each in agreements:
        of_kind[each.kind].append(each)
    if not of_kind:
        return "no page was annotated twice\n"
    rows = [_row(kind, of_kind[kind]) for kind in sorted(of_kind, key=lambda kind: (-len(of_kind[kind]), kind))]
    rows.append(_row("all", [each for of in of_kind.values() for each in of]))
    head = f"{'kind':<14} {'pages':>5} {'F1 words':>8} {'F1 blocks':>9} {'same kind':>9}"
    return "\n".join([head, *rows]) + "\n"


def _row(name: str, of: Sequence[Agreement]) -> str:
    words, blocks = fmean(each.words for each in of), fmean(each.blocks for each in of)
    same_kinds = [each.same_kind for each in of if each.same_kind is not None]
    same = f"{fmean(same_kinds):.3f}" if same_kinds else "-"
    return f"{name:<14} {len(of):>5} {words:>8.3f} {blocks:>9.3f} {same:>9}"


def _f1(common: int, one: int, two: int) -> float:
    return 2 * common / (one + two) if one + two else 1.0

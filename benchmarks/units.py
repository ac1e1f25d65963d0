"""Counts units that are kept whole, before and after `html.units.complete`, over labelled pages.

    python benchmarks/units.py --data ../shared/data [--sets wcxb-dev,web-kinds] [--pages 200]

Headings right above kept text, and headings of which nothing is kept; notes that kept text points
at; questions with their answers; quoted posts between kept text. No truth is asked: a unit is whole
or it is not. ROUGE-5 F1 stands beside it. The labeler is `cpu`.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from dripper.errors import PageError
from dripper.eval import rouge_n
from dripper.html import NO_LIMITS, Page, preprocess_utf8, to_text
from dripper.html.units.complete import Blocks, complete
from dripper.html.units.embeds import find_embeds
from dripper.html.units.headings import find_headings
from dripper.html.units.references import find_controls, find_references
from dripper.labels import Labeler, load
from dripper.page.prepare import Decoded
from dripper_lab.datasets import LabelledPage, read_pages


def main(argv: list[str]) -> int:
    """Print a table of counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", default="wcxb-dev,web-kinds,web-kinds-more")
    parser.add_argument("--pages", type=int, default=200, help="pages a set")
    options = parser.parse_args(argv)
    labeler = load("cpu")
    counts = Counter[str](), Counter[str]()
    n_pages = 0
    for name in options.sets.split(","):
        for labelled in read_pages(options.data, name, sample=options.pages):
            n_pages += count_page(labelled, labeler, counts)
    print(f"{n_pages} pages\n\n| | labels alone | completed |\n|---|---|---|")
    for name in sorted(counts[0] | counts[1]):
        before, after = counts[0][name], counts[1][name]
        share = name == "ROUGE-5 F1"
        print(
            f"| {name} | {before / n_pages:.4f} | {after / n_pages:.4f} |"
            if share
            else f"| {name} | {before} | {after} |"
        )
    return 0


def count_page(labelled: LabelledPage, labeler: Labeler, counts: tuple[Counter[str], Counter[str]]) -> int:
    """Add the counts of a page, labels alone and completed; return 0 where there is no page."""
    try:
        page = preprocess_utf8(Decoded.of(labelled.html).utf8, limits=NO_LIMITS)
    except PageError:
        return 0
    if not page.blocks:
        return 0
    labels = labeler.label([page])[0].main.tolist()
    for count, is_main in zip(counts, (labels, complete(page, labels)), strict=True):
        count_units(page, is_main, count)
        main_html = page.prune([index for index, each in enumerate(is_main, 1) if each], with_media=True)
        text = to_text(main_html, with_captions=False)
        count["ROUGE-5 F1"] += rouge_n(text, labelled.truth_text, 5, tokens="words").f1  # type: ignore[assignment]
    return 1


def count_units(page: Page, main: Sequence[bool], count: Counter[str]) -> None:
    """Add the counts of one choice of blocks."""
    around = Blocks(page.elements, page.blocks)
    lost = 0
    for heading in find_headings(page.elements, page.blocks):
        after = heading.end
        is_main = main[heading.first]
        if heading.level > 1 and after < heading.last and main[after] and page.blocks[after].text:
            count["headings right above kept text, kept" if is_main else "headings right above kept text, lost"] += 1
            lost += not is_main
        if is_main and heading.level > 1 and after < heading.last and not any(main[after : heading.following]):
            count["kept headings of which nothing is kept"] += 1
    count["pages that lost such a heading"] += bool(lost)
    references = find_references(page.elements)
    marked = {target for mark, target in references.marks.items() if any(main[i] for i in around.inside(mark))}
    for target in marked:
        is_kept = any(main[index] for index in around.inside(target))
        count["notes of kept marks, kept" if is_kept else "notes of kept marks, lost"] += 1
    for control, opened in find_controls(page.elements).items():
        question, answer = around.inside(control), around.inside(opened)
        if question and answer and question.stop == answer.start:
            kept = any(main[index] for index in question), any(main[index] for index in answer)
            count["questions without answers"] += kept == (True, False)
            count["answers without questions"] += kept == (False, True)
            count["questions with answers"] += kept == (True, True)
    for embed in find_embeds(page.elements):
        inside = around.inside(embed)
        if inside.start > 0 and inside.stop < len(main) and main[inside.start - 1] and main[inside.stop]:
            is_kept = all(main[index] for index in inside)
            count["quoted posts between kept text, kept" if is_kept else "quoted posts between kept text, lost"] += 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

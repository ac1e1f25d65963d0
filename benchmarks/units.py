"""Counts the units of labelled pages that are kept whole, before and after `keep.complete`.

    python benchmarks/units.py --data ../shared/data [--sets wcxb-dev,web-kinds] [--pages 200]

These units are counted:

- headings directly above kept text, and headings without any kept text below
- notes to which kept text refers
- questions with their answers
- quoted posts between kept text
- titles and prices of a list's records, kept in all records or in none
- posts of threads, with author and date

The counts need no ground truth, because a unit is either whole or not. ROUGE-5 F1 is printed as
well. The labeler is `cpu`.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dripper.blocks.headings import find_headings
from dripper.errors import PageError
from dripper.eval import rouge_n
from dripper.html import NO_LIMITS, Page, preprocess_utf8, prune_page, to_text
from dripper.keep.complete import Blocks, complete
from dripper.keep.embeds import find_embeds
from dripper.keep.posts import THREAD, PagePosts, find_page_posts
from dripper.keep.references import find_controls, find_references
from dripper.labels import Labeler, load
from dripper.page.split import Decoded
from dripper.tree.elements import HEADINGS
from dripper.tree.parser import Reading
from dripper_lab.datasets import LabelledPage, read_pages
from dripper_lab.record_parts import PART_NAMES, find_parts

SHARED = 0.7
"""A title or price position must have its features in at least this fraction of a list's
records."""
FEWEST = 3
"""The minimum number of records in a list."""


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
    """Add the counts of a page, for its labels alone and for the completed labels. Return 1, or 0
    if the page cannot be split or has no blocks."""
    try:
        page = preprocess_utf8(Decoded.of(labelled.html).utf8, reading=Reading(limits=NO_LIMITS))
    except PageError:
        return 0
    if not page.blocks:
        return 0
    given = labeler.label([page])[0]
    labels, posts = given.main.tolist(), find_page_posts(page, given.page_kind)
    for count, is_main in zip(counts, (labels, complete(page, labels, {"post": posts.complete}).main), strict=True):
        count_units(page, is_main, count)
        count_records(page, is_main, count)
        count_posts(posts, is_main, count)
        main_html = prune_page(page, [index for index, each in enumerate(is_main, 1) if each], with_media=True)
        text = to_text(main_html, with_captions=False)
        count["ROUGE-5 F1"] += rouge_n(text, labelled.truth_text, 5, tokens="words").f1  # type: ignore[assignment]
    return 1


def count_units(page: Page, main: Sequence[bool], count: Counter[str]) -> None:
    """Count the units that are kept or lost if only the blocks in `main` are kept."""
    around = Blocks(page)
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


def count_records(page: Page, main: Sequence[bool], count: Counter[str]) -> None:
    """Count the title and price positions that are kept in all, some or none of a list's records. A
    position is a title if most records have it, its text mostly differs, and it is a link or
    heading."""
    parts, _ = find_parts(page.elements, page.blocks)
    inside = np.flatnonzero(parts.slots >= 0)
    if not len(inside):
        return
    shared, distinct, link, price = (
        parts.features[:, PART_NAMES.index(name)] for name in ("shared", "distinct", "link", "price")
    )
    is_heading = np.array([page.elements.tags[block.element] in HEADINGS for block in page.blocks])
    is_main = np.array(main)
    for name, found in (
        ("titles", (shared >= SHARED) & (distinct >= SHARED) & (is_heading | (link >= SHARED))),
        ("prices", (shared >= SHARED) & (price >= SHARED)),
    ):
        for slot in np.unique(parts.slots[inside][found[inside]]):
            kept = is_main[parts.slots == slot]
            if len(kept) >= FEWEST:
                amount = "all" if kept.all() else "some" if kept.any() else "none"
                count[f"{name} of a list's records, {amount} kept"] += 1


def count_posts(posts: PagePosts, main: Sequence[bool], count: Counter[str]) -> None:
    """Count the posts of a thread, those of which something is kept, and those with author or
    date."""
    if posts.kind != THREAD:
        return
    count["threads"] += 1
    kept = {owner for owner, each in zip(posts.owners, main, strict=False) if each and owner >= 0}
    count["threads with posts"] += bool(posts.found)
    count["threads of which some posts are left out"] += 0 < len(kept) < len(posts.found)
    count["posts of threads"] += len(posts.found)
    count["posts of threads, kept"] += len(kept)
    count["posts of threads with author"] += sum(post.author is not None for post in posts.found)
    count["posts of threads with date"] += sum(post.published is not None for post in posts.found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

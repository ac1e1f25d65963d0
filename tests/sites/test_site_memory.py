"""What pages of a site tell each other, and that a site with nothing to say changes nothing."""

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dripper.html import preprocess
from dripper.labels import Labels, load
from dripper.labels.cpu.decide import KINDS
from dripper.sites import Fingerprints, PageBlocks, SiteStatistics, relabel, remember
from dripper.sites.rule import NO_CONSENSUS, NO_REPETITION
from dripper.sites.statistics import subtract_page, sum_page

Kept = tuple[PageBlocks, Labels]


def kept(
    paths: list[int], texts: list[int], odds: list[float], confidence: float, words: int = 10, kind: str | None = None
) -> Kept:
    """A page whose blocks are main where their log odds are above 0."""
    numbers = np.array(odds, np.float32)
    prints = Fingerprints(np.array(paths, np.int64), np.array(texts, np.int64))
    page = PageBlocks(prints, np.full(len(paths), words, np.int32), numbers, confidence)
    probability = (1 / (1 + np.exp(-numbers))).astype(np.float32)
    return page, Labels(numbers > 0, probability, confidence, page_kind=kind)


def site_of(*pages: Kept) -> SiteStatistics:
    return SiteStatistics.of(page for page, _ in pages)


PAGE = st.tuples(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4), st.floats(-6, 6, width=32)), max_size=6), st.floats(0, 1)
)


@given(st.lists(PAGE, min_size=1, max_size=4))
def test_sums_do_not_depend_on_the_order_of_pages(made: list[tuple[list[tuple[int, int, float]], float]]) -> None:
    pages = [kept(*(list(part) for part in zip(*blocks, strict=True)), sure) for blocks, sure in made if blocks]
    sums = [site_of(*order) for order in permutations(pages)]
    assert all(site == sums[0] for site in sums)
    for page, labels in pages:
        alone = subtract_page(page, SiteStatistics.of([page]))
        assert alone.paths == dict.fromkeys(sum_page(page).paths, (0, 0, 0))
        assert set(alone.texts.values()) == {0}
        assert relabel(page, labels, SiteStatistics.of([page])) is labels


def test_a_page_that_the_labeler_is_not_sure_of_goes_by_what_others_say_of_the_path() -> None:
    doubtful = kept([1, 2], [1, 2], [-0.2, -0.1], 0.5)
    others = [kept([1, 2], [10 + i, 20 + i], [5.0, -5.0], 0.6) for i in range(3)]
    labels = relabel(*doubtful, site_of(doubtful, *others))
    assert labels.main.tolist() == [True, False]
    assert labels.confidence > 0.85
    sure = kept([1, 2], [1, 2], [-0.2, -0.1], 0.71)
    assert relabel(*sure, site_of(sure, *others)) is sure[1]


def test_few_pages_count_only_where_they_are_surer_than_the_page() -> None:
    doubtful = kept([1, 2], [1, 2], [-1.0, 1.0], 0.5)
    others = [kept([1, 2], [10 + i, 20 + i], [0.9, -0.9], 0.6) for i in range(4)]
    assert relabel(*doubtful, site_of(doubtful, *others[:3])) is doubtful[1]
    assert relabel(*doubtful, site_of(doubtful, *others)) is not doubtful[1]
    surer = [kept([1, 2], [10 + i, 20 + i], [4.0, -0.9], 0.6) for i in range(3)]
    assert relabel(*doubtful, site_of(doubtful, *surer)).main.tolist() == [True, True]


def test_a_text_that_three_other_pages_have_is_no_frame_yet() -> None:
    page = kept([1, 2, 2, 2], [7, 30, 31, 32], [0.5, 4.0, 4.0, 4.0], 0.9)
    others = [kept([1, 2, 2], [7, 10 + i, 20 + i], [0.5, 4.0, 4.0], 0.9) for i in range(4)]
    assert relabel(*page, site_of(page, *others[:3])) is page[1]
    assert relabel(*page, site_of(page, *others)).main.tolist() == [False, True, True, True]


def test_paths_that_no_other_page_has_say_nothing() -> None:
    doubtful = kept([1, 2], [1, 2], [0.5, -0.5], 0.5)
    labels = relabel(*doubtful, site_of(doubtful, kept([3], [3], [-5.0], 0.6)))
    assert labels is doubtful[1]


def test_a_text_on_many_pages_of_a_site_that_is_well_known_is_its_frame() -> None:
    others = [kept([1, 2, 2], [7, 10 + i, 20 + i], [0.5, 4.0, 4.0], 0.9) for i in range(4)]
    page, labels = kept([1, 2, 2, 2], [7, 30, 31, 32], [0.5, 4.0, 4.0, 4.0], 0.9)
    assert labels.main.all()
    assert relabel(page, labels, site_of((page, labels), *others)).main.tolist() == [False, True, True, True]


def test_of_kinds_of_pages_that_repeat_what_they_are_about_nothing_is_changed() -> None:
    others = [kept([1, 2, 2], [7, 10 + i, 20 + i], [0.5, 4.0, 4.0], 0.9) for i in range(4)]
    changed = {}
    for kind in (None, *KINDS):
        page, labels = kept([1, 2, 2, 2], [7, 30, 31, 32], [0.5, 4.0, 4.0, 4.0], 0.9, kind=kind)
        changed[kind] = relabel(page, labels, site_of((page, labels), *others)) is not labels
    assert {kind for kind, is_changed in changed.items() if not is_changed} == NO_REPETITION
    others = [kept([1, 2], [10 + i, 20 + i], [5.0, -5.0], 0.6) for i in range(3)]
    for kind in (None, *KINDS):
        page, labels = kept([1, 2], [1, 2], [-0.2, -0.1], 0.5, kind=kind)
        assert (relabel(page, labels, site_of((page, labels), *others)) is labels) == (kind in NO_CONSENSUS)


def test_a_site_never_leaves_a_page_empty() -> None:
    page, labels = kept([1], [7], [0.0], 0.8, words=0)
    site = site_of((page, labels), *(kept([1], [7], [0.0], 0.8, words=0) for _ in range(4)))
    assert relabel(page, labels, site) is labels


def test_two_copies_of_a_page_and_content_that_repeats_stay_as_they_are() -> None:
    two = kept([1, 2], [1, 2], [4.0, -4.0], 0.9)
    assert relabel(*two, site_of(two, two)) is two[1]
    assert relabel(*two, site_of(two, two, two, two)).main.tolist() == [True, False]
    shop = [kept([1, 2], [7, 10 + i], [0.5, 4.0], 0.6) for i in range(5)]
    sure_of_one = kept([1, 2], [7, 30], [0.5, 4.0], 0.9)
    assert relabel(*sure_of_one, site_of(sure_of_one, *shop)) is sure_of_one[1]


def test_real_pages_of_one_site() -> None:
    """The labels of `cpu`, and a site of three pages with the same frame."""
    frame = (
        "<nav class=m><p><a href=/>Home</a> <a href=/s>All our sections</a></p></nav>{}"
        "<div class=f><p>All rights are reserved here.</p></div>"
    )
    pages = [preprocess(frame.format(_story(number))) for number in ("one", "three", "seven")]
    labels = load("cpu").label(pages)
    memories = [remember(page, each) for page, each in zip(pages, labels, strict=True)]
    site = SiteStatistics.of(memories)
    assert site.pages == 3
    assert sorted(site.texts.values())[-2:] == [3, 3]
    assert abs(site.mean_confidence - np.mean([each.confidence for each in labels])) < 1e-4
    assert sum_page(memories[0]).paths.keys() == set(memories[0].fingerprints.paths.tolist())
    for page, memory, each in zip(pages, memories, labels, strict=True):
        again = relabel(memory, each, site)
        assert len(again.main) == len(page.blocks)
        assert not again.main[[0, -1]].any()


def _story(number: str) -> str:
    return "".join(
        f"<p>Paragraph {part} of {number} tells of a ferry that leaves the pier at {number}.</p>" for part in "abc"
    )

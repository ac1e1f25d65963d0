"""The positions of blocks in the tree, and their number of characters inside links."""

import numpy as np
import pytest

from dripper.html import Page, preprocess
from dripper.labels.cpu.features.places import LEVELS, find_places, link_chars
from support.labelled import pages

HTML = """<body><nav><a href="/">Home</a></nav>
<div class="post">Intro <b>text</b><p>First</p>between<ul><li><p>one</p></li><li><p>two</p></li></ul></div>
<footer>End</footer></body>"""


def blocks_inside(page: Page, element: int) -> list[int]:
    """Return the blocks under an element the slow way."""
    tree = page.elements
    return [
        index
        for index, block in enumerate(page.blocks)
        if tree.opens[element] <= block.first and block.last <= tree.closes[element]
    ]


def test_a_run_is_in_its_element_and_a_block_element_in_its_parent() -> None:
    page = preprocess(HTML)
    places = find_places(page)
    around = [places.tags[element] for element in places.containers[:, 0]]
    texts = [block.text.strip() for block in page.blocks]
    where = dict(zip(texts, around, strict=True))
    assert where["Intro text"] == "div"
    assert where["First"] == "div"
    assert where["between"] == "div"
    assert where["one"] == "li"


@pytest.mark.parametrize("number", range(11))
def test_ranges_are_the_blocks_under_each_container(number: int) -> None:
    page = pages()[number]
    places = find_places(page)
    by_tag = {tag: element for element, tag in zip(range(len(page.elements)), page.elements.tags, strict=True)}
    assert by_tag
    for index, block in enumerate(page.blocks):
        element = block.element if block.is_run else page.elements.parents[block.element]
        for level in range(LEVELS):
            start, end = places.starts[index, level], places.ends[index, level]
            assert list(range(start, end)) == blocks_inside(page, max(element, 0))
            assert start <= index < end
            element = page.elements.parents[max(element, 0)]


@pytest.mark.parametrize("number", range(11))
def test_elements_inside_a_block_are_those_that_open_there(number: int) -> None:
    page = pages()[number]
    opens = page.elements.opens
    for block, (first, end) in zip(page.blocks, find_places(page).inside, strict=True):
        assert [i for i, at in enumerate(opens) if block.first <= at <= block.last] == list(range(first, end))


@pytest.mark.parametrize("number", range(11))
def test_sums_in_elements_and_above_them_against_a_plain_walk(number: int) -> None:
    page = pages()[number]
    places = find_places(page)
    n_elements, ones = len(places.parents), np.ones(len(page.blocks))
    assert places.sums_in(ones).tolist() == (places.ends_in - places.starts_in).tolist()
    # So large that sums overflow, like sums of hashes.
    values = np.arange(1, n_elements + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    above = [0]
    for element in range(1, n_elements):
        above.append((above[places.parents[element]] + int(values[element])) % (1 << 64))
    assert places.sums_above(values).tolist() == above


def test_only_elements_around_blocks_are_kept_with_their_ancestors() -> None:
    page = pages()[0]
    places = find_places(page)
    assert places.parents[0] == 0
    assert (places.parents[1:] < np.arange(1, len(places.parents))).all()
    assert len(places.tags) == len(places.start_tags) == len(places.parents) <= len(page.elements)
    for element, block in zip(places.elements, page.blocks, strict=True):
        assert places.tags[element] == page.elements.tags[block.element]
        assert places.start_tags[element] == page.elements.start_tag(block.element)


def test_depth_costs_no_recursion() -> None:
    page = preprocess("<div>" * 400 + "<p>deep</p>" + "</div>" * 400)
    places = find_places(page)
    assert len(places.tags) > 400
    assert places.starts.tolist() == [[0] * LEVELS]


@pytest.mark.parametrize(
    ("html", "chars"),
    [
        ("<p>a <a href=x>bc</a> d", [2]),
        ("<p><a href=x> b &amp; c </a>", [5]),
        ("<p><a><b>x</b> <i>yz</i></a> t <a>u</a>", [4]),
        ("<p>a", [0]),
        ("", []),
        ("<nav>n1 <a href=/>n2</a></nav><div><a href=x>l<div>z</div></a>t</div>", [2, 1, 1, 0]),
    ],
)
def test_links_may_stand_in_blocks_and_blocks_in_links(html: str, chars: list[int]) -> None:
    assert link_chars(preprocess(html)) == chars


@pytest.mark.parametrize("number", range(len(pages())))
def test_real_pages_have_no_more_link_characters_than_characters(number: int) -> None:
    page = pages()[number]
    counts = link_chars(page)
    assert len(counts) == len(page.blocks)
    assert all(0 <= count <= len(block.text) for count, block in zip(counts, page.blocks, strict=True))
    assert any(counts) or "<a" not in page.mapping_html

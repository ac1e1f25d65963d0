"""Features that compare parts of a page."""

import numpy as np
import pytest

from dripper.html import Page, preprocess
from dripper.labels.cpu.features.groups import NAMES
from dripper.labels.cpu.features.page_features import NAMES as ALL_NAMES
from dripper.labels.cpu.features.page_features import compute_features
from dripper.labels.cpu.features.places import find_places
from support.labelled import pages

SENTENCE = "It rained all day in Rome, and the river rose, and in the evening nobody knew how to get home."


def features(page: Page) -> dict[str, dict[str, float]]:
    """Return the features of each block by its text."""
    matrix = compute_features(page).blocks.features[:, [ALL_NAMES.index(name) for name in NAMES]]
    return {
        block.text: dict(zip(NAMES, row, strict=True)) for block, row in zip(page.blocks, matrix.tolist(), strict=True)
    }


def test_the_container_of_the_paragraphs_wins_the_vote() -> None:
    found = features(
        preprocess(
            f"<nav><p>Menu</p></nav><div><p>{SENTENCE} 1</p><p>{SENTENCE} 2</p></div><footer><p>{SENTENCE}</p></footer>"
        )
    )
    inside, after = found[f"{SENTENCE} 1"], found[SENTENCE]
    assert inside["in_top"] == 1
    assert after["in_top"] == 0
    assert found["Menu"]["before_top"] == pytest.approx(np.log1p(1))
    assert after["after_top"] == pytest.approx(np.log1p(1))
    assert inside["before_top"] == inside["after_top"] == 0
    assert inside["votes0"] > after["votes0"] > found["Menu"]["votes0"] == 0


def test_links_do_not_vote() -> None:
    linked = f'<p><a href="/">{SENTENCE}</a></p>'
    found = features(preprocess(f"<div>{linked * 5}</div><section><p>{SENTENCE} Text</p></section>"))
    assert found[f"{SENTENCE} Text"]["in_top"] == 1
    assert found[SENTENCE]["in_top"] == 0


def test_siblings_of_a_kind_are_counted_at_every_level() -> None:
    items = "".join(f"<li><div><p>item {n}</p><p>about {n}</p></div></li>" for n in range(5))
    found = features(preprocess(f"<h1>List</h1><ul>{items}</ul><p>end</p>"))
    assert found["item 3"]["alike0"] == pytest.approx(np.log1p(1)), "one div in its li"
    assert found["item 3"]["alike1"] == pytest.approx(np.log1p(5)), "five li in their ul"
    assert found["item 3"]["alike_chars1"] == pytest.approx(np.log1p(len("item 3about 3")))
    assert found["item 3"]["alike_links1"] == 0


def test_the_list_with_most_text_is_the_pages_list() -> None:
    menu = "".join(f'<li><p><a href="/{n}">page {n}</a></p></li>' for n in range(9))
    posts = "".join(f"<div><p>{SENTENCE} {n}</p></div>" for n in range(4))
    found = features(preprocess(f"<ul>{menu}</ul><main>{posts}</main>"))
    assert found["page 0"]["in_list"] == 0
    assert [found[f"{SENTENCE} {n}"]["list_place"] for n in range(4)] == [0.25, 0.5, 0.75, 1]
    assert found["page 0"]["list_members"] == pytest.approx(np.log1p(4)), "of the page's list, wherever the block is"
    assert found["page 0"]["list_links"] == 0


def test_two_of_a_kind_are_no_list() -> None:
    found = features(preprocess(f"<div><p>{SENTENCE}</p></div><div><p>b</p></div>"))
    assert found["b"]["list_members"] == found["b"]["list_share"] == 0


def test_a_heading_announces_what_is_under_it() -> None:
    found = features(
        preprocess(f"<p>{SENTENCE}</p><h3>3 Comments</h3><p>First!</p><p>Second.</p><h3>About us</h3><p>We are.</p>")
    )
    assert found[SENTENCE]["under_comments"] == found[SENTENCE]["since_comments"] == 0
    assert found["First!"]["under_comments"] == found["Second."]["under_comments"] == 1
    assert found["We are."]["under_comments"] == 0
    assert (
        1
        > found["First!"]["since_comments"]
        > found["Second."]["since_comments"]
        > found["We are."]["since_comments"]
        > 0
    )


def test_prose_announces_nothing() -> None:
    found = features(
        preprocess(f"<p>Comments like these, said the mayor, help nobody at all in this town.</p><p>{SENTENCE}")
    )
    assert found[SENTENCE]["since_comments"] == 0


@pytest.mark.parametrize("number", range(11))
def test_ranges_of_elements_are_their_blocks(number: int) -> None:
    page = pages()[number]
    places = find_places(page)
    for element in range(0, len(places.parents), 7):
        inside = [
            index
            for index in range(len(page.blocks))
            if element in ancestors(places.parents, int(places.containers[index, 0]))
        ]
        start, end = int(places.starts_in[element]), int(places.ends_in[element])
        assert set(inside) <= set(range(start, end))


def ancestors(parents: np.ndarray, element: int) -> set[int]:
    found = {element}
    while element:
        element = int(parents[element])
        found.add(element)
    return found

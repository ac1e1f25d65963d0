"""Insertions into a page's tree, and finding them again."""

from dripper.html import Page, preprocess
from dripper_lab.train.edits import (
    elements_around,
    find_marked_blocks,
    is_unspaced,
    place_after,
    place_before,
    split_parts,
)

LIST = "<body><main><section><ul><li><p>one</p><li><p>two</p></ul><p>three</p></section></main></body>"


def with_x(page: Page, at: int) -> list[str]:
    parts = list(page.elements.parts)
    parts[at] += "<p>X</p>"
    return [block.text for block in split_parts(parts).blocks]


def test_beside_a_block_and_around_it() -> None:
    page = preprocess(LIST)
    assert with_x(page, place_before(page, 2, 0)) == ["one", "two", "X", "three"]
    assert with_x(page, place_after(page, 2, 0)) == ["one", "two", "three", "X"]
    assert with_x(page, place_before(page, 2, 1)) == ["X", "one", "two", "three"]
    assert with_x(page, place_before(page, 2, 9)) == ["X", "one", "two", "three"]


def test_never_between_the_items_of_a_list() -> None:
    page = preprocess(LIST)
    names = [page.elements.tags[element] for element in elements_around(page, 0)]
    assert names == ["main", "section", "ul", "p"]
    assert with_x(page, place_before(page, 1, 1)) == ["X", "one", "two", "three"]
    assert with_x(page, place_after(page, 0, 1)) == ["one", "two", "X", "three"]


def test_a_page_that_is_text_alone() -> None:
    page = preprocess("<body>Nothing but this.</body>")
    assert elements_around(page, 0) == []
    assert with_x(page, place_before(page, 0, 2)) == ["X", "Nothing but this."]
    assert with_x(page, place_after(page, 0, 2)) == ["Nothing but this.", "X"]


def test_blocks_below_every_marked_element_are_found() -> None:
    page = preprocess(
        "<body><p>a</p><div data-made=x><p>b</p><p>c</p></div><p>d</p><div data-made=x><p>e</p></div></body>"
    )
    marked = find_marked_blocks(split_parts(page.elements.parts), ' data-made="x"')
    assert marked.tolist() == [False, True, True, False, True]


def test_scripts() -> None:
    assert is_unspaced("这是中文，没有空格")
    assert is_unspaced("ひらがな")
    assert not is_unspaced("English and 中 one character of Chinese")
    assert not is_unspaced("")

"""Features of places."""

import numpy as np
import pytest

from dripper.html import Page, preprocess
from dripper.labels.cpu.features.places import find_places, link_chars
from dripper.labels.cpu.features.tree import INLINE_GROUPS, NAME_GROUPS, NAMES, TAG_GROUPS, compute_tree_features
from support.labelled import pages


def matrix_of(page: Page) -> np.ndarray:
    chars = np.array([float(len(block.text)) for block in page.blocks])
    links = np.array(link_chars(page), float)
    return compute_tree_features(find_places(page), page.elements.tags, chars, links)


def features(html: str) -> dict[str, dict[str, float]]:
    """Return the features of each block by its text."""
    page = preprocess(html)
    matrix = matrix_of(page)
    texts = [block.text.strip() for block in page.blocks]
    return {text: dict(zip(NAMES, row, strict=True)) for text, row in zip(texts, matrix.tolist(), strict=True)}


def test_there_is_one_column_a_name_and_no_name_twice() -> None:
    assert matrix_of(preprocess("<p>a")).shape == (1, len(NAMES))
    assert len(set(NAMES)) == len(NAMES)
    assert len(TAG_GROUPS) + len(NAME_GROUPS) < 63, "flags are bits of one int64"


def test_ancestors_tags_are_known_at_any_depth() -> None:
    found = features("<nav><div><div><p>menu</p></div></div></nav><article><h2>head</h2>text</article>")
    assert found["menu"]["in_nav"] == found["menu"]["in_p"] == found["menu"]["own_p"] == 1
    assert found["menu"]["own_nav"] == found["menu"]["in_article"] == 0
    assert found["head"]["in_h2"] == found["head"]["in_article"] == 1
    assert found["text"]["own_article"] == 1


@pytest.mark.parametrize(
    ("attribute", "name"),
    [
        ('class="comment-list"', "comment"),
        ('id="mainNavBar"', "navigation"),
        ('class="a b SIDEBAR"', "side"),
        ('itemprop="articleBody"', "body"),
        ('role="navigation"', "navigation"),
        ('class="ad"', "advertisement"),
    ],
)
def test_names_of_elements_are_recognised(attribute: str, name: str) -> None:
    found = features(
        f"<div {attribute}><section><section><section><p>x</p></section></section></section></div><p>y</p>"
    )
    assert found["x"][f"named_{name}"] == 1
    assert found["x"][f"near_{name}"] == 0, "three levels up is not near"
    assert found["y"][f"named_{name}"] == 0
    near = features(f"<div {attribute}><p>x</p></div><p>y</p>")
    assert near["x"][f"near_{name}"] == 1


def test_names_look_at_attributes_only_not_at_other_words() -> None:
    found = features('<div title="comment" class="lead"><p>x</p></div><p class="add">y</p>')
    assert found["x"]["named_comment"] == 0
    assert found["y"]["named_advertisement"] == 0


def test_containers_share_links_and_blocks() -> None:
    found = features("<div><p>aaaa</p><p><a href='/'>bbbb</a></p></div><p>cccccccc</p>")
    assert found["aaaa"]["share0"] == pytest.approx(np.log(0.5 + 1e-3))
    assert found["aaaa"]["links0"] == pytest.approx(4 / 9)
    assert found["aaaa"]["blocks0"] == pytest.approx(np.log1p(2))
    assert found["bbbb"]["link_share"] == 1
    assert found["cccccccc"]["link_share"] == 0


def test_repetition() -> None:
    found = features("<ul>" + "".join(f"<li class='x'><p>item {n}</p></li>" for n in range(4)) + "</ul><p>other</p>")
    assert found["item 0"]["log_same_path"] == found["item 0"]["log_same_class"] == pytest.approx(np.log1p(4))
    assert found["item 0"]["siblings_alike"] == pytest.approx(np.log1p(1))
    assert found["other"]["log_same_path"] == pytest.approx(np.log1p(1))


def test_inline_elements_are_counted() -> None:
    found = features("<p><b>one</b> <a href='/'>two</a> <a href='/'>three</a></p>")
    (row,) = found.values()
    assert row["holds_a"] == pytest.approx(np.log1p(2))
    assert row["holds_b"] == pytest.approx(np.log1p(1))
    assert row["holds_br"] == 0
    assert all(f"holds_{group.split()[0]}" in row for group in INLINE_GROUPS)


@pytest.mark.parametrize("number", range(11))
def test_real_pages_give_finite_features(number: int) -> None:
    matrix = matrix_of(pages()[number])
    assert np.isfinite(matrix).all()
    assert matrix.std(axis=0).max() > 0


def test_inherited_flags_against_a_plain_walk() -> None:
    page = pages()[3]
    tree = page.elements
    columns = [NAMES.index(f"in_{group.split()[0]}") for group in TAG_GROUPS]
    matrix = matrix_of(page)
    for index, block in enumerate(page.blocks):
        tags = {tree.tags[element] for element in tree.path(block.element)}
        expected = [any(tag in tags for tag in group.split()) for group in TAG_GROUPS]
        assert matrix[index, columns].astype(bool).tolist() == expected

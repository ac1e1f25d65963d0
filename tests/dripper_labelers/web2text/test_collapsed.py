"""The collapsed DOM: merged elements and their parents, at any depth."""

import numpy as np

from dripper.html import preprocess
from dripper_labelers.web2text.leaves import NO_NODE, CollapsedDom, Leaves, collapse

BITS = {"body": 1, "div": 2, "p": 4, "a": 8, "b": 16, "ul": 32, "li": 64}


def tags(bits: int) -> list[str]:
    return [tag for tag, bit in BITS.items() if bits & bit]


def of_text_nodes(html: str) -> tuple[CollapsedDom, Leaves]:
    tree = preprocess(html).elements
    leaves = Leaves.of_text_nodes(tree)
    return collapse(tree, leaves, BITS), leaves


def test_an_element_with_one_child_is_merged_with_it() -> None:
    """The example of the paper's figure 2: two neighbours of one semantic parent, but not of one
    DOM parent."""
    dom, leaves = of_text_nodes("<ul><li><a>one</a></li><li><div><b>two</b></div></li><li>three</li></ul>")
    assert leaves.texts == ["one", "two", "three"]
    assert [tags(each) for each in dom.leaf_tags] == [["a", "li"], ["div", "b", "li"], ["li"]]
    assert set(dom.leaf_parents) == {0}
    assert tags(dom.tags[0]) == ["body", "ul"]
    assert dom.parents[0] == NO_NODE
    assert dom.leaf_depths.tolist() == [1, 1, 1]


def test_what_has_no_text_is_not_there() -> None:
    dom, leaves = of_text_nodes("<div><p> </p><hr><p>one<br></p><p></p></div><div><select><option>x</select></div>")
    assert leaves.texts == ["one"]
    assert tags(dom.leaf_tags[0]) == ["body", "div", "p"]
    assert dom.leaf_parents.tolist() == [NO_NODE]


def test_text_beside_elements_is_a_leaf_without_elements() -> None:
    dom, leaves = of_text_nodes("<p>one <b>two</b> three</p><p>four</p>")
    assert leaves.texts == ["one", "two", "three", "four"]
    assert [tags(each) for each in dom.leaf_tags] == [[], ["b"], [], ["p"]]
    paragraph = dom.leaf_parents[0]
    assert tags(dom.tags[paragraph]) == ["p"]
    assert dom.leaf_parents.tolist() == [paragraph] * 3 + [0]
    assert (dom.first[paragraph], dom.end[paragraph], dom.depths[paragraph]) == (0, 3, 1)


def test_common_ancestors_of_neighbours() -> None:
    dom, _ = of_text_nodes("<div><p>1</p><p>2</p></div><div><div><p>3</p><p>4</p></div><p>5</p></div>")
    common = dom.common_ancestors()
    assert common.tolist() == [dom.leaf_parents[0], 0, dom.leaf_parents[2], dom.leaf_parents[4]]
    distance = dom.leaf_depths[:-1] + dom.leaf_depths[1:] - 2 * dom.depths[common]
    assert distance.tolist() == [2, 5, 2, 3]


def test_leaves_of_blocks_are_the_blocks_and_have_the_elements_that_hold_all_of_their_text() -> None:
    page = preprocess('<div><p><a href="x"><b>one</b></a></p><p>two <b>three</b></p></div><p><img src="i.png"></p>')
    leaves = Leaves.of_blocks(page)
    dom = collapse(page.elements, leaves, BITS)
    assert leaves.texts == ["one", "two three", ""]
    assert [tags(each) for each in dom.leaf_tags] == [["p", "a", "b"], ["p"], ["p"]]
    assert dom.leaf_parents[0] == dom.leaf_parents[1] != dom.leaf_parents[2]


def test_equal_paths_are_of_equal_tags_and_classes() -> None:
    dom, _ = of_text_nodes(
        '<p class="b a">1</p><p class="a b">2</p><p class=a>3</p><div>4</div><p class="a b"><b>5</b></p>'
    )
    first, second, *others = dom.leaf_paths.tolist()
    assert first == second
    assert len({first, *others}) == 4


def test_a_page_of_any_depth() -> None:
    dom, leaves = of_text_nodes("".join(f"<div>{number}" for number in range(3000)))
    assert len(leaves.texts) == 3000
    assert dom.leaf_depths[-1] == 2999
    assert dom.common_ancestors().tolist() == dom.leaf_parents[:-1].tolist()


def test_a_form_element_is_one_in_the_innermost_of_the_merged_elements() -> None:
    dom, _ = of_text_nodes("<div><input><div><p>1</p><p>2</p></div></div><form><input><p>3</p><p>4</p></form>")
    assert dom.has_input[[dom.leaf_parents[0], dom.leaf_parents[2]]].tolist() == [False, True]
    assert dom.has_input[0]


def test_leaves_of_a_page_without_text() -> None:
    assert len(Leaves.of_text_nodes(preprocess("").elements).texts) == 0
    leaves = Leaves.of_blocks(preprocess('<img src="i.png">'))
    assert leaves.texts == [""]
    assert np.array_equal(leaves.first, leaves.last)

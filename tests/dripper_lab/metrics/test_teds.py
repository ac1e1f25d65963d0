from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from dripper_lab.metrics.teds import MAX_NODES, as_html_table, teds, teds_webmainbench

ROWS = st.lists(st.lists(st.sampled_from(["", "a", "ab", "xyz"]), min_size=1, max_size=3), min_size=1, max_size=3)
Tree = tuple[str, str, tuple["Tree", ...]]


def html(rows: list[list[str]], cell: str = "td") -> str:
    lines = ("".join(f"<{cell}>{text}</{cell}>" for text in row) for row in rows)
    return f"<table><tbody>{''.join(f'<tr>{line}</tr>' for line in lines)}</tbody></table>"


def tree(rows: list[list[str]]) -> Tree:
    return ("table", "", tuple(("tr", "", tuple(("td", text, ()) for text in row)) for row in rows))


def size(forest: tuple[Tree, ...]) -> int:
    return sum(1 + size(children) for _, _, children in forest)


@cache
def forest_distance(one: tuple[Tree, ...], other: tuple[Tree, ...]) -> float:
    """The definition of tree edit distance, by recursion over the last trees of two forests."""
    if not one or not other:
        return size(one) + size(other)
    (tag, text, children), (other_tag, other_text, other_children) = one[-1], other[-1]
    rename = 1.0 if tag != other_tag else Levenshtein.normalized_distance(text, other_text)
    return min(
        1 + forest_distance(one[:-1] + children, other),
        1 + forest_distance(one, other[:-1] + other_children),
        rename + forest_distance(children, other_children) + forest_distance(one[:-1], other[:-1]),
    )


@given(ROWS, ROWS)
def test_is_the_definition(one: list[list[str]], other: list[list[str]]) -> None:
    trees = (tree(one),), (tree(other),)
    expected = 1 - forest_distance(*trees) / max(map(size, trees))
    assert teds(html(one), html(other)) == pytest.approx(expected)


@given(ROWS)
def test_a_table_scores_1_against_itself(rows: list[list[str]]) -> None:
    assert teds(html(rows), html(rows)) == teds_webmainbench(html(rows), html(rows)) == 1


def test_hand_counted_examples() -> None:
    two_by_two = html([["a", "b"], ["c", "d"]])
    assert teds(html([["a", "b"]]), two_by_two) == pytest.approx(1 - 3 / 7)  # a row and its two cells are missing
    assert teds(html([["a", "b"], ["c", "e"]]), two_by_two) == pytest.approx(1 - 1 / 7)
    assert teds(html([["a"]], "th"), html([["a"]])) == pytest.approx(1 - 1 / 3)
    assert teds(html([["a"]]).replace("<td>", '<td colspan="2">'), html([["a"]])) == pytest.approx(1 - 1 / 3)
    assert teds(two_by_two, two_by_two + html([["x"]])) == pytest.approx(1 - 3 / 10)


def test_no_table_against_one() -> None:
    assert teds("", html([["a"]])) == teds("<p>x", html([["a"]])) == 0
    assert teds("", "") == 1
    assert teds_webmainbench("", html([["a"]])) == 0
    assert teds_webmainbench("", "") == 1


def test_too_large_a_table_has_no_score() -> None:
    assert teds(html([["a"]] * MAX_NODES), html([["a"]])) is None


def test_webmainbenchs_teds_hardly_sees_a_difference() -> None:
    # Nothing in common but the shape: a tree distance of 9 for 9 cells, a label distance of at most
    # 1.
    one, other = html([["a", "b", "c"]] * 3), html([["x", "y", "z"]] * 3)
    assert teds(one, other) == pytest.approx(1 - 9 / 13)
    assert teds_webmainbench(one, other) > 0.9


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("", ""),
        ("plain", "<table><tr><td>plain</td></tr></table>"),
        ("<TABLE><tr></tr></TABLE>", "<TABLE><tr></tr></TABLE>"),
        ("|a|b|\n|:--|--:|\n|1|2|", "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"),
    ],
)
def test_tables_as_html(table: str, expected: str) -> None:
    assert as_html_table(table) == expected

"""Loops over all elements and texts of a page, the same in Python and in C."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.blocks.segment import classify, segment
from dripper.tree import loops as module
from dripper.tree.elements import HTML_VOID
from dripper.tree.loops import choose, find_joints, spread
from dripper.tree.scan import scan
from support.in_c import needs_c
from support.labelled import pages

NEEDS_C = needs_c(module)
MARKS = st.lists(st.sampled_from(["", "", "\n"]), max_size=12)


def in_both(run) -> list[object]:
    """Return what a function returns without C, and with it."""
    results = []
    for in_c in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "IN_C", in_c)
            results.append(run())
    return results


@NEEDS_C
@given(st.lists(st.sampled_from(["a", "b", "é", "漢", ""])), st.sets(st.sampled_from(["a", "é", "x"])))
def test_the_same_is_chosen(values: list[str], wanted: set[str]) -> None:
    plain, in_c = in_both(lambda: choose(values, wanted))
    assert plain == in_c == [index for index, value in enumerate(values) if value in wanted]
    places = list(range(len(values)))[::2]
    plain, in_c = in_both(lambda: choose(values, wanted, places))
    assert plain == in_c == [number for number, place in enumerate(places) if values[place] in wanted]


@NEEDS_C
@given(MARKS, st.lists(st.sampled_from(["", "a", " b", "c ", "1.", "(é", "漢\U0001f600", " "]), min_size=13))
def test_the_same_texts_may_be_one_word(marks: list[str], texts: list[str]) -> None:
    parts = [part for text in texts[: len(marks) + 1] for part in (text, "<b>")][:-1]
    plain, in_c = in_both(lambda: find_joints(parts, marks, ".", "("))
    assert plain == in_c
    for first, last in in_c:
        assert "".join(marks[first : last + 1]) == "".join(parts[2 * first + 2 : 2 * last + 2 : 2]) == ""


@NEEDS_C
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 30)), min_size=1))
def test_the_same_flags_spread(drawn: list[tuple[bool, bool, int]]) -> None:
    parents = [-1, *(min(parent, element) for element, (_, _, parent) in enumerate(drawn))]
    block = bytearray([0, *(each[0] for each in drawn)])

    def run() -> bytearray:
        splits = bytearray([0, *(each[1] for each in drawn)])
        spread(block, splits, parents, 1, len(parents))
        return splits

    plain, in_c = in_both(run)
    assert plain == in_c


@NEEDS_C
def test_pages_are_split_the_same() -> None:
    odd = scan(
        "<html>a<p> <br>b</p><table><tr><td>x</td></tr></table><i>\u2003</i><div><ul><li>漢</li></ul></div></html>",
        HTML_VOID,
    )
    for tree in (*(page.elements for page in pages()), odd):
        removed = bytearray(len(tree))
        removed[min(3, len(tree) - 1)] = 1
        plain, in_c = in_both(
            lambda tree=tree, removed=removed: segment(
                tree, tree.parts, removed, classify(tree, tree.parts, removed, columns_decide=False)
            )
        )
        assert plain == in_c


@NEEDS_C
def test_lists_that_do_not_fit_are_refused() -> None:
    flags = bytearray(2)
    for run in (
        lambda: module.loops_c.choose(["a"], {"a"}, [1]),
        lambda: module.loops_c.choose(["a"], {"a"}, ["a"]),
        lambda: module.loops_c.choose([b"a"], {"a"}, None),
        lambda: module.loops_c.find_joints(["a"], [""], "", ""),
        lambda: module.loops_c.spread(flags, flags, [0, 9], 0, 2),
        lambda: module.loops_c.spread(flags, flags, [0, 0], 0, 3),
        lambda: module.loops_c.spread(flags, flags, [0], 0, 2),
        lambda: module.loops_c.walk(["a", "<p>"], ["p"], [1], [1], [0], b"0", b"0", b"0", set()),
        lambda: module.loops_c.walk(["", "<p>", ""], ["p"], [1], [1], [1], b"0", b"0", b"0", set()),
        lambda: module.loops_c.walk(["", "<p>", ""], ["p"], [1], [1], [0], b"00", b"0", b"0", set()),
    ):
        with pytest.raises(IndexError, match="lists do not fit together"):
            run()

"""Which pages are of one template, and that its name stays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dripper.html import preprocess
from dripper.layouts import Skeleton, skeleton
from dripper.layouts.skeletons import ALIKE, N_HASHES, join_layouts

FRAME = "<body><div class=top id=t{n}><ul><li>Home</ul></div><div class='story c{n}'>{story}</div>{more}</body>"


def of(story: str, n: int = 1, more: str = "") -> Skeleton:
    return skeleton(preprocess(FRAME.format(story=story, n=n, more=more)))


def test_numbers_lengths_and_what_an_article_is_made_of_do_not_count() -> None:
    one = of("<p>One.</p>")
    others = ["<p>One.<p>Two.<p>Three.", "<h2>A</h2><p>One.<blockquote><div>Two.</div></blockquote>", "<p>a<br>b"]
    assert {of(story, n=7).layout_id for story in others} == {one.layout_id}


def test_another_frame_is_another_layout() -> None:
    names = [skeleton(preprocess(f"<div class={name}><p>One.</p></div>")).layout_id for name in ("a", "b")]
    assert names[0] != names[1]


def test_a_missing_part_joins_and_another_template_does_not() -> None:
    frame = "".join(f"<div class=part{name}><p>Part {name}.</p></div>" for name in "abcdefgh")
    whole, lacking = of("<p>One.", more=frame), of("<p>One.", more=frame[:-40].rpartition("<div")[0])
    other = skeleton(preprocess("<section><form class=q><p>Ask.</form></section>"))
    assert whole.layout_id != lacking.layout_id
    assert join_layouts([whole, other, lacking]) == {
        whole.layout_id: whole,
        lacking.layout_id: whole,
        other.layout_id: other,
    }
    assert join_layouts([lacking], [other, whole]) == {lacking.layout_id: whole}, "of an earlier batch"


def test_they_are_the_same_on_every_machine() -> None:
    made = skeleton(preprocess("<body class=x><div id=y><p>Some text 1</p></div></body>"))
    assert made.layout_id == "d513c2c6fa89bf9a"
    assert made.signature[:2].tolist() == [472137347, 64680538]
    assert skeleton(preprocess("")).signature.tolist() == [0] * N_HASHES


@given(st.lists(st.lists(st.integers(0, 2), min_size=N_HASHES, max_size=N_HASHES), max_size=8), st.integers(0, 8))
def test_layouts_that_are_known_keep_their_names(signatures: list[list[int]], n: int) -> None:
    made = [Skeleton(str(i), np.array(values, np.int32)) for i, values in enumerate(signatures)]
    before = join_layouts(made[:n])
    known = [each for each in made[:n] if before[each.layout_id] is each]
    layouts = join_layouts(made, known)
    assert all(layouts[each.layout_id] is each for each in known)
    for each in made:
        layout = layouts[each.layout_id]
        assert layouts[layout.layout_id] is layout
        assert (each.signature == layout.signature).mean() >= ALIKE

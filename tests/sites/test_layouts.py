"""Which pages are of one template, and that its name stays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dripper.html import preprocess
from dripper.sites import Skeleton, skeleton
from dripper.sites.layouts import ALIKE, N_HASHES, join_layouts

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
    names = join_layouts([whole, other, lacking])
    assert names == {
        whole.layout_id: whole.layout_id,
        lacking.layout_id: whole.layout_id,
        other.layout_id: other.layout_id,
    }


def test_they_are_the_same_on_every_machine() -> None:
    made = skeleton(preprocess("<body class=x><div id=y><p>Some text 1</p></div></body>"))
    assert made.layout_id == "d513c2c6fa89bf9a"
    assert made.signature[:2].tolist() == [472137347, 64680538]
    assert skeleton(preprocess("")).signature.tolist() == [0] * N_HASHES


@given(st.lists(st.lists(st.integers(0, 2), min_size=N_HASHES, max_size=N_HASHES), max_size=8), st.integers(0, 8))
def test_later_skeletons_change_no_earlier_name(signatures: list[list[int]], n: int) -> None:
    made = [Skeleton(str(i), np.array(values, np.int32)) for i, values in enumerate(signatures)]
    names, before = join_layouts(made), join_layouts(made[:n])
    assert {layout_id: names[layout_id] for layout_id in before} == before
    by_id = {each.layout_id: each.signature for each in made}
    for layout_id, name in names.items():
        assert names[name] == name
        assert int(name) <= int(layout_id)
        assert (by_id[layout_id] == by_id[name]).mean() >= ALIKE

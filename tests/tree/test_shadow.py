"""Shadow roots that a page declares are attached, with their slots filled."""

import pytest

from dripper.html import preprocess


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        ('<my-a><template shadowrootmode="open"><h1>A</h1><p>b</p></template></my-a><p>c', ["A", "b", "c"]),
        ("<my-a><template shadowrootmode=closed><p>a</p><slot></slot><p>z</p></template><p>b</my-a>", ["a", "b", "z"]),
        (
            "<my-a><template shadowrootmode=open><h1><slot name=t>none</slot></h1><slot>none</slot></template>"
            "<p>text</p><b slot=t>T</b></my-a>",
            ["T", "text"],
        ),
        ("<my-a><template shadowrootmode=open><p><slot>as it is</slot></p></template> </my-a>", ["as it is"]),
        (
            "<my-a><template shadowrootmode=open><my-b><template shadowrootmode=open>[<slot></slot>]</template><slot>"
            "</slot></my-b></template>light</my-a>",
            ["[light]"],
        ),
        # No browser shows content outside of the slots.
        ("<p>a</p><my-a><template shadowrootmode=open><p>b</p></template><p>c</p>d</my-a>", ["a", "b"]),
        (
            "<p>a</p><my-a><template shadowrootmode=open><slot name=t></slot></template>d<p slot=t>b</p></my-a>",
            ["a", "b"],
        ),
        # Templates that nothing attaches show nothing, in a root neither.
        ("<template><p>a</p></template><p>b", ["b"]),
        ("<my-a><template shadowrootmode=open><template><p>a</p></template><p>b</p></template></my-a>c", ["b", "c"]),
        ("</template><my-a><template shadowrootmode=open><p>b", ["b"]),
    ],
)
def test_what_a_component_shows_is_read(page, texts):
    assert [block.text for block in preprocess(page).blocks] == texts


def test_other_profiles_know_no_shadow_roots():
    page = "<my-a><template shadowrootmode=open><p>a</p></template></my-a><p>b"
    assert [block.text for block in preprocess(page, "paper").blocks] == ["b"]


def test_components_in_each_other_cost_no_more_than_others():
    page = "<a-b><template shadowrootmode=open>" * 2000 + "x<slot></slot>" + "</template>y</a-b>" * 2000
    assert preprocess(page).blocks

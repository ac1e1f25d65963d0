"""Hidden text stays out; text that a person can open, or that scripts show, stays in."""

from collections import Counter

import pytest

import dripper
from dripper.html import preprocess
from dripper.settings import Settings
from dripper.tree.letters import drop_shapeless
from support.visibility import Case, is_right, read_cases, write_page

CASES = read_cases()
LONG = "<p>" + "visible words " * 40 + "</p>"


@pytest.mark.parametrize("case", CASES, ids=[f"{case['kind']}: {case['name']}" for case in CASES])
def test_a_page_is_what_a_person_sees(case: Case) -> None:
    page = preprocess(write_page(case))
    texts = " ".join(block.text for block in page.blocks)
    assert is_right(case, texts)
    if "input" not in case["html"]:
        assert is_right(case, page.mapping_html)


def test_there_are_enough_cases() -> None:
    assert Counter(case["kind"] for case in CASES) >= Counter(hidden=60, folded=20, later=10, shown=10)


def test_what_is_left_out_is_counted() -> None:
    assert preprocess(f"{LONG}<p hidden>12 letters.</p><p>a</p>").hidden_characters == 11
    assert preprocess(LONG).hidden_characters == 0


def test_what_is_much_of_the_page_is_shown() -> None:
    hidden = "<p style='opacity:0'>" + "a story that fades in " * 4 + "</p>"
    page = preprocess(f"<p>{'words ' * 30}</p>" + 6 * hidden)
    assert len(page.blocks) == 7
    assert preprocess(f"<p>{'words ' * 90}</p>" + hidden).hidden_characters > 0


def test_flags_and_embeddings_stay() -> None:
    wales = "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f"
    kept = f"<p>{wales} \u202b\u05d0\u202c \u2067\u05d1\u2069 \u200f</p>"
    assert drop_shapeless(kept.encode()).decode() == kept
    smuggled = f"{wales}\U000e0041<p>\u2067a<p>b\u2069 \u202dc\u202c &#917601; &#x2066; d"
    assert drop_shapeless(smuggled.encode()).decode() == f"{wales}<p>a<p>b c   d"


@pytest.mark.parametrize(
    "made",
    [
        lambda n: "<style>" + "".join(f".a{i}{{display:none}}" for i in range(n)) + "</style>" + "<p class=a1>b" * n,
        lambda n: "<style>" + "{display:none" * n + "</style>" + LONG,
        lambda n: "<style>" + "@media screen{" * n + ".a{display:none}" + "}" * n + "</style><p class=a>" + LONG,
        lambda n: "<div style=visibility:hidden>" * n + LONG,
        lambda n: LONG + "<div style=opacity:0><button>more</button>" * n,
        lambda n: "<p style='" + "opacity:0;" * n + "'>a</p>" + LONG,
        lambda n: "".join(f"<a href='#b{i}'>c</a><div id=b{i} hidden>d</div>" for i in range(n)) + LONG,
    ],
)
def test_hostile_pages_are_read(made) -> None:
    assert preprocess(made(2_000)).blocks


def test_the_setting_keeps_hidden_text_and_the_extraction_counts_it() -> None:
    page = f"<article><h1>Harbour</h1>{LONG}<p hidden>SECRET words</p>{LONG}</article>"
    dropped, kept = dripper.extract(page), dripper.extract(page, settings=Settings(html={"hidden": "keep"}))
    assert "SECRET" not in dropped.markdown
    assert "SECRET" in kept.markdown
    assert (dropped.hidden_chars, kept.hidden_chars) == (12, 0)

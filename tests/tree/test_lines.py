"""Elements that a browser sets in one line are one block, with one text."""

import pytest

from dripper.html import preprocess, to_markdown, to_text
from dripper.tree.lines import join_lines


def texts(html, profile="dripper"):
    return [" ".join(block.text.split()) for block in preprocess(html, profile).blocks]


SENTENCES = [
    (
        "<p>a <{0}>b</{0}> c",
        "a b c",
        "ruby rb del ins bdi data tt slot output o:p g-emoji relative-time",
    ),
    ("<p>a <{0}><m-x>b</m-x></{0}> c", "a b c", "mjx-container span x-y"),
    ("<p>a <b><{0}>b</{0}></b> c", "a b c", "g-emoji ins"),
    ("<p>a<{0}>b c", "ab c", "wbr"),
    ("<p>a <svg><{0}></{0}></svg> c", "a c", "path use"),
    ("<p>a <{0}><option>b<option>c</{0}> d", "a d", "select"),
]


@pytest.mark.parametrize(
    ("html", "text"), [(html.format(name), text) for html, text, of in SENTENCES for name in of.split()]
)
def test_a_sentence_is_one_block_but_with_other_profiles(html, text):
    assert texts(html) == [text]
    assert texts(html, "paper") != [text] or "<option>" in html


@pytest.mark.parametrize(
    ("html", "blocks"),
    [
        ("<x-card>a</x-card><x-card>b</x-card>", ["a", "b"]),
        ("<div>a<x-card><p>b</p></x-card>c</div>", ["a", "b", "c"]),
        ("<p>a <del>b<p>c</p></del>", ["a b", "c"]),
        ("<label>Wood <select><option>Oak<option>Ash</select></label>", ["Wood", "Oak Ash"]),
        ("<a>a</a><a><svg><path></path></svg> b</a>", ["a", "b"]),
    ],
)
def test_what_stands_alone_stays_a_block(html, blocks):
    assert texts(html) == blocks


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ruby>柳<rp>（</rp><rt>やなぎ</rt><rp>）</rp></ruby>が", "柳(やなぎ)が"),
        ("古い<ruby><rb>水車</rb><rt> すい </rt></ruby>の", "古い水車(すい)の"),
        ("<ruby>水<rt>すい</rt>車<rt>しゃ</rt></ruby>は", "水(すい)車(しゃ)は"),
        ("<ruby>柳<rt></rt></ruby>が", "柳が"),
    ],
)
def test_annotations_are_in_parentheses(html, text):
    assert texts(f"<p>{html}") == [text]
    assert to_text(f"<p>{html}") == text
    assert "(" not in texts(f"<p>{html}", "paper")


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("水車は\n  三十年、\n誰も", "水車は三十年、誰も"),
        ("물레\n방아", "물레\n방아"),
        ("水車 小屋", "水車 小屋"),
        ("水車\nmill", "水車\nmill"),
        ("un\u00adused\u200b \ufeffté", "unused té"),
        ("می\u200cخواهم 👩\u200d🌾", "می\u200cخواهم 👩\u200d🌾"),
    ],
)
def test_what_nobody_sees_is_nothing(text, joined):
    assert join_lines(text) == joined
    assert to_text(f"<p>{text}") == " ".join(joined.split())


@pytest.mark.parametrize(
    ("html", "blocks"),
    [
        ("<p>When </p><math><mi>a</mi></math>, there are two", ["When a, there are two"]),
        ("<p>When.</p><math><mi>a</mi></math> there are two", ["When.", "a there are two"]),
        ("<p>When</p>so<math><mi>a</mi></math> there are two", ["When", "soa there are two"]),
    ],
)
def test_a_paragraph_that_breaks_off_before_a_formula_goes_on(html, blocks):
    assert texts(f"<div>{html}</div>") == blocks


LINE = '<div class="t m0 x0 h1 y1 ff1">{}</div>'
PLACED = '<p style="position:absolute;top:120px;left:108px;white-space:nowrap" class="ft00">{}</p>\n'


@pytest.mark.parametrize("line", [LINE, PLACED])
def test_lines_of_a_printed_sheet_are_paragraphs(line):
    lines = ["The mill had been empty for thir-", "ty years, when the town and its <b>co-</b>", "operative bought it.",
             "Work began.", "The wheel was hard, and"]  # fmt: skip
    page = f"<main>{''.join(map(line.format, lines))}</main><p>Menu"
    assert [block.text for block in preprocess(page).blocks] == [
        "The mill had been empty for thirty years, when the town and its co- operative bought it.",
        "Work began.",
        "The wheel was hard, and",
        "Menu",
    ]


def test_what_is_hidden_by_its_place_is_no_line_of_a_sheet():
    page = '<div style="position:absolute;top:0;width:1px;white-space:nowrap"><div>a</div></div><p>b'
    assert "position" in preprocess(page).mapping_html


@pytest.mark.parametrize(
    ("html", "text", "markdown"),
    [
        (
            "<p style='white-space: pre-wrap'>One\n two <b>x\ny</b>\n\nz",
            "One\ntwo x\ny\n\nz",
            "One  \ntwo **x  \ny**\n\nz\n",
        ),
        ("<div style='white-space:pre-line'>\n<p>a\n<p>b\nc</div>", "a\n\nb\nc", "a\n\nb  \nc\n"),
        ("<h2 style='white-space:pre'>a\nb</h2>", "a\nb", "## a b\n"),
        ("<p style='white-space:nowrap'>a\nb", "a b", "a b\n"),
        ("<p style='white-space:pre'><code>a\nb</code>", "a b", "`a b`\n"),
    ],
)
def test_lines_that_a_page_shows_as_written_stay(html, text, markdown):
    assert to_text(html) == text
    assert to_markdown(html) == markdown


def test_what_word_leaves_in_a_cell_lays_out_no_table():
    page = "<table><tr><td>{}</td><td>Oak paddle</td></tr></table>"
    assert texts(page.format("<o:p><p></o:p></p>")) == ["Oak paddle"]
    assert preprocess(page.format("<o:p><p></o:p></p>")).mapping_html.startswith(
        "<html><head></head><body><table _item"
    )
    assert "<td _item" in preprocess(page.format("<o:p><p>a</o:p></p>")).mapping_html


def test_a_text_has_no_control_characters():
    assert to_text("<p>b\x07ell un\u00adused\x93 a\x7fb\tc") == "bell unused ab c"

"""Pages that are refused before parsing. Nothing close to a real page is."""

import pytest

import dripper
from dripper.decode.charset import to_utf8
from dripper.errors import ErrorCode, PageError
from dripper.tree.parser import DEFAULT_LIMITS, ParserLimits, refuse_costly
from support.labelled import labelled_pages

MAX_ATTRIBUTES = DEFAULT_LIMITS.attributes


def distinct(unit: str, count: int = 20_000) -> str:
    """Return a text n times, each with a number in it."""
    return "".join(map(unit.format, range(count)))


@pytest.mark.parametrize("page", labelled_pages(), ids=lambda page: page.id)
def test_real_pages_pass(page: "object") -> None:
    refuse_costly(to_utf8(page.html).utf8)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<p " + distinct("a{} ", MAX_ATTRIBUTES + 10) + ">", "a tag with about 3001. attributes; the limit is 30000"),
        ("<p " + distinct("a{}<b ", MAX_ATTRIBUTES + 10) + ">", "a tag with about 3001. attributes"),
        ("<p " + distinct("a{}='>' ", MAX_ATTRIBUTES + 10) + ">", "a tag with about 3001. attributes"),
        ("".join(f"<body {distinct(f'b{n}_{{}} ', 8_000)}>" for n in range(4)), "attributes; the limit is 30000"),
        (distinct("<hTmL a{}>", MAX_ATTRIBUTES + 10), "a tag with about 30001 attributes"),
        ("<div>" * 40_000, "elements nested too deeply: .* steps and more; the limit is 400000000"),
        ("<DIV>" * 40_000, "elements nested too deeply"),
        ("<DIV>\u4e2d\ud800" * 40_000, "elements nested too deeply"),
        ("<ul>" * 60_000, "elements nested too deeply"),
        (distinct("<p><i class=c{}>"), "formatting elements without an end: .* the limit is 1000000"),
        (distinct("<P><FONT COLOR={}>"), "formatting elements without an end"),
        (distinct("<i class=c{}>"), "formatting elements without an end"),
        (distinct("<i class=c{}><!--</i>--><p>"), "formatting elements without an end"),
        (distinct('<i class=c{}><p title="</i>">'), "formatting elements without an end"),
        (distinct("<i class=c{}><textarea></i></textarea><p>"), "formatting elements without an end"),
        ("<p><b><i><u><s>" + "<p>x" * 300_000, "formatting elements without an end"),
    ],
    ids=[
        *("attributes", "attributes with a less-than sign", "attributes with a greater-than sign"),
        *("body", "html", "depth", "capitals", "no ASCII", "lists", "formatting", "formatting in capitals"),
        *(
            "formatting in lines",
            "end in a comment",
            "end in a value",
            "end in a text",
            "few, repeated",
        ),
    ],
)
def test_what_grows_with_the_square_is_refused(html: str, words: str) -> None:
    with pytest.raises(PageError, match=words) as caught:
        refuse_costly(html.encode("utf-8", "ignore"))
    assert caught.value.code is ErrorCode.PARSE_FAILED


@pytest.mark.parametrize(
    "html",
    [
        "<p " + distinct("a{} ", MAX_ATTRIBUTES - 10) + ">",
        "<p title='" + "a " * (MAX_ATTRIBUTES + 10) + "'>",
        "<script>if (a <b " + "c " * (MAX_ATTRIBUTES + 10) + ")</script>",
        "<select>" + "<option>x" * 100_000 + "</select>",
        "<select>" * 60_000,
        "<svg>" + "<path d='M0'/>" * 60_000 + "</svg>",
        "<script>" + "'<div>'" * 60_000 + "</script>",
        "<body a b>" * (MAX_ATTRIBUTES // 2 - 1),
        "<div>x</div>" * 100_000,
        "<p>x" * 100_000,
        "<span>x</span>" * 60_000,
        "<tr><td>x" * 50_000,
        "<!-- " + "<b <body " * 100_000,
        distinct("<p><i class=c{}>x</i>"),
        distinct("<a href={}><p>"),
        "<table>" + distinct("<tr><td><i class=c{}>x", 2_000) + "</table>",
        "<p><font color=red>x" * 20_000,
        "",
    ],
    ids=[
        *(
            "attributes",
            "value",
            "script",
            "options",
            "choices",
            "drawing",
            "text",
            "bodies",
            "siblings",
            "paragraphs",
            "inline",
            "cells",
            "tags in tags",
            "closed formatting",
        ),
        *("links", "formatting in cells", "equal formatting", "nothing"),
    ],
)
def test_what_is_only_large_passes(html: str) -> None:
    refuse_costly(html.encode())


@pytest.mark.parametrize(
    ("html", "limits"),
    [
        ("<p " + distinct("a{} ", 200) + ">", ParserLimits(attributes=100)),
        ("<div>" * 60, ParserLimits(steps=1000)),
        (distinct("<p><i class=c{}>", 60), ParserLimits(repeats=1000)),
    ],
    ids=["attributes", "depth", "formatting"],
)
def test_limits_are_the_callers(html: str, limits: ParserLimits) -> None:
    refuse_costly(html.encode())
    with pytest.raises(PageError, match=r"the limit is (100|1000)$") as caught:
        refuse_costly(html.encode(), limits)
    assert caught.value.code is ErrorCode.PARSE_FAILED


@pytest.mark.parametrize("n_options", [21_000, 160_000])
def test_a_page_with_many_choices_is_extracted(n_options: int) -> None:
    html = f"<p>{'A paragraph of a catalogue. ' * 20}<select>{'<option>x' * n_options}</select>"
    assert dripper.extract(html).error_code is None


@pytest.mark.parametrize("page", labelled_pages(), ids=lambda page: page.id)
def test_real_pages_cost_a_hundredth_of_the_limits(page: "object") -> None:
    limits = ParserLimits(*(limit // 100 for limit in DEFAULT_LIMITS))
    refuse_costly(to_utf8(page.html).utf8, limits)  # type: ignore[attr-defined]

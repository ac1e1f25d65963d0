"""What is refused before it is parsed, and that nothing near real pages is."""

import pytest

from dripper.errors import ErrorCode, PageError
from dripper.html.tree.parser import DEFAULT_LIMITS, ParserLimits, refuse_costly
from dripper.warc import to_utf8
from support.labelled import labelled_pages

MAX_ATTRIBUTES, MAX_OPTIONS = DEFAULT_LIMITS.attributes, DEFAULT_LIMITS.options


def distinct(unit: str, count: int = 20_000) -> str:
    """Return a text so many times, with a number in it."""
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
        ("<select>" + "<option>" * (MAX_OPTIONS + 1), "a select with 20001 options; the limit is 20000"),
        ("<div>" * 40_000, "elements nested too deeply: .* steps and more; the limit is 400000000"),
        ("<DIV>" * 40_000, "elements nested too deeply"),
        ("<SELECT>\u4e2d\ud800" + "<Option>" * (MAX_OPTIONS + 1), "a select with 20001 options; the limit is 20000"),
        ("<ul>" * 60_000, "elements nested too deeply"),
        (distinct("<p><i class=c{}>"), "formatting elements without an end: .* the limit is 1000000"),
        (distinct("<P><FONT COLOR={}>"), "formatting elements without an end"),
        (distinct("<i class=c{}>"), "formatting elements without an end"),
        (distinct("<i class=c{}><!--</i>--><p>"), "formatting elements without an end"),
        (distinct('<i class=c{}><p title="</i>">'), "formatting elements without an end"),
        (distinct("<i class=c{}><textarea></i></textarea><p>"), "formatting elements without an end"),
        (distinct("<i class=c{}><table><td></i></table><p>"), "formatting elements without an end"),
        ("<p><b><i><u><s>" + "<p>x" * 300_000, "formatting elements without an end"),
    ],
    ids=[
        *("attributes", "attributes with a less-than sign", "attributes with a greater-than sign"),
        *("options", "depth", "capitals", "no ASCII", "lists", "formatting", "formatting in capitals"),
        *(
            "formatting in lines",
            "end in a comment",
            "end in a value",
            "end in a text",
            "end in a cell",
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
        ("<select>" + "<option>" * (MAX_OPTIONS - 1) + "</select>") * 3,
        "<div>x</div>" * 100_000,
        "<p>x" * 100_000,
        "<span>" * 60_000,
        "<tr><td>x" * 50_000,
        distinct("<p><i class=c{}>x</i>"),
        distinct("<a href={}><p>"),
        "<table>" + distinct("<tr><td><i class=c{}>x", 2_000) + "</table>",
        "<p><font color=red>x" * 20_000,
        "",
    ],
    ids=[
        *("attributes", "value", "script", "options", "siblings", "paragraphs", "inline", "cells", "closed formatting"),
        *("links", "formatting in cells", "equal formatting", "nothing"),
    ],
)
def test_what_is_only_large_passes(html: str) -> None:
    refuse_costly(html.encode())


@pytest.mark.parametrize(
    ("html", "limits"),
    [
        ("<p " + distinct("a{} ", 200) + ">", ParserLimits(attributes=100)),
        ("<select>" + "<option>" * 60, ParserLimits(options=50)),
        ("<div>" * 60, ParserLimits(steps=1000)),
        (distinct("<p><i class=c{}>", 60), ParserLimits(repeats=1000)),
    ],
    ids=["attributes", "options", "depth", "formatting"],
)
def test_limits_are_the_callers(html: str, limits: ParserLimits) -> None:
    refuse_costly(html.encode())
    with pytest.raises(PageError, match=r"the limit is (100|50|1000)$") as caught:
        refuse_costly(html.encode(), limits)
    assert caught.value.code is ErrorCode.PARSE_FAILED

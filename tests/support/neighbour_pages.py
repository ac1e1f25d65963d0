"""Constructs of today's HTML, each in a short page, with its display in a browser."""

import re
from collections.abc import Mapping
from typing import NamedTuple

ADDRESS = "https://example.org/notes/mill.html"
_BEFORE = (
    "<p>The mill at the river bend had been empty for thirty years when the village bought it, and nobody knew whether "
    "the wheel would ever turn again. The council asked for three offers and took the cheapest.</p>"
    "<p>Work began in April, as soon as the water had gone down. The old beams were taken out one by one, measured, and "
    "laid in the yard, where the carpenters looked at each of them for rot and for the marks of worms.</p>"
)
_AFTER = (
    "<p>In the second summer the wheel was hung, and on a Sunday in August the sluice was opened for the first time. Some "
    "four hundred people came, most of them on foot, and the miller's granddaughter cut the ribbon.</p>"
    "<p>Since then the mill has ground a ton of rye each week. The bakery beside it sells bread on Fridays, and guests can "
    "see the stones at work from a gallery that runs around the whole of the upper floor.</p>"
)


class Case(NamedTuple):
    """A construct. checks: (expression, the words of the table if it fails); with `!` in front the
    expression must not be there. part: which part of an extractor's answer they are about.
    is_marked: only Markdown can show it, plain text cannot."""

    name: str
    html: str
    checks: tuple[tuple[str, str], ...]
    head: str = ""
    part: str = "markdown"
    is_marked: bool = False
    title: str = "<title>The mill at the river bend</title>"
    heading: str = "<h1>The mill at the river bend</h1>"


def write_page(case: Case) -> str:
    """Return the page: the construct between the paragraphs of an article."""
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{case.title}{case.head}</head><body>'
        '<header><nav><a href="/">Home</a> <a href="/about">About</a></nav></header>'
        f"<main><article>{case.heading}{_BEFORE}{case.html}{_AFTER}</article></main>"
        "<footer><p>© 2026 Village council</p></footer></body></html>"
    )


def judge(case: Case, answer: Mapping[str, str | None]) -> str:
    """Return `right`, or the words of the first failing check; a dash for a reader without this
    part.

    Args:
        answer: Has `markdown`, or `text` of a reader that gives text alone, `title`, `author`.
    """
    found = answer.get(case.part)
    if found is None and case.part == "markdown" and not case.is_marked:
        found = answer.get("text")
    if found is None:
        return "–"
    for expression, words in case.checks:
        wanted = not expression.startswith("!")
        if bool(re.search(expression.removeprefix("!"), found, re.DOTALL)) != wanted:
            return words
    return "right"


def _shown(*texts: str) -> tuple[tuple[str, str], ...]:
    return tuple((text, "text lost") for text in texts)


def _not_shown(*texts: str) -> tuple[tuple[str, str], ...]:
    return tuple((f"!{text}", "shown though hidden") for text in texts)


_FORTY = (
    "reads like any other paragraph of the article, with enough ordinary words that nobody would take it for a menu, a "
    "notice or an advertisement, and with a second clause that has as many words again as the first."
)
CODE = "for wheel in wheels:\n    if wheel.turns:\n        print('```')\n"
_MATH = "<mfrac><mi>a</mi><mi>b</mi></mfrac>"
_ORDER = "in another order"

CASES = (
    Case(
        "`select` with `selectedcontent`",
        "<p>Which one?</p><select><button><selectedcontent></selectedcontent></button><option>Water <b>mill</b></option>"
        "<option>Wind wheel</option></select>",
        (("!Water.*Water", "the chosen option twice"), ("!Wind", "the other options too")),
    ),
    Case(
        "`datalist`", "<p>Grain: <input list=g><datalist id=g><option>Spelt flakes</datalist></p>", _not_shown("Spelt")
    ),
    Case(
        "declarative shadow root",
        f"<div><template shadowrootmode=open><p>Shadowed text {_FORTY}</p></template></div>",
        _shown("Shadowed text"),
    ),
    Case(
        "shadow root with slots in another order",
        f"<div><template shadowrootmode=open><slot name=b></slot><slot name=a></slot></template><p slot=a>Alder {_FORTY}</p>"
        f"<p slot=b>Birch {_FORTY}</p></div>",
        (*_shown("Alder", "Birch"), ("Birch.*Alder", _ORDER)),
    ),
    Case(
        "shadow root without a slot for the text outside",
        f"<div><template shadowrootmode=open><p>Inner {_FORTY}</p></template><p>Outer {_FORTY}</p></div>",
        (*_shown("Inner"), *_not_shown("Outer")),
    ),
    Case("`template`", f"<template><p>Templated text {_FORTY}</p></template>", _not_shown("Templated")),
    Case("`hidden`", f"<p hidden>Hidden text {_FORTY}</p>", _not_shown("Hidden text")),
    Case(
        "`hidden=until-found` (a search shows it)",
        f'<p hidden="until-found">Findable text {_FORTY}</p>',
        _shown("Findable"),
    ),
    Case("a closed `dialog`", f"<dialog><p>Dialog text {_FORTY}</p></dialog>", _not_shown("Dialog text")),
    Case("an open `dialog`", f"<dialog open><p>Dialog text {_FORTY}</p></dialog>", _shown("Dialog text")),
    Case(
        "`popover` that nothing opens",
        f"<div popover id=x><p>Popped text {_FORTY}</p></div>",
        _not_shown("Popped"),
    ),
    Case(
        "closed `details` (a click shows it)",
        f"<details><summary>Who paid</summary><p>Folded text {_FORTY}</p></details>",
        (*_shown("Who paid", "Folded text"), ("Who paid.*Folded", _ORDER)),
    ),
    Case(
        "`search` beside text",
        f"<p>Intro of it<search><p>Find</p></search><section>Section text {_FORTY}</section>",
        _shown("Section text"),
    ),
    Case(
        "an element of its own (`mill-note`)",
        f"<mill-note><p>Custom text {_FORTY}</p></mill-note>",
        _shown("Custom text"),
    ),
    Case(
        "`noscript`",
        "<noscript><p>Please turn on scripts to see the wheel turn.</p></noscript>",
        _not_shown("turn on scripts"),
    ),
    Case(
        "text within `video`, `canvas`, `progress`",
        "<video controls src=v.mp4>Your browser has no video.</video><canvas>No canvas here.</canvas>"
        "<p>Done: <progress value=3 max=10>thirty percent</progress></p>",
        _not_shown("no video", "No canvas", "thirty percent"),
    ),
    Case(
        "`display: none` in a style sheet",
        f'<div class="x1"><p>Styled text {_FORTY}</p></div>',
        _not_shown("Styled text"),
        "<style>.x1 { color: red; display: none }</style>",
    ),
    Case(
        "`aria-hidden` (a browser shows it)", f'<p aria-hidden="true">Silent text {_FORTY}</p>', _shown("Silent text")
    ),
    Case(
        "`legend` of a `fieldset`",
        f"<fieldset><legend>Opening hours</legend><p>Fieldset text {_FORTY}</p></fieldset>",
        _shown("Opening hours", "Fieldset text"),
    ),
    Case(
        "`base`, link",
        '<p>See <a href="plan.html">the plan of the mill</a> for this.</p>',
        ((r"\]\(<?https://cdn\.example\.net/x/plan\.html", "another address"),),
        '<base href="https://cdn.example.net/x/">',
        is_marked=True,
    ),
    Case(
        "link to an address with a bracket and a blank",
        '<p>See <a href="https://example.org/a b(c">the plan of the mill</a> for this.</p>',
        (
            (
                r"\]\((?:<https://example\.org/a(?: |%20)b\(c>|https://example\.org/a%20b(?:\\\(|%28|\()c\))",
                "another address",
            ),
            (r"!%20b\(c\)", "a link that Markdown cannot read"),
        ),
        is_marked=True,
    ),
    Case(
        "a link around blocks",
        '<a href="/plan"><h2>The plan</h2><p>Drawn by the miller himself in one long night of the first winter.</p></a>',
        (*_shown("The plan", "Drawn by"), (r"!\[[^\]]*\n\s*\n", "a link that Markdown cannot read")),
        is_marked=True,
    ),
    Case(
        "`srcset` with commas in addresses",
        '<figure><img src="s.jpg" srcset="i,w_400.jpg 400w, i,w_800.jpg 800w" alt="The wheel" width=800 height=600></figure>',
        (
            (r"\!\[[^\]]*\]\(", "image lost"),
            (r"\(<?(?:https://example\.org/notes/)?(?:s\.jpg|i(?:,|%2C)w_[48]00\.jpg)", "another address"),
        ),
        is_marked=True,
    ),
    Case(
        "`picture` with a placeholder and `data-src`",
        '<figure><picture><source data-srcset="w.webp 800w" type="image/webp">'
        '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" '
        'data-src="w.jpg" alt="The wheel" width=800 height=600></picture></figure>',
        ((r"(?:w\.jpg|w\.webp)", "image lost"),),
        is_marked=True,
    ),
    Case(
        "AMP: `amp-img`",
        '<amp-img src="wheel.jpg" alt="The wheel" width=800 height=600 layout=responsive></amp-img>',
        ((r"wheel\.jpg", "image lost"),),
        is_marked=True,
    ),
    Case(
        "`figcaption`",
        '<figure><img src="w.jpg" alt="" width=800 height=600>'
        "<figcaption>The wheel in May, before it was hung</figcaption></figure>",
        (("The wheel in May", "caption lost"), ("!wheel in May.*wheel in May", "caption twice")),
    ),
    Case(
        "`ol` with `reversed` and `value`",
        '<ol start="5" reversed><li>Alder wood</li><li value="9">Birch wood</li><li>Cedar wood</li></ol>',
        ((r"5[.)\\]* *Alder wood.*9[.)\\]* *Birch wood.*8[.)\\]* *Cedar wood", "other numbers"),),
        is_marked=True,
    ),
    Case(
        "`ol` with `start`",
        '<ol start="5"><li>Alder wood</li><li>Birch wood</li></ol>',
        ((r"5[.)] *Alder wood.*6[.)] *Birch wood", "other numbers"),),
        is_marked=True,
    ),
    Case(
        "`tfoot` before `tbody`",
        "<table><thead><tr><th>Grain</th><th>Tons</th></tr></thead><tfoot><tr><td>Sum</td><td>9</td></tr></tfoot>"
        "<tbody><tr><td>Rye</td><td>4</td></tr><tr><td>Oats</td><td>5</td></tr></tbody></table>",
        (*_shown("Rye", "Sum"), ("Oats.*Sum", _ORDER)),
    ),
    Case(
        "`rowspan`",
        "<table><tr><th>Year</th><th>Grain</th><th>Tons</th></tr><tr><td rowspan=2>2024</td><td>Rye</td><td>4</td></tr>"
        "<tr><td>Oats</td><td>5</td></tr></table>",
        ((r"\|[^|\n]*\| *Oats *\| *5 *\|", "cells in other columns"),),
        is_marked=True,
    ),
    Case(
        "`caption` of a table",
        "<table><caption>Grain of two years</caption><tr><th>Grain</th><th>Tons</th></tr><tr><td>Rye</td><td>4</td></tr></table>",
        (("Grain of two years", "caption lost"), ("Grain of two years.*Rye", _ORDER)),
    ),
    Case(
        "a cell with a bar",
        "<table><tr><th>Sign</th><th>Meaning</th></tr><tr><td>a|b</td><td>either of them</td></tr></table>",
        ((r"a(?:\\\||&#124;|&#x7c;)b *\| *either", "a cell that Markdown cuts"),),
        is_marked=True,
    ),
    Case(
        "MathML with TeX",
        f'<p>It is <math display="block"><semantics>{_MATH}<annotation encoding="application/x-tex">\\frac{{a}}{{b}}</annotation>'
        "</semantics></math> for all wheels.</p>",
        (
            (r"\\frac\s*\{?a\}?\s*\{?b\}?|a\s*/\s*b|\{a\}\{b\}", "formula lost"),
            (r"!ab *\\?\\frac", "formula and its letters"),
        ),
    ),
    Case(
        "MathML without TeX",
        f"<p>It is <math><mrow>{_MATH}<mo>+</mo><msup><mi>x</mi><mn>2</mn></msup></mrow></math> for all wheels.</p>",
        (
            (r"frac\s*\{?a\}?\s*\{?b\}?|a\)?\s*/\s*\(?b", "its letters in a row"),
            (r"x\s*\^\s*\{?2", "its letters in a row"),
        ),
    ),
    Case(
        "`ruby` with brackets",
        "<p>The sign reads <ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rp>(</rp><rt>じ</rt><rp>)</rp></ruby> above the door.</p>",
        (("漢", "text lost"), ("!漢かん|字じ", "reading and text mixed"), ("!漢 字", "a blank within a word")),
    ),
    Case(
        "`wbr` and a soft hyphen",
        "<p>They called it super<wbr>califragil&shy;istic all the time.</p>",
        (
            ("super\\W?califragil\\W?istic", "text lost"),
            ("!super\\s+cali", "a blank within a word"),
            ("supercalifragil(?:istic)", "a soft hyphen within a word"),
        ),
    ),
    Case(
        "`br` in an address",
        "<address>Mill Lane 4<br>12345 Hamford<br>Open on Fridays</address>",
        (*_shown("Mill Lane", "Hamford"), ("!Lane 412345|HamfordOpen", "words joined")),
    ),
    Case(
        "`q`",
        "<p>She said <q>it will turn</q> and left the room at once.</p>",
        ((r"[\"“”«'‘„]it will turn", "quotation marks lost"),),
    ),
    Case(
        "`sub`",
        "<p>The tank holds H<sub>2</sub>O and nothing else at all.</p>",
        ((r"H(?:\\?<sub>|\\?~|_\{?)?2(?:</sub>|\\?~|\})?O", "a blank within a word"),),
    ),
    Case(
        "a mark of a note",
        '<p>It was sold for ten pounds<sup><a href="#n1" id="r1">1</a></sup> in 1890.</p>'
        '<ol><li id="n1">Ledger of the parish, page '
        '12. <a href="#r1">↩</a></li></ol>',
        (("!pounds1", "number joined to a word"), ("Ledger of the parish", "text lost")),
    ),
    Case(
        "code with three backticks",
        f'<pre><code class="language-python">{CODE}</code></pre>',
        (
            (r"for wheel in wheels:\n    if wheel\.turns:\n        print\('```'\)", "lines or blanks lost"),
            (r"````|~~~", "a block that Markdown cuts"),
        ),
        is_marked=True,
    ),
    Case(
        "code beside its line numbers",
        '<table class="highlight"><tr><td class="gutter"><pre>1\n2\n3\n</pre></td>'
        '<td class="code"><pre>wheel = 1\nwheel += 2\nprint(wheel)\n'
        "</pre></td></tr></table>",
        (
            (r"wheel = 1\n\s*wheel \+= 2\n\s*print\(wheel\)", "lines joined"),
            (r"!1 ?\n2 ?\n3", "line numbers in the text"),
        ),
    ),
    Case(
        "text that looks like a tag",
        "<p>The element &lt;section&gt; groups the parts of a text about mills.</p>",
        ((r"(?:\\<|&lt;|`<)section", "text that Markdown takes for a tag"),),
        is_marked=True,
    ),
    Case(
        "bold with a blank inside",
        "<p>It was a <b>very long </b>winter for all of them.</p>",
        (
            (r"very long(?:\*\*|__)? (?:\*\*)?winter|very long(?:\*\*|__) winter", "words joined"),
            (r"!very long \*\*|very long __", "stars that Markdown shows"),
        ),
        is_marked=True,
    ),
    Case(
        "bold beside Chinese brackets",
        "<p>这是<b>「强调」</b>的意思，水车在河边转动了很多年，村里的人每天都能看到它。</p>",
        ((r"!强调」\*\*的", "stars that Markdown shows"), ("强调", "text lost")),
        is_marked=True,
    ),
    Case(
        "boxes of a list of tasks",
        '<ul><li><input type="checkbox" checked disabled> Hang the wheel</li>'
        '<li><input type="checkbox" disabled> Open the sluice</li></ul>',
        ((r"\[x\] *Hang", "boxes lost"), (r"\[ \] *Open", "boxes lost")),
        is_marked=True,
    ),
    Case(
        "JSON-LD: author by `@id`",
        "",
        (("^Ann Lee$", "no author"),),
        '<script type="application/ld+json">{"@context":"https://schema.org","@graph":['
        '{"@type":"Article","headline":"The mill","author":'
        '{"@id":"#ann"}},{"@type":"Person","@id":"#ann","name":"Ann Lee"}]}</script>',
        "author",
    ),
    Case(
        "`title` of an icon, and no title",
        "<svg><title>Menu icon</title></svg>",
        (("!Menu", "the icon's title"), ("The mill", "no title")),
        part="title",
        title="",
    ),
)

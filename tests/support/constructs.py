"""Pages that repeat one construct, as many times as fit a size, to make a stage's time grow faster
than the page.

Each construct has a generator. A new one is a line in a table here; `benchmarks/complexity.py`
measures it and `tests/test_complexity.py` guards it from then on."""

from collections.abc import Callable, Iterator, Mapping
from itertools import count

Construct = Callable[[int], str]
"""Returns a page of about n characters."""


def repeated(unit: str, before: str = "", after: str = "") -> Construct:
    """Return a construct that repeats a text; `{i}` in it becomes another number each time."""

    def page(size: int) -> str:
        if "{i}" not in unit:
            return before + unit * (size // len(unit)) + after
        return before + "".join(_numbered(unit, size)) + after

    return page


def nested(start: str, end: str, inside: str = "x", before: str = "", after: str = "") -> Construct:
    """Return a construct of nested elements."""

    def page(size: int) -> str:
        starts = list(_numbered(start, size * len(start) // (len(start) + len(end))))
        return before + "".join(starts) + inside + end * len(starts) + after

    return page


def _numbered(unit: str, size: int) -> Iterator[str]:
    done = 0
    for number in count():
        text = unit.replace("{i}", str(number))
        done += len(text)
        if done > size:
            return
        yield text


def below(outer: str, unit: str, before: str = "", after: str = "") -> Construct:
    """Return a construct of two parts: nested elements, and the content of the innermost."""
    within = repeated(unit)

    def page(size: int) -> str:
        count = size // 2 // len(outer)
        return before + outer * count + within(size - count * len(outer)) + after

    return page


def _described(object_half: Callable[[int], str]) -> Construct:
    """Return JSON-LD with an object that fills half of the page, and authors that all refer to
    it."""

    def page(size: int) -> str:
        reference = '{"@id": "#a"}, '
        authors = reference * (size // 2 // len(reference))
        graph = f'[{{"@id": "#a", {object_half(size // 2)}}}, {{"@type": "Article", "author": [{authors}1]}}]'
        return f'<script type="application/ld+json">{{"@graph": {graph}}}</script><p>one'

    return page


def _figures(size: int) -> str:
    """Nested figures, and paragraphs in the innermost."""
    return nested("<figure>", "</figure>", "<p>x" * (size // 8))(size // 2)


def _links_and_images(size: int) -> str:
    """Links to an image's file, and images that Markdown leaves out."""
    links = '<a href="/a.jpg">x</a> ' * (size // 3 // 24)
    return f"<p>x {links}<pre>" + '<img src="/a.jpg">' * (2 * size // 3 // 19) + "</pre>"


def _long_name_authors(size: int) -> str:
    author = '{"@id": "#a"}, '
    name = "a and " * (size // 2 // 6)
    authors = author * (size // 2 // len(author))
    graph = f'[{{"@id": "#a", "name": "{name}"}}, {{"@type": "Article", "author": [{authors}{{"@id": "#a"}}]}}]'
    return f'<script type="application/ld+json">{{"@graph": {graph}}}</script><p>one'


def _notes(
    note: str, before: str = "", after: str = "", mark: str = "<sup><a href=#f{i} id=r{i}>{i}</a></sup> "
) -> Construct:
    """Return a construct of references and as many notes."""

    def page(size: int) -> str:
        count = size // (len(mark) + len(note))
        marks, notes = ("".join(unit.replace("{i}", str(i)) for i in range(count)) for unit in (mark, note))
        return f"<p>Ash is the wood. {marks}</p>{before}{notes}{after}"

    return page


def _styled(element: str, rule: str) -> Construct:
    """Return a construct of elements and as many rules."""

    def page(size: int) -> str:
        rules, elements = (repeated(unit)(size * len(unit) // len(element + rule)) for unit in (rule, element))
        return f"<style>{rules}</style>{elements}"

    return page


def _nested_media(size: int) -> str:
    return f"<style>{nested('@media screen{', '}', '.a{display:none}')(size)}</style><p class=a>x<p>y"


def _staircase(size: int) -> str:
    """Rows with more and more cells."""
    width = max(1, int((size / 10) ** 0.5))
    return "<table>" + "".join("<tr>" + "<td>x" * row for row in range(1, width)) + "</table>"


_INLINE = (
    "a abbr b bdi big button cite code del dfn em font i ins kbd label mark nobr q s small span strong sub sup tt u var"
)
_FLOW = (
    "address article aside blockquote center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 "
    "header hgroup li main menu nav ol p pre section summary ul"
)
_ALONE = "br hr img input wbr area col embed source track p li dt dd option tr td th h1 a b div span ul table select"

_POST = (
    "<div class=comment id=c{i}><a class=author>Ann{i}</a><time datetime=2024-05-03>3 May</time><p>Ash is the wood.</p>"
)
NESTED: Mapping[str, Construct] = {
    **{f"<{name}> nested": nested(f"<{name}>", f"</{name}>") for name in (_INLINE + " " + _FLOW).split()},
    "<h1><span> nested": nested("<h1><span>", "</span></h1>"),
    "<h2><a> nested": nested('<h2><a href="#x">', "</a></h2>"),
    "<ul><li> nested": nested("<ul><li>a", "</ul>"),
    "<ol><li value> nested": nested("<ol><li value=7>a", "</ol>"),
    "<dl><dd> nested": nested("<dl><dt>a<dd>", "</dl>"),
    "<table> nested": nested("<table><tr><td>", "</table>"),
    "<table><caption> nested": nested("<table><caption>", "</table>"),
    "<blockquote><p> nested": nested("<blockquote><p>a</p>", "</blockquote>"),
    "<svg><g> nested": nested("<g>", "</g>", before="<svg>", after="</svg>"),
    "<math><mrow> nested": nested("<mrow>", "</mrow>", before="<math>", after="</math>"),
    "<math><msqrt> nested": nested("<msqrt>", "</msqrt>", "<mi>x</mi>", before="<math>", after="</math>"),
    "<template> nested": nested("<template>", "</template>"),
    "<noscript> nested": nested("<noscript>", "</noscript>"),
    "<noscript><h1> nested": nested("<noscript><h1>", "</h1></noscript>"),
    "<object> nested": nested("<object>", "</object>"),
    "<i><em> nested": nested("<i><em>", "</em></i>"),
    "<pre><code> nested": nested("<pre><code>a\n", "</code></pre>"),
    "posts nested": nested(_POST, "</div>"),
    "dates behind class=post nested": nested("<div class=post>", "2024-05-03</div>"),
    "class=comment nested": nested("<div class=comment>", "</div>"),
    "class=byline nested": nested("<div class=byline>", "</div>"),
    "class=date nested": nested("<span class=date>", "</span>"),
    "<time> nested": nested("<time>", "</time>"),
    "itemprop=author nested": nested('<span itemprop="author">', "</span>"),
    "itemprop=datePublished nested": nested('<b itemprop="datePublished">', "</b>"),
    "itemprop=name nested": nested('<div itemprop="name">', "</div>"),
    "rel=author nested": nested('<span rel="author">', "</span>"),
    "hidden nested": nested("<div hidden>", "</div>"),
    "display:none nested": nested('<div style="display:none">', "</div>"),
    "katex nested": nested('<span class="katex">', "</span>"),
    "MathJax nested": nested('<div class="MathJax_Display">', "</div>"),
    "line numbers in tables nested": nested('<table><tr><td class="gutter"><code>', "</code></table>"),
    "distinct <div> nested": nested("<div class=c{i}>", "</div>"),
    "distinct <span> nested": nested("<span class=c{i}>", "</span>"),
}
MISNESTED: Mapping[str, Construct] = {
    "<p><i class> unclosed": repeated("<p><i class=c{i}>"),
    "<div><b id> unclosed": repeated("<div><b id=c{i}>x</div>"),
    "<p><font><b> unclosed": repeated("<p><font color={i}><b class=c{i}>x"),
    "<i class> unclosed": repeated("<i class=c{i}>"),
    "<a><b> misnested": repeated("<a><b></a>"),
    "<b><p></b> misnested": repeated("<b><p>x</b>"),
    "<b><i></b></i> misnested": repeated("<b><i>x</b></i>"),
    "<a href> unclosed": repeated("<a href=/{i}>x"),
    "<a><div></a> misnested": repeated("<a href=/{i}><div>x</a>"),
    "<nobr><p> misnested": repeated("<nobr><p>x"),
    "<table> with text": repeated("<table>x<tr>y", after="</table>"),
    "<table><b> fostered": repeated("<table><b class=c{i}>x"),
    "</b> stray": repeated("</b>", before="<p>x"),
    "</p> stray": repeated("</p>", before="<p>x"),
    "</div> stray below depth": repeated("</b>", before="<div>" * 5_000 + "x"),
    "<td><i class> marked": repeated("<table><tr><td><i class=c{i}>x</table>"),
}
ALONE: Mapping[str, Construct] = {
    **{f"<{name}> repeated": repeated(f"<{name}>") for name in _ALONE.split()},
    **{f"<{name}>x repeated": repeated(f"<{name}>x") for name in _ALONE.split()},
    "posts many": repeated(f'{_POST}<blockquote><a href="#c{{i}}">x</a></blockquote></div>'),
    "notes with links back": _notes("<li id=f{i}>Ash. <a href=#r{i}>b</a>", "<ol>", "</ol>"),
    "notes in a holder": _notes("<p id=f{i}>Ash. <a href=#r{i}>b</a>", "<div class=footnotes>", "</div>"),
    "notes in tables": _notes("<tr><td><p id=f{i}>Ash. <a href=#r{i}>b</a>", "<table>", "</table>"),
    "notes of a number alone": _notes("<p id=f{i}>{i}<p>Ash."),
    "note with links back": _notes("<a href=#r{i}>b</a>", "<ol><li id=f>Ash. ", "</ol>", "<a href=#f id=r{i}>1</a> "),
    "note with many targets": _notes("<a id=f{i}></a>", "<p>1 ", "</p><p>" + "<b>x</b>" * 200),
    "targets in a block, elements behind": _notes("<a id=f{i}></a><b>x</b>", "<p>1 </p><p>"),
    "notes below a long tag": _notes("<p id=f{i}>Ash.", f'<div class=footnotes data-x="{"note " * 300}">', "</div>"),
    "marks below a long tag": repeated(
        "<a href=#f>1</a>", before=f'<i data-x="{"note " * 300}">', after="</i><p id=f>Ash."
    ),
    "marks lost": repeated("<sup><a href=#f{i}>{i}</a></sup>", before="<p>x "),
    "controls": repeated("<p aria-controls=c{i}>Why?</p><p id=c{i}>Ash."),
    "controls of one answer": repeated("<p aria-controls=c>Why?</p>", after="<p id=c>Ash."),
    "ingredients": repeated("<p itemprop=recipeIngredient>{i} cups of flour"),
    "headings that announce nothing": repeated("<h2>H{i}</h2><h3>x</h3>", after="<p>x"),
    "headings in wrappers": repeated("<div><div><h2>H{i}</h2></div></div><p>x"),
    "embeds": repeated("<blockquote class=twitter-tweet><p>x</blockquote><p>y"),
    "records": repeated("<div class=card><a href=/{i}>Title {i}</a><p>Text {i}</div>"),
    "records of parts": repeated("<div class=card><h3>Ann {i}</h3><span>12</span><p>Text</div>"),
    "lines": repeated("<ruby>a<rt>b</rt></ruby><br>", before="<p>"),
    "<p>x</p>": repeated("<p>x</p>"),
    "<a>x</a>": repeated('<a href="/{i}">x</a> '),
    "<h1>x</h1>": repeated("<h1>x</h1>"),
    "<h1> with permalinks": repeated('<a href="#x">¶</a>', before="<h1>x", after="</h1>"),
    "<ol><li> long": repeated("<li>x", before="<ol>", after="</ol>"),
    "<ol><p> runs": repeated("<li><p>x</p>y", before="<ol>", after="</ol>"),
    "<dl> long": repeated("<dt>x<dd>y", before="<dl>", after="</dl>"),
    "<table> long": repeated("<tr><td>x<td>y", before="<table>", after="</table>"),
    "<table> wide": repeated("<td>x", before="<table><tr>", after="</table>"),
    "<table> staircase": _staircase,
    "<table> of layout": repeated("<tr><td><p>x<td><p>y", before="<table>", after="</table>"),
    "<table> of headings": repeated("<tr><td><h3>x</h3><td>y", before="<table>", after="</table>"),
    "spans": repeated('<tr><td colspan="9" rowspan="9">x<td>y', before="<table>", after="</table>"),
    "<pre> lines": repeated("x\n", before="<pre>", after="</pre>"),
    "<pre><span> lines": repeated("<span>x</span>\n", before="<pre>", after="</pre>"),
    "<pre><br>": repeated("x<br>", before="<pre>", after="</pre>"),
    "<code><br>": repeated("x<br>", before="<p><code>", after="</code>"),
    "<pre> many": repeated("<pre>x</pre>"),
    "<code> many": repeated("<code>x</code> "),
    "<blockquote> many": repeated("<blockquote>x</blockquote>"),
    "<blockquote> behind <div>": repeated("<div></div>", before="<blockquote>x</blockquote>", after="<blockquote>y"),
    "<div><blockquote> empty": repeated("<div><blockquote></blockquote></div>"),
    "<td><br>": repeated("<br>", before="<table><tr><td>x<td>y", after="</table>"),
    "<select> many": repeated("<select><option>x</select>"),
    "<details> many": repeated("<details><summary>x</summary>y</details>"),
    "<iframe/> many": repeated("<iframe/>"),
    "<script> many": repeated("<script>x</script>"),
    "<script math/tex>": repeated('<script type="math/tex">x</script>'),
    "<xmp> many": repeated("<xmp>x</xmp>"),
    "<title> many": repeated("<svg><title>x</title></svg>"),
    "<base> many": repeated("<base href=/x>"),
    "<math> many": repeated("<math><mi>x</mi></math>"),
    "<svg> many": repeated("<svg><path d=x></svg>"),
    "hidden many": repeated("<div hidden>x</div>", before="<p>a b c"),
    "hidden distinct": repeated('<div hidden class="c{i}">x</div>', before="<p>a b c"),
    "frameset": repeated("<p>x", before="<frameset><noframes>", after="</noframes></frameset>"),
    "comments": repeated("<!--x-->"),
    "comments open": repeated("<!--"),
    "conditional comments": repeated("<!--[if IE]>x<![endif]-->"),
    "CDATA": repeated("<svg><![CDATA[x]]></svg>"),
    "<? many": repeated("<?x>"),
    "< many": repeated("<"),
    "< blank": repeated("< "),
    "</ many": repeated("</"),
    "<a< many": repeated("<a<"),
    "&amp; many": repeated("&amp;"),
    "& many": repeated("&"),
    "&#x41; many": repeated("&#x41;"),
    "&lt;b&gt; many": repeated("&lt;b&gt;"),
    "&amp;lt; in title": repeated("&amp;lt;", before="<title>", after="</title><p>x"),
}
ATTRIBUTES: Mapping[str, Construct] = {
    "srcset of commas": repeated(",", before='<p>x<img src="/a.jpg" srcset="', after='">'),
    "srcset of ', '": repeated(", ", before='<p>x<img src="/a.jpg" srcset="', after='">'),
    "srcset of 'a ,'": repeated("a ,", before='<p>x<img srcset="', after='">'),
    "srcset of 'a,'": repeated("a,", before='<p>x<img srcset="', after='">'),
    "srcset of blanks": repeated(" ", before='<p>x<img src="/a.jpg" srcset="a', after='b">'),
    "srcset of ',/'": repeated(",/", before='<p>x<img srcset="', after='">'),
    "srcset of candidates": repeated("a{i}.jpg 2x, ", before='<p>x<img srcset="', after='">'),
    "srcset of digits": repeated("1", before='<p>x<img srcset="a.jpg ', after='">'),
    "data-src of .jpg": repeated(".jpg", before='<p>x<img data-src="', after=' x">'),
    "data-src of //": repeated("//", before='<p>x<img data-src="', after=' x">'),
    "data-src of letters": repeated("a", before='<p>x<img data-src="', after='">'),
    "data-src many": repeated('<img data-src="/{i}.jpg">', before="<p>x"),
    "style of blanks": repeated(" ", before='<p style="display', after=':none">x'),
    "style of ;": repeated("; ", before='<p style="', after='">x'),
    "style of /*": repeated("/*", before='<p>x<p style="', after='">x'),
    "style of comments": repeated("/**/", before='<p>x<p style="', after='">x'),
    "href of blanks": repeated(" ", before='<p>x<a href="a', after='b">x'),
    "href of ../": repeated("../", before='<p>x<a href="', after='">x'),
    "href of a:": repeated("a:", before='<p>x<a href="', after='">x'),
    "href of javascript:": repeated("javascript:", before='<p>x<a href="', after='">x'),
    "href of \\": repeated("\\", before='<p>x<a href="', after='">x'),
    "hrefs distinct": repeated('<a href="b/{i}/../c">x</a> ', before='<base href="https://e.org/a/">'),
    "class long": repeated("a ", before='<p class="', after='">x'),
    "class of comment": repeated("comment-", before='<div class="', after='"><p>x'),
    "class of author": repeated("author-", before='<span class="', after='">x</span>'),
    "classes distinct": repeated('<p class="c{i}">x'),
    "classes of bylines": repeated('<span class="byline">x</span> '),
    "classes of dates": repeated('<span class="date">x</span> '),
    "ids distinct": repeated('<p id="c{i}">x'),
    "data: address": repeated("A", before='<p>x<img src="data:image/png;base64,', after='">'),
    "alt long": repeated("a ", before='<p>x<img src="/x.jpg" alt="', after='">'),
    "title=' long": repeated("'a=", before='<p title="', after='">x'),
    "attributes of many tags": repeated('<p a="{i}" b="{i}" c="{i}" d="{i}">x'),
    "_item_id many": repeated("<p _item_id=1>x"),
    "_item_id in text": repeated('_item_id="1" ', before="<p>"),
    "wrappers": repeated("<cc-alg-uc-text>x</cc-alg-uc-text>"),
    "on* many": repeated('<p onclick="a{i}">x'),
    "language class": repeated("lang lang-", before='<pre class="', after='">x\ny</pre>'),
    "hljs class": repeated("hljs a ", before='<pre class="', after='$">x\ny</pre>'),
    "tex in alt": repeated("\\( ", before='<img class="latex" src="/x.png" alt="', after='">'),
    "tex of {\\displaystyle": repeated("{\\displaystyle ", before='<img class="latex" src="/x.png" alt="', after='">'),
    "tex of blanks": repeated(" ", before='<img class="latex" src="/x.png" alt="$', after='x">'),
    "item numbers": repeated("<li value={i}>x", before="<ol>", after="</ol>"),
    "item number long": repeated("9", before="<ol><li value=", after=">x</ol>"),
}
TEXTS: Mapping[str, Construct] = {
    **{
        f"text of {unit.strip()}": repeated(unit, before="<p>")
        for unit in (
            "\\( ", "\\(", "\\[", "$$ ", "$ ", "$\\", "[tex] ", "[tex]", "\\begin{a}", "\\begin{a{i}}", "\\end{a}",
            "\\begin{a", "\\)\\(", "[ ", "![", "* ", "**a ", "_", "`", "``` ", "# ", "> ", "| ", "- ", "1. ", "~~", "<!--",
            "http://a ", "@", "\\", "!", "(", "[a](", "\ufdd2", "\ufdd21\ufdd3",
        )
    },
    "text of blanks": repeated(" ", before="<p>a", after="b"),
    "text of line breaks": repeated("\n", before="<p>a", after="b"),
    "text of tabs": repeated("\t \n", before="<p>a", after="b"),
    "text of spaces that do not break": repeated("\u00a0", before="<p>a", after="b"),
    "text of one word": repeated("a", before="<p>"),
    "text of words": repeated("word ", before="<p>"),
    "text of distinct words": repeated("w{i} ", before="<p>"),
    "text of combining characters": repeated("\u0301", before="<p>a"),
    "text right to left": repeated("\u05d0 ", before="<p>"),
    "text of CJK": repeated("\u4e2d", before="<p>"),
    "text of digits": repeated("1", before="<p>"),
    "text of NULs": repeated("\0", before="<p>a"),
    "text of controls": repeated("\x01", before="<p>a"),
    "text beyond the BMP": repeated("\U0001f600", before="<p>a"),
}  # fmt: skip
STATED: Mapping[str, Construct] = {
    "JSON-LD authors of one long name": _long_name_authors,
    "JSON-LD authors distinct": repeated(
        '"a{i} b", ',
        before='<p>x<script type="application/ld+json">{"@type": "Article", "author": [',
        after='"a"]}</script>',
    ),
    "JSON-LD deep": nested('{"a":', "}", "1", before='<p>x<script type="application/ld+json">', after="</script>"),
    "JSON-LD lists deep": nested("[", "]", "1", before='<p>x<script type="application/ld+json">', after="</script>"),
    "JSON-LD objects": repeated(
        '{"@type": "Article", "headline": "a{i}"},',
        before='<p>x<script type="application/ld+json">[',
        after="1]</script>",
    ),
    "JSON-LD digits": repeated("9", before='<p>x<script type="application/ld+json">', after="</script>"),
    "JSON-LD scripts": repeated('<script type="application/ld+json">{"@type": "Article"}</script>', after="<p>x"),
    "JSON-LD keywords": repeated(
        "k{i}, ",
        before='<p>x<script type="application/ld+json">{"@type": "Article", "keywords": "',
        after='"}</script>',
    ),
    "meta many": repeated('<meta name="author" content="a{i} b">', after="<p>x"),
    "meta names distinct": repeated('<meta name="n{i}" content="a">', after="<p>x"),
    "meta author long": repeated("a and ", before='<meta name="author" content="', after='"><p>x'),
    "meta author of blanks": repeated(" ", before='<meta name="author" content="a', after='b"><p>x'),
    "meta author of by": repeated("by ", before='<meta name="author" content="', after='"><p>x'),
    "meta author of <": repeated("<b ", before='<meta name="author" content="', after='"><p>x'),
    "meta author of &lt;": repeated("&amp;lt;b ", before='<meta name="author" content="', after='"><p>x'),
    "meta author of digits": repeated("9", before='<meta name="author" content="a', after='"><p>x'),
    "meta author of ;": repeated(";", before='<meta name="author" content="a', after='"><p>x'),
    "meta description of <": repeated("<a ", before='<meta name="description" content="', after='"><p>x'),
    "meta description of <blanks": repeated(" ", before='<meta name="description" content="<a', after='"><p>x'),
    "meta title of |": repeated(
        "| ", before='<meta name="og:site_name" content="a"><meta name="og:title" content="', after='a"><p>x'
    ),
    "meta keywords": repeated("k{i},", before='<meta name="keywords" content="', after='"><p>x'),
    "meta date of digits": repeated("2024-01-", before='<meta name="date" content="', after='"><p>x'),
    "meta itemprop nested": repeated('<div itemscope><meta itemprop="author" content="a{i}">', after="<p>x"),
    "og:type distinct": repeated('<meta property="og:type" content="a{i}">', after="<p>x"),
    "canonical of digits": repeated("/2024", before='<link rel="canonical" href="', after='"><p>x'),
    "canonical many": repeated('<link rel="canonical" href=" ">', after="<p>x"),
    "user names below a long tag": repeated(
        '<i class="username">a b c d</i>', before=f'<div data-x="{"post-" * 300}">', after="</div>"
    ),
    "dates below a long tag": repeated(
        '<i class="date">9</i>', before=f'<div data-x="{"event_" * 300}">', after="</div>"
    ),
    "itemprop=headline many": repeated('<span itemprop="headline">a{i}</span> '),
    "title of parts": repeated("a | ", before="<title>", after="</title><p>x"),
    "heading of a trail": repeated("a: b » ", before="<title>a</title><h1>", after="</h1><p>x"),
    "itemprop=author many": repeated('<span itemprop="author">9</span> '),
    "itemprop=author holds names": repeated(
        '<span itemprop="x">', before='<div itemprop="author">', after='<b itemprop="name">9</b></div>'
    ),
    "bylines below 900": repeated(
        '<span class="byline">9</span> ', before='<div class="x-y">' * 900, after="</div>" * 900
    ),
    "dates below 900": repeated('<span class="date">x</span> ', before='<div class="x-y">' * 900, after="</div>" * 900),
    "distinct tags below 900": repeated(
        '<span class="byline">9</span> ',
        before="".join(f'<div class="x{i}">' for i in range(900)),
        after="</div>" * 900,
    ),
    "<h1> below 900": repeated("<h1>x</h1>", before='<div class="x-y">' * 900, after="</div>" * 900),
    "<h1> permalinks below 900": repeated(
        '<h1>x<a href="#x">¶</a></h1>', before='<div class="x-y">' * 900, after="</div>" * 900
    ),
    "<i> below 900": repeated("<i>x</i> ", before="<div><span>" * 450, after="</span></div>" * 450),
    "<a> permalinks below 400": repeated('<a href="#x">¶</a>', before="<div>" * 400, after="</div>" * 400),
    "headings in cells below 400": repeated(
        "<tr><td><h3>x</h3><td>y", before="<div>" * 400 + "<table>", after="</table>" + "</div>" * 400
    ),
    "title in blocks": repeated("<p>a", before="<title>" + "a " * 500 + "</title>"),
    "title long": repeated("a ", before="<title>", after="</title><p>a<p>b"),
    "itemprop=articleBody": repeated("<p>x", before="<div itemprop=articleBody>", after="</div>"),
}

SEEN: Mapping[str, Construct] = {
    "rules that hide": repeated(".a{i}{display:none}", before="<style>", after="</style><p class=a1>x<p>y"),
    "rules of one class": repeated(".a{display:none}", before="<style>", after="</style><p class=a>x<p>y"),
    "rules of classes that are there": _styled("<p class=a{i}>x", ".a{i}{display:none}"),
    "rules that show again": _styled("<p class=a{i}>x", ".a{i}{opacity:0}.b .a{i}{opacity:1}"),
    "selectors of one rule": repeated(".a{i},", before="<style>", after="b{display:none}</style><p class=a1>x<p>y"),
    "selectors with combinators": repeated("a>b ", before="<style>", after="{display:none}</style><p>x"),
    "signs of hiding": repeated("display:none;", before="<style>.a{", after="}</style><p class=a>x<p>y"),
    "signs without a rule": repeated("display:none ", before="<style>", after="</style><p>x"),
    "braces open": repeated(".a{display:none;", before="<style>", after="</style><p class=a>x<p>y"),
    "braces closed": repeated("}", before="<style>", after=".a{display:none}</style><p class=a>x<p>y"),
    "@media nested": _nested_media,
    "comments of a sheet": repeated("/*x*/", before="<style>", after=".a{display:none}</style><p class=a>x<p>y"),
    "comments of a sheet open": repeated("/*", before="<style>.a{display:none}", after="</style><p class=a>x<p>y"),
    "escapes of a sheet": repeated("\\61 ", before="<style>.", after="{display:none}</style><p>x"),
    "strings of a sheet": repeated("'", before="<style>@media x{", after=".a{display:none}}</style><p class=a>x<p>y"),
    "sheets": repeated("<style>.a{i}{display:none}</style>", after="<p class=a1>x<p>y"),
    "styles distinct": repeated('<p style="opacity:0;left:{i}px">x', before="<p>y"),
    "styles of one tag": repeated("opacity:0;", before='<p>y<p style="', after='">x'),
    "lengths of a style": repeated("0 ", before='<p>y<p style="clip-path:inset(', after=')">x'),
    "numbers of a style": repeated("0", before='<p>y<p style="height:', after='px;overflow:hidden">x'),
    "transforms of a style": repeated("scale(1) ", before='<p>y<p style="transform:', after='">x'),
    "hidden and opened": repeated("<a href=#b{i}>c</a><div id=b{i} hidden>d</div>"),
    "hidden beside buttons": repeated("<div style=opacity:0>x</div><button>more</button>"),
    "visible in invisible": repeated(
        '<b style="visibility:visible">x</b>y', before='<p>a b c d e<p style="visibility:hidden">', after="</p>"
    ),
    "invisible nested": nested('<div style="visibility:hidden">', "</div>"),
    "players": repeated("<video src=a>x</video>", before="<p>y"),
    "players open": repeated("<object data=a>x", before="<p>y"),
    "drawings with titles": repeated("<svg><title>t{i}</title></svg>", before="<p>y"),
    "words for screen readers": repeated('<i class="sr-only">x</i><b aria-hidden="true">y</b>', before="<p>z"),
    "letters without a shape": repeated("\U000e0041", before="<p>y"),
    "overrides": repeated("\u202e", before="<p>y"),
    "isolates": repeated("\u2067x\u2069", before="<p>y"),
    "isolates open": repeated("\u2067", before="<p>y"),
    "references to overrides": repeated("&#x202e;", before="<p>y"),
    "escapes of overrides": repeated(
        "\\u202e", before='<p>y<script type="application/ld+json">{"description": "', after='"}</script>'
    ),
}

_SEARCHING = (
    "</x> </b> </p> </li> </h1> </div> </td> </a> </body>x <h1> <select></select> <button></button> <rt></rt> <input> "
    "<option></option> <nobr></nobr>"
)
UNENDED: Mapping[str, Construct] = {
    **{f"{unit} below <span>": below("<span>", unit) for unit in _SEARCHING.split()},
    "</x> below <g>": below("<g>", "</x>", before="<svg>"),
    "<div></x>": repeated("<div></x>"),
    "<div><!--</div>-->": repeated("<div><!--</div>-->"),
    "<div a='</div>'>": repeated("<div a='</div>'>"),
    '<div a=b="></div>">': repeated('<div a=b="></div><x c=">'),
    "<span><div></span>": repeated("<span><div></span>"),
    "<div><svg><style></div>": repeated("<div><svg><style></div></style></svg>"),
    "<div><script><!--<script>": repeated("<div><script><!--<script></script></div>--></script>"),
    "<i class><svg><![CDATA[</i>": repeated("<p><i class=c{i}><svg><![CDATA[</i>]]></svg>"),
    "<i class><template></i>": repeated("<p><i class=c{i}><template></i></template>"),
    "<i class><select></i>": repeated("<p><i class=c{i}><select></i></select>"),
    "<i class><table></i>": repeated("<p><i class=c{i}><table></i></table>"),
    "<i class><!x </i>": repeated("<p><i class=c{i}><!x </i>"),
    "<i class></ </i>": repeated("<p><i class=c{i}></ </i>"),
    '<i class><x ="></i>': repeated('<p><i class=c{i}><x ="></x y="></i><x ">'),
    "<td><i class></td> without a table": repeated("<td><p><i class=c{i}></td>"),
    '<i a=">"> with class': repeated('<p><i a=">{i}">'),
}
"""Constructs that keep a parser searching, or open more and more elements again: limits refuse
them."""
COUNTED: Mapping[str, Construct] = {
    "<video> nested": nested("<video>", "</video>"),
    "<video src> nested": nested("<video src=/a.mp4>", "</video>"),
    "<picture> nested": nested("<picture>", "</picture>"),
    "<picture><img> nested": nested("<picture><img src=/a.jpg>", "</picture>"),
    "<noscript> around images": below("<noscript>", '<img src="/{i}.jpg">', before="<p>" + "word " * 20),
    "<figure> nested around <p>": _figures,
    "class=caption nested": nested("<span class=caption>", "</span>"),
    "<img> below <span>": below("<span>", '<img src="/{i}.jpg" width=9 height=9>'),
    "<time> below <span>": below("<span>", "<time>x</time>"),
    "text below <span>": below("<span>", "x<br>"),
    "<title> below <span>": below("<span>", "<title>x</title>"),
    "<desc> below <span>": below("<span>", "<desc>x</desc>"),
    "<a><object> nested": nested("<a href=#x><object>", "</object></a>", "¶"),
    "links and images": _links_and_images,
    "images too deep": repeated('<img src="/{i}.jpg">', before="<div>" * 600 + "<p>x "),
    "<h1><b> many": repeated("<b>x</b>", before="<h1>", after="</h1>"),
    "<h1><b> empty": repeated("<b></b>", before="<h1>", after="x</h1>"),
    "<tr> empty": repeated("<tr><td></tr>", before="<table><tr><td>a<td>b</tr>", after="</table>"),
    "sr-only and aria-hidden": repeated("<b class=sr-only>a</b><i aria-hidden=true>b</i> "),
    "aria-hidden nested": nested("<span aria-hidden=true>", "</span>", inside="<b class=sr-only>a</b>x"),
    "class of sr-": lambda size: f"<p>a<b class='{'sr- ' * (size // 8)}{'-' * (size // 2)}'>b</b> c",
    "<h1><b> empty, then many": lambda size: f"<h1>{'<b></b>' * (size // 14)}x</h1>{'<h1>x</h1>' * (size // 20)}",
    "<pre><b> many": repeated("<b>x</b>", before="<pre>", after="</pre>"),
    "<pre><div> behind a line": lambda size: f"<pre>{'a' * (size // 2)}\n{'<div></div>' * (size // 22)}</pre>",
    "itemprop=ingredients many": repeated("<li itemprop=ingredients>abcd{i}</li>"),
    "itemprop=ingredients nested": nested("<span itemprop=ingredients>abcd", "</span>"),
    "title long, blocks many": lambda size: f"<title>{'ab ' * (size // 6)}</title>{'<p>abc' * (size // 12)}",
    "title of :": repeated(" :", before="<title>a", after="</title><p>x"),
    "JSON-LD authors of one long organisation": _described(
        lambda size: f'"@type": "Organization", "name": "{"a" * size}"'
    ),
    "JSON-LD authors of many properties": _described(
        lambda size: '"name": "a b", ' + ", ".join(f'"k{i}": 1' for i in range(size // 12))
    ),
    "JSON-LD authors of many types": _described(
        lambda size: '"name": "a b", "@type": [' + '"T", ' * (size // 5) + '"U"]'
    ),
    "<math><mtr> many": repeated("<mtr><mtd><mi>x</mi></mtd></mtr>", before="<math><mtable>", after="</mtable></math>"),
    "<math><mi> in one": repeated("<mi>x</mi>", before="<math><mrow>", after="</mrow></math>"),
}
"""Constructs that once made a stage compare many things with many others."""

CONSTRUCTS: Mapping[str, Construct] = {
    **NESTED, **MISNESTED, **ALONE, **ATTRIBUTES, **TEXTS, **STATED, **SEEN, **UNENDED, **COUNTED,
}  # fmt: skip
"""All, by name."""

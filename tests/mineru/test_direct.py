"""What is read without libxml2 is what libxml2 reads."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dripper.markup.document import parse_document
from dripper.markup.tags import HTML_VOID, words
from dripper.mineru.direct import Read, read_directly
from dripper.mineru.second_parse import read_again
from support.labelled import labelled_pages


def directly(html: str) -> Read | None:
    return read_directly(parse_document(html))


def by_libxml2(html: str) -> Read:
    return read_again(parse_document(html).html or "<html></html>")


def assert_same(direct: Read, read: Read) -> None:
    assert direct.tree.parts == read.tree.parts
    assert (direct.scripts, direct.addresses, direct.has_forbidden) == (
        read.scripts,
        read.addresses,
        read.has_forbidden,
    )
    for field in ("tags", "parents", "lasts", "opens", "closes"):
        assert getattr(direct.tree, field) == getattr(read.tree, field), field
    assert all(direct.tree.names[tag] == read.tree.names[tag] for tag in read.tree.parts[1::2])


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p>a<p>b &amp; &lt;c&gt; &nbsp;d&#13;e",
        "<!DOCTYPE html><!-- a --><p>b<!-- c -->d",
        # Start tags that close what is open, and end tags that come too late.
        "<p>a<table><tr><td>b</table>c",
        "<font>a<center>b</center>c</font>d",
        "<h3><div><p>x</p></div>y</h3>z",
        "<a><table><tr><td>x</table>b</a>c",
        "<div><ul><form><li>x</li></form></ul>y</div>",
        "<b><p>x</p>y</b>z",
        "<small><p>x</p><p>y</p></small>z",
        # Elements that libxml2 gives an end tag.
        "<picture><source srcset=a><source srcset=b><img src=c></picture>d",
        "<p>long<wbr>word<wbr>s</p>after",
        "<object><embed src=a><p>b</p></object>c",
        "<video><track src=a></video>b",
        # Attributes.
        '<input checked=yes disabled value="a&quot;b">',
        "<a href=' /a b?c=d&amp;e={f} ' name='x y'>g</a><p name='x y' data-x='&{y}'>z",
        "<img src=' /a.png '><img src='/b c.png'><img src=/d.png>",
        "<p class='' id=a&lt;b title='it&apos;s \"so\"'>c",
        "<svg viewBox='0 0 1 1'><linearGradient gradientUnits=x><stop/></linearGradient><title>t</title></svg>",
        "<meta charset=latin1><meta http-equiv=Content-Type content='text/html; charset=latin1'><meta name=a content=b>",
        # Raw text.
        "<script>if (a < b) '<p>'</script><style>a > b {}</style><p>c",
        "<script><!-- <script> --></script><p>c",
        "<u><center>a</center></u>b",
        "<img alt=' src=' src=a> <img src='a' alt=' src='><img src=' b' alt=' src='>",
        "<iframe><p>a</iframe><noframes>b & c</noframes><xmp><b></xmp><textarea><p></textarea>",
        "<template><p>a</p></template><p>b",
        "a\x01b<p class=a\x02b>\ufffe",
    ],
)
def test_each_rule_gives_what_libxml2_gives(html: str) -> None:
    direct = directly(html)
    assert direct is not None
    assert_same(direct, by_libxml2(html))


@pytest.mark.parametrize(
    "html",
    [
        "<frameset><frame src=a></frameset>",
        "<p>a<plaintext>b<p>c",
        "<isindex>a",
        '<p a&nbsp;b"=c>d',
        "<script>'<?xml version=1.0 ?>'</script>",
        "<p title='<?xml ?>'>a",
        "<p title='<!-- a -->'>b",
        "<script><!-- <script>",
        "<script><!-- <script> </script> --></script><p>c",
        "<iframe><?xml version=1.0 ?></iframe>",
        f"<{'a' * 101}>b",
        "<template><script>a</script></template><p>b",
        "<template><iframe><a>",
        "<svg><script><a>",
        "<text &nbsp;<a>",
        "<a href='' =\"&nbsp;#\"=''>b",
        "<math><textarea><a>",
        "<math><html>a",
        "<dt><a><dt><textarea><a>",
        "<div>" * 300,
    ],
)
def test_what_is_not_foreseen_is_left_to_libxml2(html: str) -> None:
    assert directly(html) is None


def test_real_pages_are_read_as_by_libxml2_nearly_all_of_them_directly() -> None:
    reads = [(directly(html), html) for html in (page.html for page in labelled_pages())]
    found = [(direct, html) for direct, html in reads if direct is not None]
    assert len(found) >= 0.9 * len(reads)
    for direct, html in found:
        assert_same(direct, by_libxml2(html))


NAMES = sorted(
    words(
        "a abbr address article aside b big blockquote button caption center code col colgroup dd del details dir div dl dt em "
        "fieldset figure font footer form h1 h2 h6 header hr i img ins label legend li link listing main menu nav object ol "
        "optgroup option p pre s section select small span strike strong style sub table tbody td tfoot th thead title tr tt u "
        "ul video xmp"
    )
)


@pytest.mark.parametrize("outer", [name for name in NAMES if name not in HTML_VOID])
def test_libxml2_closes_what_we_say_it_closes(outer: str) -> None:
    """Any element in any other: from a tree, as no parser would put some of them so."""
    for inner in NAMES:
        document = parse_document("<div></div>")
        parent, child = document.create_node(outer), document.create_node(inner)
        parent.insert_child(child)
        parent.insert_child("x")
        (holder,) = document.css("div")
        holder.insert_child(parent)
        html = document.html or ""
        direct = read_directly(document)
        if direct is not None:
            assert_same(direct, read_again(html))


TAGS = st.sampled_from(
    sorted(
        words(
            "a b i font span p div center table tr td th ul li dl dt dd form h2 pre ol option select embed wbr source picture "
            "img br hr svg math button fieldset legend caption colgroup col tbody thead menu address iframe script textarea "
            "noscript details summary template body nav"
        )
    )
)
PIECES = st.one_of(
    TAGS.map(lambda name: f"<{name}>"),
    TAGS.map(lambda name: f"</{name}>"),
    TAGS.map(lambda name: f'<{name} class="a&quot;b" HREF=" x y " checked src=z title="<!--">'),
    st.sampled_from(["text", " ", "&nbsp;", "<!-- c -->", "<", "&amp;", "é", "\r\n"]),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_whatever_the_tags_it_is_what_libxml2_reads_or_nothing(html: str) -> None:
    direct = directly(html)
    if direct is not None:
        assert_same(direct, by_libxml2(html))

"""Markdown as other programs render it: the visible text, and the elements.

HTML is passed through, as careless sites have it.
"""

import re
from collections import Counter
from collections.abc import Callable

import cmarkgfm
import markdown
import mistune
from cmarkgfm.cmark import Options
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser, LexborNode

_EXPECTED = frozenset(
    {"p", "br", "hr", "strong", "em", "del", "tbody", "thead", "ul", "ol", "pre", "code", "s", "-undef"}
)
"""Elements of Markdown's own syntax, which run nothing; `s` is the strikethrough of markdown-it."""
_STRUCTURE = frozenset({"li", "h1", "h2", "h3", "h4", "h5", "h6", "table", "tr", "blockquote"})
_UNSEEN = re.compile(r"(?s)<(ruby|rt|rp|rb)\b[^>]*>|</(ruby|rt|rp|rb)>")
_CONTROLS = "select, datalist, input, .mw-editsection"
"""Elements that work only in a browser, and are left out of Markdown."""
_OWN_MARK = re.compile(r"[\s\u200b]*(?:[-*•·●▪◦‣∙■►➢❖▢☐□◻❏❑](?=\s|$)|[▢☐□◻❏❑•●▪◦‣]|[0-9]{1,4}[.)](?=\s|$))")
"""A bullet that a page wrote in addition to its list's own, which may be left out."""
_FOOTNOTE = re.compile(r"\[\^[0-9]+\]")
_WORD = re.compile(r"[^\W\d_]{3,}")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLANK = re.compile("[\\s\u00ad\u200b]+")
_RAISED = re.compile("\\^(?=[-+\u2212\u2013]?[0-9])")
"""`<sup>` in Markdown."""


def _cmark(text: str) -> str:
    extensions = ["table", "strikethrough"]
    options = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES
    shown: str = cmarkgfm.markdown_to_html_with_extensions(text, options, extensions)
    return shown


def _python_markdown(text: str) -> str:
    # The converter indents items by two.
    return markdown.markdown(text, extensions=["tables", "fenced_code"], tab_length=2)


RENDERERS: dict[str, Callable[[str], str]] = {
    "markdown-it": MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render,
    "mistune": lambda text: str(mistune.html(text)),
    "cmark-gfm": _cmark,
    "Python-Markdown": _python_markdown,
}


def shown(html: str, items: str = "li") -> str:
    """Return the text that HTML shows, without blanks, which mean little, and without the marks
    that begin items."""
    document = LexborHTMLParser(_UNSEEN.sub("", html))
    for node in document.css(_CONTROLS):
        node.decompose(recursive=False)
    for item in document.css(items):
        _drop_own_marks(item)
    return _RAISED.sub("", _BLANK.sub("", document.body.text())) if document.body else ""


def _drop_own_marks(item: LexborNode) -> None:
    first = next((node for node in item.traverse(include_text=True) if node.is_text_node and node.text().strip()), None)
    if first is not None:
        text = first.text()
        while mark := _OWN_MARK.match(text):
            text = text[mark.end() :]
        first.replace_with(text)


def elements(html: str) -> Counter[str]:
    """Return how many elements of each name HTML has."""
    return Counter(str(node.tag) for node in LexborHTMLParser(html).css("body *"))


def forged(rendered: str, main_html: str, renderer: str) -> list[str]:
    """Return the names of the elements that are there more often than in main HTML."""
    # Structure that only Python-Markdown sees is harmless.
    expected = _EXPECTED | _STRUCTURE | {"td", "th"} if renderer == "Python-Markdown" else _EXPECTED | {"td", "th"}
    there = elements(main_html)
    if 'class="footnotes"' in rendered:
        expected = expected | {"section", "sup", "a", "li"}
    if there["table"] or there["dl"]:
        # A row that is a table by itself becomes an item, as terms and meanings do.
        expected = expected | {"li"}
    if there["h1"] > 1:
        # The second and the headings below it go down a level.
        found = elements(rendered)
        expected = expected | set(_HEADINGS)
        if sum(found[name] for name in _HEADINGS) > sum(there[name] for name in _HEADINGS):
            return ["headings"]
    return [name for name, count in elements(rendered).items() if name not in expected and count > there[name]]


def differs(markdown_text: str, main_html: str, renderer: str) -> bool:
    """Tell whether a renderer shows another text than main HTML has, or other elements."""
    rendered = RENDERERS[renderer](markdown_text)
    if _FOOTNOTE.search(markdown_text):
        # Notes go to the end, marks and links back are the renderer's.
        words = [Counter(_WORD.findall(LexborHTMLParser(html).text(separator=" "))) for html in (rendered, main_html)]
        return words[0] != words[1] or bool(forged(rendered, main_html, renderer))
    # Terms and meanings may have become items.
    texts = [shown(rendered), *(shown(main_html, items) for items in ("li", "li, dt", "li, dd", "li, dt, dd"))]
    if renderer == "Python-Markdown":  # It knows no strikethrough, and shows its tildes.
        texts = [text.replace("~", "") for text in texts]
    return texts[0] not in texts[1:] or bool(forged(rendered, main_html, renderer))

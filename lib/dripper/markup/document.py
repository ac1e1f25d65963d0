"""The HTML5 parser: lexbor, by way of selectolax."""

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode, SelectolaxError


def parse_document(html: str | bytes) -> LexborHTMLParser:
    """Return the page's document, as a browser builds it. NULs in texts and lone surrogates are
    dropped; bytes, as UTF-8, are taken as they are, without a copy.

    Raises MemoryError where the parser gets no memory: it accepts every string, so nothing else
    makes it give up.
    """
    try:
        # Nobody listens to events, which cost 5 % of parsing.
        return LexborHTMLParser(html, options=LexborDocumentOptions.WO_EVENTS)
    except SelectolaxError as error:
        raise MemoryError(str(error)) from None


def title_of(document: LexborHTMLParser) -> str:
    """Return the page's title on one line, or ""."""
    # Most pages have one, in the head, where this stops; all titles are a walk over the whole page.
    first = document.css_first("title")
    title = _own_title(first) if first is not None else ""
    if not title and first is not None:
        title = next((text for node in document.tags("title") if (text := _own_title(node))), "")
    if not title:
        node = document.css_first('meta[property="og:title"]') or document.css_first('meta[name="og:title"]')
        title = " ".join(((node.attributes.get("content") if node is not None else "") or "").split())
    return title


def _own_title(node: LexborNode) -> str:
    # Pictures have titles too; a page's own is in the head, or, where that ended too early,
    # directly in the body.
    is_own = node.parent is not None and node.parent.tag in ("head", "body")
    return " ".join(node.text().split()) if is_own else ""

"""The HTML5 parser: lexbor, by way of selectolax."""

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, SelectolaxError


def parse_document(html: str) -> LexborHTMLParser:
    """Return the page's document, as a browser builds it; lone surrogates are dropped by the caller.

    Raises MemoryError where the parser gets no memory: it accepts every string, so nothing else makes it give up.
    """
    try:
        # Nobody listens to events, which cost 5 % of parsing.
        return LexborHTMLParser(html, options=LexborDocumentOptions.WO_EVENTS)
    except SelectolaxError as error:
        raise MemoryError(str(error)) from None

"""Characters that lxml refuses to write into a tree, though its parser puts them there. MinerU-HTML
fails on some."""

import re

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_CONTROLS = bytes([*range(9), 11, 12, *range(14, 32)])


def has_forbidden(markup: str) -> bool:
    """Tell whether some FORBIDDEN character is in it; parsers let no surrogate through."""
    data = markup.encode("utf-8", "surrogatepass")
    if len(data.translate(None, _CONTROLS)) < len(data):
        return True
    return not markup.isascii() and ("\ufffe" in markup or "\uffff" in markup)

"""Reads the text that a page declares in JSON-LD, for pages that show only a notice or almost no
text."""

import re
from dataclasses import replace

from dripper.blocks.page import Page
from dripper.blocks.profiles.registry import find_profile, preprocess_utf8
from dripper.page.notices import is_notice
from dripper.tree.plain import fold
from dripper.tree.tree import escape

METHOD = "declared"
"""The value of the `method` column for text that was read from JSON-LD."""
_LITTLE = 400
"""A page with at most this number of visible characters shows almost no text. If a page shows a
notice, its declared text is used only if the page shows at most this many characters more than that
text has."""
_SHORTEST = 250
"""Minimum length of declared text, in characters: about one paragraph."""
_BEGINNING = 40
"""If this number of characters from the beginning of the declared text occur on the page, the page
already shows the declared text."""
_TAG = re.compile("</?[a-z][^<>]*>", re.IGNORECASE)


def read_declared(page: Page) -> Page:
    """Return a page created from the declared text, or `page` itself. The declared text is used if
    `page` shows little text or a notice, and does not already show the declared text."""
    declared = page.hints.declared.strip()
    if len(declared) < _SHORTEST or not find_profile(page.profile).keeps_units:
        return page
    texts = [block.text for block in page.blocks]
    shown = sum(map(len, texts))
    if shown > _LITTLE and (shown > len(declared) + _LITTLE or not any(is_notice([text]) for text in texts)):
        return page
    if fold(_TAG.sub(" ", declared))[:_BEGINNING] in fold(" ".join(texts)):
        return page
    is_markup = _TAG.search(declared) is not None
    body = declared if is_markup else "".join(f"<p>{escape(line)}</p>" for line in declared.splitlines())
    read = preprocess_utf8(body.encode("utf-8", "ignore"), page.profile)
    hints = page.hints._replace(body="\n".join(block.text for block in read.blocks))
    return replace(read, title=page.title, hints=hints, metadata=page.metadata) if read.blocks else page


def is_declared(page: Page) -> bool:
    """Return whether `read_declared` created the page from the text in its JSON-LD."""
    return len(page.hints.body) >= _SHORTEST and page.hints.body == "\n".join(block.text for block in page.blocks)

"""Chooses the heading with which the Markdown of a page begins, where its main content has none."""

from collections.abc import Sequence

_SHARE = 0.4
"""A block that says less of the title than this is the site's name, or a crumb of the way to the
page."""


def choose_heading(
    title: str, texts: Sequence[str], main_ids: Sequence[int], main_html: str, headline: str | None = None
) -> str:
    """Return the heading that the main content lacks; "" where it has one, or the page has no
    title.

    title: of `<title>`, which often names the site too. texts: of all blocks. main_ids: numbers of
    the main ones, from 1. headline: as the page's metadata has it. The block that says most of the
    title is the heading as readers see it, but for the site's name where another says the headline;
    without such a block it is the headline, else the title.

    >>> texts = ["The Daily", "Rain in Bergen", "It rained."]
    >>> choose_heading("Rain in Bergen | The Daily", texts, [3], "<p>It rained.</p>")
    'Rain in Bergen'
    """
    whole = _normalize(title)
    if not (whole or headline) or "<h1" in main_html:
        return ""
    heading, main = "", False
    chosen = frozenset(main_ids)
    for item_id, text in enumerate(texts, 1):
        if len(heading) < len(text) <= len(title) and _normalize(text) in whole:
            heading, main = text, item_id in chosen
    is_site = (
        headline and _is_site_at_end(heading, title) and any(_normalize(text) == _normalize(headline) for text in texts)
    )
    if not heading or len(heading) < _SHARE * len(title) or is_site:
        heading = headline or title
        # Further down the heading may repeat: in a table about the thing, in a list of links.
        main = any(_normalize(texts[item_id - 1]) == _normalize(heading) for item_id in main_ids[:1])
    return "" if main else " ".join(heading.split())


def _is_site_at_end(heading: str, title: str) -> bool:
    """Tell whether a title only ends with what is taken for its heading ("Rain | The Daily"): after
    a colon stands the page's own, as Blogger has it ("The Daily: Rain")."""
    before = _normalize(title).removesuffix(_normalize(heading)).rstrip()
    return before not in ("", _normalize(title)) and not before.endswith(":")


def _normalize(text: str) -> str:
    return " ".join(text.casefold().split())

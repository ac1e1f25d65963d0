"""Chooses the heading with which the Markdown of a page begins, where its main content has none."""

import re
from collections.abc import Sequence

_SEPARATOR = re.compile(r"\s+(?:[|»·–—-]|::)\s+|\s*[|»]\s*")
_SITE_WORDS = 4
"""What stands behind the last bar of a title and is no longer is a site's name, where the page does
not state that."""
_LONGEST = 1000
"""Characters: no block says a longer title, in which each would be looked for."""
_SHARE = 0.4
"""A block that says less of the title than this is the site's name, or a crumb of the way to the
page."""


def choose_heading(
    title: str,
    texts: Sequence[str],
    main_ids: Sequence[int],
    main_html: str,
    headline: str | None = None,
    site: str | None = None,
) -> str:
    """Return the heading that the main content lacks; "" where it has one, or the page has no
    title.

    Args:
        title: Of `<title>`, which often names the site too.
        texts: Of all blocks.
        main_ids: Numbers of the main ones, from 1.
        headline: As the page's metadata has it. The block that says most of the title is the
            heading as readers see it, but for the site's name where another says the headline;
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
    for item_id, text in enumerate(texts if len(title) <= _LONGEST else (), 1):
        if len(heading) < len(text) <= len(title) and _normalize(text) in whole:
            heading, main = text, item_id in chosen
    own = _find_block(headline, texts) if headline else None
    if own is not None and heading != headline and _names_site(heading, texts[own - 1]):
        heading, main = texts[own - 1], own in chosen
    elif headline and own is None and _names_site(heading, headline):
        heading = headline
    elif not heading or len(heading) < _SHARE * len(title) or (own is not None and _is_site_at_end(heading, title)):
        heading = _leave_site(headline or title, site)
        main = False
    # Further down the heading may repeat: in a table about the thing, in a list of links.
    begin = texts[main_ids[0] - 1][:_LONGEST] if main_ids else ""
    is_said = _normalize(begin) == _normalize(heading) or _names_site(begin, heading)
    is_most = 2 * len(begin) > len(heading) and _names_site(heading, begin)
    return "" if main or is_said or is_most else " ".join(heading.split())


def _find_block(headline: str, texts: Sequence[str]) -> int | None:
    """Return the number of the first block that says the headline and nothing else."""
    normalized = _normalize(headline)
    return next((item_id for item_id, text in enumerate(texts, 1) if _normalize(text) == normalized), None)


def _names_site(heading: str, headline: str) -> bool:
    """Tell whether a heading is the headline and, behind or before a mark, something else."""
    parts = [_normalize(part) for part in _SEPARATOR.split(heading)]
    return len(parts) > 1 and _normalize(headline) in parts


def _leave_site(title: str, site: str | None) -> str:
    """Return a title without the name of the site at its end, or at its start where that is known.

    >>> _leave_site("Rain in Bergen | The Daily", None), _leave_site("Daily - Rain", "Daily")
    ('Rain in Bergen', 'Rain')
    """
    separators = list(_SEPARATOR.finditer(title))
    if not separators:
        return title
    first, last = separators[0], separators[-1]
    head, tail = title[: last.start()], title[last.end() :]
    if site:
        if _normalize(tail) == _normalize(site) and head.strip():
            return head
        return title[first.end() :] if _normalize(title[: first.start()]) == _normalize(site) else title
    is_name = last.group().strip() in ("|", "»", "::") and len(tail) < len(head) and len(tail.split()) <= _SITE_WORDS
    return head if is_name else title


def _is_site_at_end(heading: str, title: str) -> bool:
    """Tell whether a title only ends with what is taken for its heading ("Rain | The Daily"): after
    a colon stands the page's own, as Blogger has it ("The Daily: Rain")."""
    before = _normalize(title).removesuffix(_normalize(heading)).rstrip()
    return before not in ("", _normalize(title)) and not before.endswith(":")


def _normalize(text: str) -> str:
    return " ".join(text.casefold().split())

"""Which site a page is from: the unit that is drawn in bootstrap samples and kept whole in a
train/test split.

Pages of one site share a template, so their scores are not independent. Not every labelled page has
a URL.
"""

import re
from collections import Counter
from urllib.parse import urlsplit

from courlan import extract_domain

# Sites that nearly every page links to; taken as "the commonest link" they would join unrelated
# pages into one host.
LINKED_EVERYWHERE = frozenset({
    "addthis.com", "amazon.com", "cloudflare.com", "delicious.com", "digg.com", "doubleclick.net", "facebook.com",
    "feedburner.com", "google.com", "googleapis.com", "gravatar.com", "instagram.com", "linkedin.com", "pinterest.com",
    "qq.com", "reddit.com", "schema.org", "stumbleupon.com", "t.me", "twitter.com", "w3.org", "weibo.com",
    "whatsapp.com", "wordpress.org", "x.com", "youtube.com",
})  # fmt: skip
CANONICAL = re.compile(
    rb"""<(?:link[^>]{0,300}rel=["']?canonical|meta[^>]{0,300}og:url|base\s)[^>]{0,300}?(?:href|content)=["']?(https?://[^"'\s>]+)"""
    rb"""|<(?:link|meta)[^>]{0,300}?(?:href|content)=["']?(https?://[^"'\s>]+)[^>]{0,300}?(?:rel=["']?canonical|og:url)""",
    re.IGNORECASE,
)
LINK = re.compile(rb"""\s(?:href|src)=["']?(https?://[^"'\s>]{4,200})""", re.IGNORECASE)


def site_of(url: str | None, html: bytes = b"") -> str | None:
    """Return the registered domain of a page ("bbc.co.uk"), or None.

    Looked for in this order: `url`; the page's canonical link, og:url or base; the commonest
    registered domain among its absolute links, social and advertising sites apart, if it occurs at
    least three times.

    >>> site_of("https://www.bbc.co.uk/news/1")
    'bbc.co.uk'
    >>> site_of(None, b'<link rel="canonical" href="http://news.example.org/a">')
    'example.org'
    """
    if url and (domain := _domain(url)):
        return domain
    if match := CANONICAL.search(html):
        domain = _domain((match[1] or match[2]).decode("ascii", "ignore"))
        if domain and domain not in LINKED_EVERYWHERE:
            return domain
    counts = Counter(filter(None, (_domain(link.decode("ascii", "ignore")) for link in set(LINK.findall(html)))))
    for domain, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if domain not in LINKED_EVERYWHERE:
            return domain if count >= 3 else None
    return None


def _domain(url: str) -> str | None:
    """Return the registered domain, or the bare host where there is none (an address,
    "localhost")."""
    if "://" not in url:
        url = f"http://{url}"
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    # fast=True takes blogspot.com for one host; the slow way knows that its sub-domains are sites
    # of their own.
    found = extract_domain(url)
    return str(found) if found else host

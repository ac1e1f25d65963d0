"""Rules for the elements, attributes and URLs that could run code or load something.

The rules check one tag at a time, regardless of its position. This is enough, because a browser
sees exactly these tags. Serialised text and values contain no `<`, and `textarea` and `noscript`
are the only remaining elements with raw text.
"""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from urllib.parse import quote

from dripper.tree.elements import words
from dripper.tree.urls import clean_address, read_scheme

REMOVED = words(
    "script style template iframe frame frameset noembed noframes xmp plaintext embed bgsound base link meta param portal "
    "fencedframe animate animateColor animateMotion animateTransform animatecolor animatemotion animatetransform set discard "
    "handler listener"
)
"""Elements that run code, load a document or change attributes of other elements. They are removed
with their content.

Frames are removed too, even video players. The content of a frame is not in the archive, and would
be another site's code.
"""
UNWRAPPED = words("object applet")
"""Elements that load a document into a plug-in. Their tags are removed, but their content is
kept."""
ADDRESSES = words("href src action poster background cite longdesc data lowsrc dynsrc xlink:href icon")
"""Attributes with a single URL as their value."""
ADDRESS_SETS = words("srcset imagesrcset")

_DROPPED = words(
    "srcdoc formaction ping codebase classid archive code manifest profile datasrc datafld dataformatas actiontype http-equiv "
    "xml:base attributename allowscriptaccess is"
)
"""Attributes that refer to code, to a document or to another base URL."""
_SCHEMES = words(
    "http https ftp ftps mailto tel sms geo news nntp irc ircs xmpp magnet urn doi webcal callto skype whatsapp viber tg"
)
"""Allowed schemes. A list of forbidden schemes would never be complete (`vbscript`, `mhtml`, `jar`,
…)."""
_MEDIA = re.compile(
    r"data:(?:image/(?:png|gif|jpe?g|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)|audio/|video/)", re.IGNORECASE
)
_WINDOWS = words("_blank _self _parent _top")
"""Allowed link targets. Since 2021, browsers do not give a `_blank` window access to the page that
opened it (`noopener`), but a named window has access."""
_TARGET = re.compile(rf' (?:form)?target="(?!(?:{"|".join(sorted(_WINDOWS))})")', re.IGNORECASE)
_OPENER = re.compile(r""" rel="(?:[^"]*[\t\n\f\r ])?opener[\t\n\f\r "]""", re.IGNORECASE)
_SHOWING = words("src srcset poster background")
_TEXTUAL = words("title alt label placeholder value summary abbr content aria-label aria-description datetime class id")
"""Attributes that only contain text or names. Their values may contain `javascript:`."""
_SCRIPT = re.compile(
    r"(?:java|vb|live)script:|mocha:|data:text|data:application|expression\(|-moz-binding|behavio[u]?r:|@import"
)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_IGNORED = re.compile("[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202f\ufeff]+|/\\*.*?\\*/", re.DOTALL)
"""Characters that old browsers ignored inside a scheme or CSS."""
_NAMES = "|".join(sorted((ADDRESSES | ADDRESS_SETS | _DROPPED) | {"style"}))
NOTABLE = re.compile(rf""" (on[^\t\n\f\r =>"]*|{_NAMES})="([^"]*)\"""")
"""Matches an attribute to check. Attributes must be separated by spaces. Values must be in double
quotes, and must not contain double quotes."""
_NOTABLE_NAME = re.compile(rf"""[\t\n\f\r /"'](?:on|(?:{_NAMES})[\t\n\f\r =/>])""")


@cache
def _read_clobbering() -> frozenset[str]:
    """Return the property names of `document` and of forms. If an element has such an id or name,
    scripts that read the property get the element instead. DOMPurify drops these names too."""
    return words(files("dripper.tree").joinpath("clobbering.txt").read_text("utf-8"))


def find_notable(tags: Sequence[str]) -> set[str]:
    """Return the serialised start tags that have an attribute to check. Most tags have none."""
    notable = set(filter(_NOTABLE_NAME.search, tags))
    if "script:" in "".join(tags).lower():
        notable.update(tag for tag in tags if "script:" in tag.lower())
    return notable


def find_reaching(tags: Sequence[str]) -> set[str]:
    """Return the start tags that need a check with `reaches_scripts`."""
    return {tag for tag in tags if ' id="' in tag or ' name="' in tag or 'target="' in tag or ' rel="' in tag}


def reaches_scripts(tag: str) -> bool:
    """Return whether a serialised start tag can disturb a page's scripts with its id or name, or
    can open a window with access to the page.

    >>> [reaches_scripts(f"<a {each}>") for each in ('id="forms"', 'id="part"', 'target="x"')]
    [True, False, True]
    """
    # The serialiser writes exactly one space before an attribute, and no quotation marks inside
    # values.
    start, name = tag.find(' id="'), tag.find(' name="')
    if start >= 0 and tag[start + 5 : tag.find('"', start + 5)] in _read_clobbering():
        return True
    if name >= 0 and tag[name + 7 : tag.find('"', name + 7)] in _read_clobbering():
        return True
    if 'target="' in tag and _TARGET.search(tag) is not None:
        return True
    return ' rel="' in tag and _OPENER.search(tag) is not None


def remove_opener(relations: str) -> str:
    """Remove `opener` from a `rel` value. This keyword gives the new window access to the page.

    >>> remove_opener("nofollow Opener"), remove_opener("noopener")
    ('nofollow', 'noopener')
    """
    safe = [relation for relation in relations.split() if relation.lower() != "opener"]
    return " ".join(safe) if len(safe) < len(relations.split()) else relations


def clean_inert_address(address: str, attribute: str = "href") -> str | None:
    """Clean a URL, or return None if following or showing this URL could run code. Control
    characters could control a terminal, so they are percent-encoded as in browsers.

    >>> clean_inert_address(" java\\nscript:alert(1)"), clean_inert_address("/a b")
    (None, '/a b')
    >>> clean_inert_address(f"/{chr(27)}[2J")
    '/%1B[2J'
    """
    address = clean_address(address)
    if not _runs_nothing(address, attribute):
        return None
    return address if address.isprintable() else _CONTROL.sub(lambda match: quote(match[0]), address)


def _runs_nothing(address: str, attribute: str) -> bool:
    if ":" not in address or address.startswith(("https://", "http://")):
        return True
    # Old browsers treated a backtick as a quotation mark.
    scheme = read_scheme(_IGNORED.sub("", address).lstrip("`'\""))
    if not scheme or scheme in _SCHEMES:
        return True
    return attribute in _SHOWING and _MEDIA.match(address) is not None


def is_inert(attribute: str, value: str) -> bool:
    """Return whether an attribute can be kept. For an attribute with a URL, use
    `clean_inert_address`."""
    name = attribute.lower()
    if name.startswith("on") or name in _DROPPED:
        return False
    if name in ("id", "name"):
        return value not in _read_clobbering()
    if name in ("target", "formtarget"):
        return value.lower() in _WINDOWS
    if name == "style" and "\\" in value:
        # Escapes can hide any CSS, and no useful style needs one.
        return False
    return name in _TEXTUAL or not _SCRIPT.search(_IGNORED.sub("", value).lower())

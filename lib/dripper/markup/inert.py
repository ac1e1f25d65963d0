"""What of markup could run or load something: elements, attributes, addresses.

The rules look at one tag at a time and do not ask where it stands. No element whose content a
browser reads as raw text is left but `textarea` and `noscript`, and serialised texts and values
have no `<`. So a browser finds the very tags that were looked at, whatever tree it builds of them,
and each of them is inert by itself.
"""

import re

from dripper.markup.addresses import cleaned, scheme_of
from dripper.markup.tags import words

REMOVED = words(
    "script style template iframe frame frameset noembed noframes xmp plaintext embed bgsound base link meta param portal "
    "fencedframe animate animateColor animateMotion animateTransform animatecolor animatemotion animatetransform set discard "
    "handler listener"
)
"""Elements that run, load a document, or change attributes of others; they go with all that is in
them.

Frames go too, those of videos as well: what they show is not in the archive, and it would be
another site's code.
"""
UNWRAPPED = words("object applet")
"""Elements that load a plug-in's document; what is in them is shown instead, and stays."""
ADDRESSES = words("href src action poster background cite longdesc data lowsrc dynsrc xlink:href icon")
"""Attributes whose value is one address."""
ADDRESS_SETS = words("srcset imagesrcset")

_DROPPED = words(
    "srcdoc formaction ping codebase classid archive code manifest profile datasrc datafld dataformatas actiontype http-equiv "
    "xml:base attributename allowscriptaccess is"
)
"""Attributes that name code, a document, or another base."""
_SCHEMES = words(
    "http https ftp ftps mailto tel sms geo news nntp irc ircs xmpp magnet urn doi webcal callto skype whatsapp viber tg"
)
"""A list of what is allowed, as there is always one more scheme that runs something (`vbscript`,
`mhtml`, `jar`, …)."""
_MEDIA = re.compile(
    r"data:(?:image/(?:png|gif|jpe?g|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)|audio/|video/)", re.IGNORECASE
)
_SHOWING = words("src srcset poster background")
_TEXTUAL = words("title alt label placeholder value summary abbr content aria-label aria-description datetime class id")
"""Attributes that are shown, or only name something: they may speak of `javascript:`."""
_SCRIPT = re.compile(
    r"(?:java|vb|live)script:|mocha:|data:text|data:application|expression\(|-moz-binding|behavio[u]?r:|@import"
)
_IGNORED = re.compile("[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202f\ufeff]+|/\\*.*?\\*/", re.DOTALL)
"""What old browsers skipped inside of a scheme or of CSS."""
_NAMES = "|".join(sorted((ADDRESSES | ADDRESS_SETS | _DROPPED) | {"style"}))
NOTABLE = re.compile(rf"""(?<=[\t\n\f\r /"'])(on[^\t\n\f\r =>"]*|{_NAMES})="([^"]*)\"""")
"""An attribute that is worth a look, of a tag in which every value has double quotes and none has
one inside."""
_NOTABLE_NAME = re.compile(rf"""[\t\n\f\r /"'](?:on|(?:{_NAMES})[\t\n\f\r =/>])""")


def is_notable(tag: str) -> bool:
    """Tell whether a serialised start tag has an attribute that is worth a look; most have none."""
    return _NOTABLE_NAME.search(tag) is not None or "script:" in tag.lower()


def inert_address(address: str, attribute: str = "href") -> str | None:
    """Return an address, cleaned, if following it or showing it runs nothing, else None.

    >>> inert_address(" java\\nscript:alert(1)"), inert_address("/a b")
    (None, '/a b')
    """
    address = cleaned(address)
    if ":" not in address or address.startswith(("https://", "http://")):
        return address
    # Old browsers took a backtick for a quotation mark.
    scheme = scheme_of(_IGNORED.sub("", address).lstrip("`'\""))
    if not scheme or scheme in _SCHEMES:
        return address
    return address if attribute in _SHOWING and _MEDIA.match(address) else None


def is_inert(attribute: str, value: str) -> bool:
    """Tell whether an attribute that is no address can stay."""
    name = attribute.lower()
    if name.startswith("on") or name in _DROPPED:
        return False
    if name == "style" and "\\" in value:
        # CSS escapes can spell anything, and no style that a page needs has one.
        return False
    return name in _TEXTUAL or not _SCRIPT.search(_IGNORED.sub("", value).lower())

"""Sets of element names, grouped by function. All profiles share them.

The lists from MinerU-HTML 1.1 are exact copies, because the block rules of every profile are based
on them (see `blocks.segment`).
"""


def words(text: str) -> frozenset[str]:
    """Split space-separated names into a set."""
    return frozenset(text.split())


INLINE = words(
    "a abbr acronym b basefont bdo big blink button cccode-inline ccmath-inline cite code dfn em font i img input kbd "
    "label map mark marked-tail marked-text nobr object optgroup option pic q s samp script small span strike strong "
    "sub sup svg time u var"
)
"""Inline elements. Every other element, even an unknown one, is a block element. Source:
MinerU-HTML 1.1."""

TABLE_PARTS = words("caption colgroup col thead tbody tfoot tr td th br")
"""Elements that a data table is allowed to contain in addition to INLINE. A table with any other
element is a layout table."""

LISTS = frozenset({"ul", "ol", "dl"})
LIST_ITEMS = {"ul": frozenset({"li"}), "ol": frozenset({"li"}), "dl": frozenset({"dt", "dd"})}
ITEMS = frozenset({"li", "dt", "dd"})
CELLS = frozenset({"td", "th"})
HEADINGS = words("h1 h2 h3 h4 h5 h6")

HTML_VOID = words("area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr")
"""Elements that the HTML standard serialises without an end tag (13.3)."""

LIBXML2_VOID = words("area base basefont br col frame hr img input isindex link meta param")
"""Elements that libxml2's HTML writer (version 2.14) serialises without an end tag."""

RAW_TEXT = ("iframe", "noembed", "noframes", "script", "style", "textarea", "title", "xmp")
"""The parser reads the content of these elements as plain text until the end tag (HTML standard
13.2.6.2)."""

LINE_BREAKING = words(
    "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav noscript ol optgroup option p "
    "pre search section select summary table tbody td tfoot th thead tr ul"
)
"""Elements that a browser shows on a separate line or in a table cell. `Block.text` has line breaks
around them."""

CONSENT = words(
    "BorlabsCookieBox CybotCookiebotDialog cmpbox cookie-law-info-bar cookie-notice cookiescript_injected didomi-popup "
    "moove_gdpr_cookie_modal onetrust-banner-sdk onetrust-consent-sdk onetrust-pc-sdk qc-cmp2-container tarteaucitron"
)
"""Ids of the dialogs that common cookie consent tools add to a page."""

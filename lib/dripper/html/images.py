"""Images that load late: where the real address is."""

import re

from dripper.markup.tree import attribute, escape_attribute

_LAZY = (
    "data-src",
    "data-original",
    "data-lazy-src",
    "data-lazy",
    "data-actualsrc",
    "data-echo",
    "data-url",
    "data-hi-res-src",
)
_LAZY_SETS = ("data-srcset", "data-lazy-srcset", "srcset")
_NAMES = re.compile(f" ({'|'.join([*_LAZY, *_LAZY_SETS])})=")
_ADDRESS = re.compile(
    r"(?!.*\s)(?:(?:https?:)?//.|[^{}<>:]+\.(?:jpe?g|png|gif|webp|avif|svg|bmp)\b|/.)", re.IGNORECASE | re.DOTALL
)
"""How an address begins; blanks are looked for once and for all."""


def with_real_address(tag: str) -> str:
    """Return an `img` start tag whose `src` is the address that a browser would show in the end.

    Lazy loaders keep it in `data-src` and its kin, or in `srcset`, and leave nothing, a `data:`
    picture or a placeholder in `src`.

    >>> with_real_address('<img src="data:image/gif;base64,R0lG" data-src="/a.jpg">')
    '<img src="/a.jpg" data-src="/a.jpg">'
    """
    names = set(_NAMES.findall(tag)) if " data-" in tag or " srcset=" in tag else set()
    if not names:
        return tag
    source = attribute(tag, "src")
    shown = (source or "").strip()
    real = next(
        (value for name in _LAZY if name in names and _ADDRESS.match(value := (attribute(tag, name) or "").strip())),
        "",
    )
    if not real and (not shown or shown.startswith("data:")):
        real = next((address for name in _LAZY_SETS if (address := largest_of(attribute(tag, name) or ""))), "")
    if not real or real == shown:
        return tag
    new = f' src="{escape_attribute(real)}"'
    if source is not None:
        return re.sub(r'(?<=[\t\n\f\r "])src="[^"]*"', lambda _: new[1:], tag, count=1)
    return tag[:4] + new + tag[4:]


def largest_of(candidates: str) -> str:
    """Return the address with the largest descriptor of a `srcset` (HTML standard 4.8.4.2.1), or
    "".

    >>> largest_of("a.jpg 480w, b.jpg 1080w")
    'b.jpg'
    """
    best, best_size = "", -1.0
    for candidate in re.split(r",\s+|,(?=https?:|/)", candidates.strip()):
        address, _, descriptor = candidate.strip(" ,\t\n").partition(" ")
        match = re.fullmatch(r"(\d+(?:\.\d+)?)[wxh]", descriptor.strip())
        size = float(match.group(1)) if match else 1.0
        if address and not address.startswith("data:") and size > best_size:
            best, best_size = address, size
    return best

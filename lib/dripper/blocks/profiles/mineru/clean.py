"""Cleans a page for the MinerU profiles. As in MinerU-HTML, the page is parsed twice, and some
elements are removed before blocks are searched for.

The first parser parses the page and serialises the result. libxml2 parses this markup again, with
its own rules. The `Tree` is built from the output of libxml2's writer. The first parser of MinerU
1.1 was Modest (2015, unmaintained). This profile uses its successor lexbor, which gives the same
simplified HTML on 99.6 % of real pages. The first parser of MinerU 1.0 was BeautifulSoup on
Python's `html.parser`, and this profile uses the same.
"""

import re
from collections.abc import Mapping

from dripper.blocks.profiles.mineru.second_parse import read_again
from dripper.blocks.profiles.mineru.version import CleanPage, Version
from dripper.facts.metadata import read_metadata
from dripper.tree.head import HEAD, read_head
from dripper.tree.parser import Reading, parse_document, read_title, refuse_costly
from dripper.tree.tree import Tree

_SRC = re.compile(""" src=("[^"]*"|'[^']*')""")
_URL_ESCAPED = re.compile(r"[^\x21-\x7e]")


def read_clean(html: bytes, version: Version, reading: Reading) -> CleanPage:
    """Parse a page and remove the elements that MinerU removes. Raises PageError(PARSE_FAILED) if
    MinerU fails on the whole page.
    """
    refuse_costly(html, reading.limits)
    document = parse_document(html)
    title = read_title(document)
    tree, scripts, addresses, is_odd = read_again(version.first_parse(html, document), version.second_parse)
    metadata = read_metadata(read_head(document.css(HEAD)), tree, title, reading)
    clean = CleanPage(tree, scripts, tree.parts.copy(), bytearray(len(tree)), title, is_odd, metadata)
    _strip_addresses(clean, addresses)
    version.remove(clean)
    return clean


def find_scripts(tree: Tree) -> list[int]:
    """Return the `script` and `style` elements in document order; their text is stored
    separately."""
    return [element for element, tag in enumerate(tree.tags) if tag in ("script", "style")]


def _strip_addresses(clean: CleanPage, addresses: Mapping[int, str]) -> None:
    """Set the `src` of some images to a stripped URL. `addresses` maps the numbers of these images
    to their URLs."""
    images = [i for i, tag in enumerate(clean.tree.tags) if tag == "img"] if addresses else []
    for number, address in addresses.items():
        index = clean.tree.opens[images[number]]
        before, _, after = _SRC.split(clean.texts[index], maxsplit=1)
        tag = f"{before} src={quote_attribute(escape_url(address))}{after}"
        clean.texts[index] = tag
        clean.tree.names[tag] = "img"


def escape_url(address: str) -> str:
    """Return an address as libxml2 writes it in `href` and `src`: each byte that is not printable
    ASCII becomes %XX."""
    return _URL_ESCAPED.sub(lambda match: "".join(f"%{byte:02X}" for byte in match.group().encode()), address)


def quote_attribute(value: str) -> str:
    """Return an attribute value as libxml2 writes it: in double quotes, or in single quotes if only
    double quotes would need escapes."""
    value = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if '"' not in value:
        return f'"{value}"'
    return f"'{value}'" if "'" not in value else '"' + value.replace('"', "&quot;") + '"'

"""Finds the URLs of an image: its `src`, URLs for lazy loaders, and responsive candidates."""

import re
from collections.abc import Iterator

from dripper.tree.tree import Tree, attribute, escape_attribute, raw_attributes, unescape
from dripper.tree.urls import read_set

_PICTURE = re.compile(r"(?!.*\s)[^{}<>]+\.(?:jpe?g|png|gif|webp|avif|svg|bmp)\b", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(r"(?!.*\s)(?:(?:https?:)?//.|/.)", re.IGNORECASE | re.DOTALL)
_LAZY = re.compile(r"data-(?:[a-z]+-)*(?:src|original|lazy|actualsrc|echo|image|img)(?:-[a-z]+)?")
"""Attributes in which lazy loaders keep an image's URL. The URL counts even without an image
extension."""
_SIZE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)[wx]")
_SHOWING = frozenset({"img", "amp-img", "source"})
_Attributes = list[tuple[str, str]]
_Candidate = tuple[float, bool, str]


def find_addresses(tree: Tree, element: int) -> list[str]:
    """Return an image's URLs as written, best first: the responsive candidates from largest to
    smallest, then URLs for lazy loaders, then `src`. For a `video`, return its poster. `data:` URLs
    are ignored.

    Args:
        element: An `img`, `amp-img` or `video`, or a `picture` with its sources.
    """
    if tree.tags[element] == "img" and (only := _find_only_address(tree.start_tag(element))) is not None:
        return [only] if only else []
    tags, sets, plain = tree.tags, list[_Candidate](), list[str]()
    for inner in range(element, tree.lasts[element] + 1):
        if tags[inner] == "video":
            return [poster for key, poster in _clean(raw_attributes(tree.start_tag(inner))) if key == "poster"]
        if tags[inner] in _SHOWING:
            _sort(raw_attributes(tree.start_tag(inner)), tags[inner] == "source", sets, plain)
    sets.sort(key=lambda candidate: candidate[:2])
    return list(dict.fromkeys([*(address for _, _, address in sets), *plain]))


def _sort(raw: _Attributes, is_source: bool, sets: list[_Candidate], plain: list[str]) -> None:
    """Add the URLs in an element's attributes to the candidates `sets`, or to `plain`."""
    lazy: list[str] = []
    for key, value in _clean(raw):
        if "srcset" in key:
            # If two candidates have the same size, prefer the candidate from the `img`, because all
            # programs can show its format.
            sets += [(-size, is_source, url) for size, url in read_candidates(value) if url[:5] != "data:"]
        elif key == "src":
            plain.append(value)
        elif key[:5] == "data-" and (_PICTURE.match(value) or (_LAZY.fullmatch(key) and _ADDRESS.match(value))):
            lazy.append(value)
    plain[:0] = lazy


def _find_only_address(tag: str) -> str | None:
    """Return the `src` of an image's start tag if the tag has no other URL. Return "" if the tag
    has no URL, and None if it may have other URLs. This fast path covers most images."""
    if "srcset" in tag or " data-" in tag or "&nbsp;" in tag:
        return None
    address = (attribute(tag, "src") or "").strip()
    return "" if address[:5] == "data:" else address


def use_best_address(tag: str) -> str:
    """Return an image's start tag with its best URL as `src`.

    >>> use_best_address('<img src="s.jpg" srcset="s.jpg 300w, l.jpg 900w">')
    '<img src="l.jpg" srcset="s.jpg 300w, l.jpg 900w">'
    """
    if " srcset=" not in tag and " data-" not in tag:
        return tag
    sets, plain, raw = list[_Candidate](), list[str](), raw_attributes(tag)
    _sort(raw, False, sets, plain)
    best = min(sets, key=lambda candidate: candidate[:2])[2] if sets else next(iter(plain), None)
    return tag if best is None else set_source(tag, raw, best)


def set_source(tag: str, raw: _Attributes, address: str) -> str:
    """Return a start tag with `address` as its `src`. `raw` are the tag's attributes."""
    new = f'src="{escape_attribute(address)}"'
    start = tag.find(" ") if " " in tag else len(tag) - 1
    if all(key != "src" for key, _ in raw):
        return f"{tag[:start]} {new}{tag[start:]}"
    attributes = ['{}="{}"'.format(key, value.replace('"', "&quot;")) for key, value in raw if key != "src"]
    return " ".join([tag[:start], new, *attributes]) + ">"


def show_pictures(tree: Tree) -> None:
    """Change a tree so that the `img` in each `picture` has the picture's best URL as its `src`.
    Also turn each `amp-img` into an `img`, because only a script can show an `amp-img`."""
    names = set(tree.names.values())
    if "picture" in names:
        end = -1
        for picture in tree.find("picture"):
            if picture <= end:  # within another `picture`, which also has these URLs
                continue
            end = tree.lasts[picture]
            inside = range(picture + 1, end + 1)
            image = next((element for element in inside if tree.tags[element] == "img"), -1)
            if image > 0 and (best := find_addresses(tree, picture)):
                tag = tree.start_tag(image)
                _write(tree, image, set_source(tag, raw_attributes(tag), best[0]), "img")
    if "amp-img" in names:
        for element in tree.find("amp-img"):
            if tree.start_tag(element).startswith("<amp-img"):
                first, last = tree.opens[element], tree.closes[element]
                tree.parts[first + 1 : last + 1] = [""] * (last - first)
                tree.names[""] = ""
                _write(tree, element, use_best_address("<img" + tree.start_tag(element)[len("<amp-img") :]), "img")


def _write(tree: Tree, element: int, tag: str, name: str) -> None:
    tree.parts[tree.opens[element]], tree.tags[element], tree.names[tag] = tag, name, name


def _clean(raw: _Attributes) -> _Attributes:
    return [(key, unescape(value)) for key, each in raw if (value := each.strip()) and value[:5] != "data:"]


def read_candidates(value: str) -> Iterator[tuple[float, str]]:
    """Yield the size and URL of each candidate in a `srcset` (HTML standard 4.8.4.2.1).

    >>> list(read_candidates("a.jpg 480w, b,c.jpg 2x, d.jpg"))
    [(480.0, 'a.jpg'), (2.0, 'b,c.jpg'), (1.0, 'd.jpg')]
    """
    for address, descriptor in read_set(value):
        size = _SIZE.search(descriptor)
        yield (float(size[1]) if size else 1.0), address

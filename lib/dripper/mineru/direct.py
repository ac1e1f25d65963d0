"""The tree that libxml2 makes of a page which an HTML5 parser wrote, without libxml2: a second parser takes a fifth of the
profile's time.

Of 8,456 labelled pages, 8,293 are read so, each with the same result as by libxml2; the others are left to it (`second_parse`).
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from dripper.markup.scan import DROP, END, VOID, read_names, split
from dripper.markup.tags import LIBXML2_VOID, RAW_TEXT
from dripper.markup.tree import Tree, cut_parts, escape
from dripper.mineru.forbidden import has_forbidden
from dripper.mineru.libxml2 import CLOSERS, DEEPEST, UnforeseenError, as_written, unclosed_before

_NAME = re.compile("[a-z][a-z0-9:_-]{0,90}", re.IGNORECASE)
_LEFT = frozenset({"frameset", "isindex", "plaintext"})
"""Names of elements in which libxml2 goes other ways."""
_RAW_END = {name: re.compile(rf"</{name}[\t\n\f\r />]", re.IGNORECASE) for name in RAW_TEXT}
_TEXT_ONLY = frozenset({"title", "textarea"})
"""These hold text alone for libxml2, and references in it."""


class Read(NamedTuple):
    """What libxml2 reads from a page.

    tree: as it writes it, but without the texts of script and style. scripts: these, in document order. addresses: by the image's
        number, each `src` that has blanks around, without them (libxml2 writes `%20`).
    has_forbidden: some FORBIDDEN character is in it.
    """

    tree: Tree
    scripts: list[str]
    addresses: Mapping[int, str]
    has_forbidden: bool


def read_directly(document: LexborHTMLParser) -> Read | None:
    """Return what libxml2 would read from a document, which loses its scripts; None where it may differ."""
    try:
        scripts = _take_scripts(raw := document.css(", ".join(RAW_TEXT)))
        markup = (document.html or "<html></html>").replace("&nbsp;", "\u00a0")
        if "\r" in markup:
            markup = markup.replace("\r\n", "\n").replace("\r", "\n")
        tree, padded = _read(split(markup))
    except UnforeseenError:
        return None
    if "</template>" in tree.names and sum(tag in RAW_TEXT for tag in tree.tags) != len(raw):
        # What a template holds is no part of the document, so it was not found.
        return None
    images = [tree.start_tag(i) for i, tag in enumerate(tree.tags) if tag == "img"] if padded else []
    addresses = {number: padded[tag] for number, tag in enumerate(images) if tag in padded}
    return Read(tree, scripts, addresses, has_forbidden(markup))


def _take_scripts(raw: Sequence[LexborNode]) -> list[str]:
    """Take the texts of script and style out of their document, and escape other raw text, which libxml2 writes escaped."""
    scripts = []
    for node in raw:
        name, child, text = node.tag or "", node.first_child, ""
        if child is not None:
            text = child.text_content or ""
            if child.next is not None or child.tag != "-text" or "<?xml" in text or _RAW_END[name].search(text):
                # Elements or comments, as inside SVG; or what libxml2 would take for a declaration or for the end.
                raise UnforeseenError
            if "<!--" in text and _swallows_its_end(text):
                raise UnforeseenError
        if name in _TEXT_ONLY:
            continue
        if child is not None:
            child.decompose()
        if name in ("script", "style"):
            scripts.append(text)
        elif text:
            node.insert_child(escape(text))
    return scripts


def _swallows_its_end(script: str) -> bool:
    """Tell whether a script ends inside `<!-- <script>`, where an end tag does not count (HTML standard 13.2.5.31)."""
    commented = script.rpartition("-->")[2].partition("<!--")[2].lower()
    return "<script" in commented


def _read(pieces: list[str]) -> tuple[Tree, dict[str, str]]:
    """Return the tree of texts and tags in turn, and the addresses that `as_written` names."""
    names, kinds, start_tags = read_names(set(pieces[1::2]), LIBXML2_VOID)
    all_names = set(names.values())
    if not all_names.isdisjoint(_LEFT) or not all(map(_NAME.fullmatch, all_names)):
        raise UnforeseenError
    if camel := {name for name in all_names if not name.islower()}:
        names = {tag: name.lower() if name in camel else name for tag, name in names.items()}
    written, padded = as_written(start_tags)
    written.update((tag, tag.lower()) for tag in names if kinds[tag] == END and not tag.islower())
    dropped = [2 * number + 1 for number, tag in enumerate(pieces[1::2]) if kinds[tag] == DROP]
    if any(pieces[index][1] == "?" for index in dropped):
        # lexbor lets an element have such a name; for libxml2 it begins a processing instruction.
        raise UnforeseenError
    parts = cut_parts(pieces, [(index, index) for index in dropped])
    tags = parts[1::2]
    if written:
        parts[1::2] = [written.get(tag, tag) for tag in tags]
        names.update((new, names[tag]) for tag, new in written.items())
    tree = Tree(parts, names, LIBXML2_VOID)
    _add_elements(tree, list(map(names.__getitem__, tags)), bytes(map(kinds.__getitem__, tags)))
    if any(tree.tags.count(name) != 1 for name in ("html", "head", "body")):
        # libxml2 has each of these once; lexbor lets others stand inside SVG and MathML.
        raise UnforeseenError
    return tree, padded


def _add_elements(tree: Tree, names: list[str], kinds: bytes) -> None:
    """Give the tree its elements: libxml2 has its own opinion which start tags close what is open.

    names, kinds: of the tags among its parts, which change where end tags are missing or too many.
    """
    tags, parents, opens = tree.tags, tree.parents, tree.opens
    closes, lasts = [0] * len(kinds), [0] * len(kinds)
    changes: list[tuple[int, str]] = []
    open_names, outer, number, parent, shift = [""], list[int](), 0, -1, 0
    for index, name, kind in zip(range(1, 2 * len(kinds), 2), names, kinds, strict=True):
        early = 0
        if kind == END:
            if name != open_names[-1] and not (early := unclosed_before(name, open_names)):
                changes.append((index, ""))
                shift -= 2
                continue
        elif name in CLOSERS:
            while open_names[-1 - early] in CLOSERS[name]:
                early += 1
        while early:
            early -= 1
            changes.append((index, f"</{open_names.pop()}>"))
            closes[parent], lasts[parent] = index + shift, number - 1
            parent = outer.pop()
            shift += 2
        if kind == END:
            closes[parent], lasts[parent] = index + shift, number - 1
            open_names.pop()
            parent = outer.pop()
            continue
        tags.append(name)
        parents.append(parent)
        opens.append(index + shift)
        if kind == VOID:
            closes[number], lasts[number] = index + shift, number
        else:
            outer.append(parent)
            open_names.append(name)
            parent = number
            if len(outer) > DEEPEST:
                raise UnforeseenError
        number += 1
    tree.closes, tree.lasts = closes[:number], lasts[:number]
    if changes:
        tree.parts = _changed_parts(tree.parts, changes)
        tree.names.update((end_tag, end_tag[2:-1]) for _, end_tag in changes if end_tag)


def _changed_parts(parts: list[str], changes: list[tuple[int, str]]) -> list[str]:
    """Return the parts with the end tags put in before the indexes in `changes`, and without the tags there where it has ""."""
    changed: list[str] = []
    position = 0
    for index, end_tag in changes:
        changed += parts[position:index]
        position = index
        if end_tag:
            changed += (end_tag, "")
        else:
            changed[-1] += parts[index + 1]
            position = index + 2
    return changed + parts[position:]

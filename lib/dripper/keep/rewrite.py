"""Rewrites main HTML for output: makes the markup inert and URLs absolute."""

import re

from dripper.facts.media.addresses import show_pictures
from dripper.facts.media.players import link_films
from dripper.settings import HtmlSettings
from dripper.tree.inert import (
    ADDRESS_SETS,
    ADDRESSES,
    NOTABLE,
    REMOVED,
    UNWRAPPED,
    clean_inert_address,
    find_notable,
    find_reaching,
    is_inert,
    reaches_scripts,
    remove_opener,
)
from dripper.tree.parser import output_limit, refuse_large
from dripper.tree.read import read_main_html
from dripper.tree.scan import StartTag, make_tree
from dripper.tree.tree import Tree, escape_attribute, raw_attributes, unescape
from dripper.tree.urls import Base, rewrite_set

_REGULAR = re.compile(r"""<[^\t\n\f\r "'<>=/]+(?: [^\t\n\f\r "'<>=/]+="[^"]*")*>""")


def rewrite(main_html: str, settings: HtmlSettings, base: Base | None = None, *, is_pruned: bool = True) -> Tree:
    """Rewrite main HTML for output, and return its tree.

    Takes time linear in len(main_html).

    Args:
        base: The base for the page's relative URLs. If None, these stay relative.
        is_pruned: Whether the main HTML comes from `prune` with the `dripper` or `paper` profile.
            Otherwise it is parsed first.

    Raises:
        PageError(OUTPUT_TOO_LARGE): If the output is larger than
        `tree.parser.output_limit(len(main_html))`, for example because every link repeats a
        long base.

    >>> tree = rewrite('<p onclick="a()"><a href="/b">c</a></p>', HtmlSettings(), Base.of("https://e.org/"))
    >>> "".join(tree.parts)
    '<p><a href="https://e.org/b">c</a></p>'
    """
    tree = read_main_html(main_html, is_pruned=is_pruned)
    rewrite_tree(tree, settings, base, best_images=is_pruned)
    if is_pruned and link_films(tree):
        tree = make_tree(tree.parts)
    return tree


def rewrite_tree(tree: Tree, settings: HtmlSettings, base: Base | None, *, best_images: bool = True) -> None:
    """Change an existing tree of main HTML in the same way as `rewrite`. The parts of removed
    elements become empty.

    Args:
        best_images: Whether to give each image the best of its URLs.
    """
    size = sum(map(len, tree.parts))
    limit = output_limit(size)
    tags = Tags(settings.inert, base if settings.absolute_links else None, limit)
    changed = tags.read([tag for tag in tree.names if tag[1:2] != "/"])
    hidden = {tag for tag, start in changed.items() if start.hidden}
    for element in tree.outermost(tree.tagged(hidden)):
        tree.replace(element, "")
    if len(changed) > len(hidden):
        tree.names |= {start.markup: tree.names[tag] for tag, start in changed.items() if not start.hidden}
        tree.parts[1::2] = [changed[tag].markup if tag in changed else tag for tag in tree.parts[1::2]]
    if tags.growth * len(tree) > limit - size:
        refuse_large("main HTML", sum(map(len, tree.parts)), limit)
    if settings.inert and not UNWRAPPED.isdisjoint(tree.tags):
        for element in tree.named(UNWRAPPED):
            tree.retag(element, "", "")
        tree.names[""] = ""
    if best_images:
        show_pictures(tree)


class Tags:
    """Rewrites start tags.

    growth: The largest number of characters added to a tag so far.
    """

    def __init__(self, inert: bool, base: Base | None, limit: int) -> None:
        self._inert = inert
        self._base = base
        self._limit = limit
        self._written = 0
        self.growth = 0

    def read(self, tags: list[str]) -> dict[str, StartTag]:
        """Return a `StartTag` for each tag to change, or to remove together with its element."""
        changed: dict[str, StartTag] = {}
        notable, reaching = find_notable(tags), find_reaching(tags) if self._inert else set[str]()
        for tag in tags:
            name = tag[1 : tag.find(" ")]
            if self._inert and name in REMOVED:
                changed[tag] = StartTag(tag, hidden=True)
            elif " " in tag:
                reaches = tag in reaching and reaches_scripts(tag)
                if (reaches or tag in notable) and (new := self._rewrite(name, tag, reaches)) != tag:
                    changed[tag] = StartTag(new)
                    self.growth = max(self.growth, len(new) - len(tag))
        return changed

    def _rewrite(self, name: str, tag: str, reaches: bool) -> str:
        is_regular = tag.count('"') == 2 * tag.count('="') and _REGULAR.fullmatch(tag)
        if is_regular and not reaches and "script:" not in tag.lower():
            # Names contain no quotation marks and no value ends with "=". Therefore every match is
            # a whole attribute.
            return NOTABLE.sub(self._attribute, tag)
        written = [f"<{name}"]
        for attribute, raw in raw_attributes(tag):
            value = self._value(attribute, unescape(raw))
            if value is not None:
                written.append(f'{attribute}="{escape_attribute(value)}"')
        return " ".join(written) + ">"

    def _attribute(self, match: re.Match[str]) -> str:
        """Return a rewritten attribute with the space before it, or "" to drop the attribute."""
        attribute, raw = match.groups()
        if raw.startswith(("https://", "http://")) and raw.isprintable() and " " not in raw and attribute in ADDRESSES:
            return match.group()
        value = self._value(attribute, unescape(raw))
        return "" if value is None else f' {attribute}="{escape_attribute(value)}"'

    def _value(self, attribute: str, value: str) -> str | None:
        """Return the new value of an attribute, or None to drop the attribute."""
        if attribute in ADDRESSES:
            return self._address(value, attribute)
        if attribute in ADDRESS_SETS:
            return rewrite_set(value, lambda address: self._address(address, "srcset")) or None
        if not self._inert:
            return value
        if attribute == "rel":
            return remove_opener(value)
        return value if is_inert(attribute, value) else None

    def _address(self, address: str, attribute: str) -> str | None:
        inert = clean_inert_address(address, attribute) if self._inert else address
        if inert is None or self._base is None:
            return inert
        absolute = self._base.join(inert)
        self._written += max(0, len(absolute) - len(address))
        if self._written > self._limit:
            refuse_large("main HTML", self._written, self._limit)
        return absolute

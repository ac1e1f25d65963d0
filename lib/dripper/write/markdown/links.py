"""Writes links, card links, and images."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from dripper.settings import MarkdownSettings
from dripper.tree.elements import HEADINGS, LINE_BREAKING
from dripper.tree.inert import clean_inert_address
from dripper.tree.permalinks import is_permalink
from dripper.tree.tree import attribute
from dripper.write.markdown.inert import IMAGE, LINK, OPENERS, TARGET, drop_unseen, is_plain, write_destination
from dripper.write.markdown.lines import BLANK, Lines
from dripper.write.markdown.repeats import is_said_beside
from dripper.write.markdown.source import SHOWS, STRUCTURE, Source

_LINES = LINE_BREAKING - {"br", "pre", "noscript"}
_BACK_LINK = re.compile(r"[\s\u21a9\u2191\ufe0e\ufe0f^]+")
_LONGEST_PERMALINK = 32
"""Maximum length, in characters, of a permalink's text, or of the text of a link back from a
note."""
_BREAKS_IN_LINK = re.compile("[ \u00a0\n]*\n[ \u00a0\n]*")


@dataclass(slots=True)
class LinkWriter:
    """Writes the links and images of one tree."""

    source: Source
    lines: Lines
    settings: MarkdownSettings
    lost: Collection[int]
    """The links to fragments that do not exist."""
    cards: dict[int, int] = field(default_factory=dict)
    """For each card that is a link: maps the element in which the link is written to the number of
    the hole that holds the URL."""

    def begin_anchor(self, element: int, tag: str) -> bool:
        """Begin a link, unless it shows nothing or has no target."""
        source, lines = self.source, self.lines
        is_short = "#" in tag and source.size(element) <= _LONGEST_PERMALINK
        if is_short and (is_permalink(source.tree, element) or self._is_back_link(element, tag)):
            return True
        is_empty = not (source.has_text(element) or source.holds(element, SHOWS))
        if lines.is_in_link or element in self.lost or is_empty:
            return False
        href = attribute(tag, "href") or "" if self.settings.links == "keep" else ""
        is_ready = href.startswith(("https://", "http://")) and is_plain(href)
        address = href if is_ready else clean_inert_address(href)
        if not address or address == "#":
            return False
        title = attribute(tag, "title") if " title=" in tag else None
        said = source.read(element).strip() if title else ""
        lines.holes.append(write_destination(address, title or "", said) if title or not is_ready else address)
        hole = len(lines.holes) - 1
        if not source.holds(element, STRUCTURE):
            self.begin(element, hole)
            return False
        target = self._find_title(element)
        if target is not None:
            self.cards[target] = hole
        return lines.begin_block(element, tag)

    def _is_back_link(self, element: int, tag: str) -> bool:
        """Return whether a link shows only an arrow, like the link from a note back to its mark."""
        if self.source.holds(element, SHOWS):
            return False
        return (
            "#" in (attribute(tag, "href") or "")
            and _BACK_LINK.fullmatch(self.source.read(element).strip()) is not None
        )

    def _find_title(self, element: int) -> int | None:
        """Return the element in which a card's link is written: the card's first heading or, if it
        has none, its first line with text."""
        source = self.source
        heading = next((each for each in source.within(element, HEADINGS) if source.has_text(each)), None)
        if heading is not None:
            return heading
        lines = (each for each in source.within(element, _LINES) if source.has_text(each))
        return next((each for each in lines if not source.holds(each, LINE_BREAKING)), None)

    def begin(self, element: int, hole: int) -> None:
        """Begin a link at an element.

        Args:
            hole: The number of the hole with the link's URL.
        """
        lines = self.lines
        lines.pieces.append(LINK)
        lines.is_in_link = True
        lines.n_inline += 1
        lines.at_end(element, self._end, len(lines.pieces), hole)

    def _end(self, start: int, hole: int) -> None:
        lines, pieces = self.lines, self.lines.pieces
        lines.is_in_link = False
        lines.n_inline -= 1
        inside = "".join(pieces[start:])
        if inside.isascii() and inside[:1] > " " < inside[-1:] and "\n" not in inside:
            pieces.append(TARGET.format(hole))
            return
        text = inside.strip(BLANK)
        before, _, behind = inside.partition(text) if text else ("", "", inside)
        if text.strip(OPENERS + "\ufde7\ufde9\ufdeb"):
            pieces[start - 1 :] = [before, LINK, _BREAKS_IN_LINK.sub("\n", text), TARGET.format(hole), behind]
        else:
            pieces[start - 1 :] = [inside]

    def write_image(self, element: int, tag: str) -> bool:
        """Write an image, or only its alternative text if it has no URL."""
        if self.settings.images == "drop":
            return True
        address, alt = clean_inert_address(attribute(tag, "src") or ""), drop_unseen(attribute(tag, "alt") or "")
        title = attribute(tag, "title") or "" if " title=" in tag else ""
        said, alt = alt, " ".join(alt.split())
        if alt and is_said_beside(self.source, self.source.tree.opens[element], alt):
            alt = ""
        pieces, holes = self.lines.pieces, self.lines.holes
        if not address:
            pieces.append(alt)
            return True
        holes.append(write_destination(address, title, said))
        self.lines.out.has_images = True
        pieces += [IMAGE.format(element), alt, TARGET.format(len(holes) - 1)]
        return True

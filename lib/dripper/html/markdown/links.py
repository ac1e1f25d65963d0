"""Writes links, the links of cards, and images."""

import re

from dripper.html.inert import clean_inert_address
from dripper.html.markdown.inert import IMAGE, LINK, OPENERS, TARGET, drop_unseen, is_plain, write_destination
from dripper.html.markdown.lines import BLANK, LineWriter
from dripper.html.markdown.look import SHOWS, STRUCTURE
from dripper.html.markdown.notes import Notes
from dripper.html.markdown.repeats import is_said_beside
from dripper.html.tree.elements import HEADINGS, LINE_BREAKING
from dripper.html.tree.permalinks import is_permalink
from dripper.html.tree.tree import attribute

_LINES = LINE_BREAKING - {"br", "pre", "noscript"}
_BACK_LINK = re.compile(r"[\s\u21a9\u2191\ufe0e\ufe0f^]+")
_LONGEST_PERMALINK = 32
"""Characters of text of a permalink, or of a link from a note back to its place."""
_BREAKS_IN_LINK = re.compile("[ \u00a0\n]*\n[ \u00a0\n]*")


class LinkWriter(LineWriter):
    """Writes the links and images of one tree."""

    _notes: Notes
    _card_links: dict[int, int]
    """The elements that get the link of a card, each with the number of the link's hole."""
    _is_in_link = False

    def _begin_anchor(self, element: int, tag: str) -> bool:
        tree = self._tree
        look = self._look
        if (
            "#" in tag
            and look.size(element) <= _LONGEST_PERMALINK
            and (is_permalink(tree, element) or self._is_back_link(element, tag))
        ):
            return True
        if (
            self._is_in_link
            or element in self._notes.lost
            or not (look.has_text(element) or look.holds(element, SHOWS))
        ):
            return False
        href = attribute(tag, "href") or "" if self._settings.links == "keep" else ""
        is_ready = href.startswith(("https://", "http://")) and is_plain(href)
        address = href if is_ready else clean_inert_address(href)
        if not address or address == "#":
            return False
        title = attribute(tag, "title") if " title=" in tag else None
        said = self._look.read(element).strip() if title else ""
        self._holes.append(write_destination(address, title or "", said) if title or not is_ready else address)
        hole = len(self._holes) - 1
        if not self._look.holds(element, STRUCTURE):
            self._begin_link(element, hole)
            return False
        target = self._find_title(element)
        if target is not None:
            self._card_links[target] = hole
        self._break()
        self._at_end(element, self._break)
        return False

    def _is_back_link(self, element: int, tag: str) -> bool:
        """Return whether a link leads from a note back to its place in the text, as it shows only
        an arrow."""
        if self._look.holds(element, SHOWS):
            return False
        return (
            "#" in (attribute(tag, "href") or "") and _BACK_LINK.fullmatch(self._look.read(element).strip()) is not None
        )

    def _find_title(self, element: int) -> int | None:
        """Return the element of a card that gets its link: its first heading, otherwise its first
        line with a text."""
        look = self._look
        heading = next((each for each in look.within(element, HEADINGS) if look.has_text(each)), None)
        if heading is not None:
            return heading
        lines = (each for each in look.within(element, _LINES) if look.has_text(each))
        return next((each for each in lines if not look.holds(each, LINE_BREAKING)), None)

    def _begin_link(self, element: int, hole: int) -> None:
        self._pieces.append(LINK)
        self._is_in_link = True
        self._n_inline += 1
        self._at_end(element, self._end_link, len(self._pieces), hole)

    def _end_link(self, start: int, hole: int) -> None:
        self._is_in_link = False
        self._n_inline -= 1
        inside = "".join(self._pieces[start:])
        if inside.isascii() and inside[:1] > " " < inside[-1:] and "\n" not in inside:
            self._pieces.append(TARGET.format(hole))
            return
        text = inside.strip(BLANK)
        before, _, behind = inside.partition(text) if text else ("", "", inside)
        if text.strip(OPENERS + "\ufde7\ufde9\ufdeb"):
            self._pieces[start - 1 :] = [before, LINK, _BREAKS_IN_LINK.sub("\n", text), TARGET.format(hole), behind]
        else:
            self._pieces[start - 1 :] = [inside]

    def _write_image(self, element: int, tag: str) -> bool:
        if self._settings.images == "drop":
            return True
        address, alt = clean_inert_address(attribute(tag, "src") or ""), drop_unseen(attribute(tag, "alt") or "")
        title = attribute(tag, "title") or "" if " title=" in tag else ""
        said, alt = alt, " ".join(alt.split())
        if alt and is_said_beside(self._look, self._texts, self._tree.opens[element], alt):
            alt = ""
        if not address:
            self._pieces.append(alt)
            return True
        self._holes.append(write_destination(address, title, said))
        self._out.has_images = True
        self._pieces += [IMAGE.format(element), alt, TARGET.format(len(self._holes) - 1)]
        return True

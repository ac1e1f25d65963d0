"""Scores the images and captions in main HTML, using the markup of the `readability` set.

An image is correct if it is in the page's ground truth. A caption of the ground truth is found if
the output's text contains it; white space, punctuation and case are ignored. All URLs of an image
count as one image: its `src`, its candidates (`srcset`, `source`) and the URLs for a lazy loader.
Sites are divided into two halves: rules are chosen on one half and evaluated on the other. Text is
not scored.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dripper.tree.parser import parse_document
from dripper.tree.urls import Base
from dripper_lab.datasets import LabelledPage, read_pages

DATA_SET = "readability"
HALVES = ("choosing", "judging")
ADDRESS = "http://fakehost/test/page.html"
"""The URL of every page in Readability's tests, from which the set was taken."""
_BASE = Base.of(ADDRESS)
_CANDIDATE = re.compile(r"[\s,]*(\S+[^\s,])(?:\s[^,]*)?")
_LAZY = re.compile(r"(?:https?:)?//\S+|\S+\.(?:jpe?g|png|gif|webp|avif|svg)\b\S*|/\S+", re.IGNORECASE)
_SHOWN = "img, amp-img, picture, video[poster], graphic"
_SITE = re.compile(
    r"""<link[^>]+rel=["']?canonical["']?[^>]+href=["']?https?://([^/"'\s>]+)|og:url["'][^>]+content=["']https?://([^/"']+)"""
)
_LINK = re.compile(r"""href=["']https?://([^/"']+)""")


class ShownTruth:
    """The correct images and captions of a page."""

    def __init__(self, page: LabelledPage) -> None:
        truth = page.truth_html or ""
        shown = list(read_images(truth))
        self._same = Same([*read_images(page.html.decode("utf-8", "replace")), *shown])
        self.images = {self._same.find(group[0]) for group in shown}
        self.captions = [
            (text, {self._same.find(each) for each in addresses}) for text, addresses in read_captions(truth)
        ]

    def count(self, markup: str) -> Counter[str]:
        """Count the images and captions in an extractor's markup.

        Returns:
            images, captions: counts in the ground truth. found: images in the markup. right: found
                images that are in the ground truth. `told`: captions with text that occurs in the
                markup. figures: captions with a figure that has an image in the markup. captioned:
                captions that meet both conditions.
        """
        found = {self._same.find(group[0]) for group in read_images(markup)}
        letters = _letters_of(parse_document(markup).text()) if markup else ""
        return Counter(
            images=len(self.images),
            captions=len(self.captions),
            right=len(found & self.images),
            found=len(found),
            told=sum(caption in letters for caption, _ in self.captions),
            figures=sum(not ids.isdisjoint(found) for _, ids in self.captions),
            captioned=sum(caption in letters and not ids.isdisjoint(found) for caption, ids in self.captions),
        )


def read_shown(data: Path, *halves: str) -> Iterator[tuple[LabelledPage, ShownTruth]]:
    """Yield the pages of the given halves (`choosing`, `judging`) that have an image in their
    ground truth. Raises InputError if the set is missing."""
    for page in read_pages(data, DATA_SET):
        if find_half(page) in halves and (truth := ShownTruth(page)).images:
            yield page, truth


def f1_of(count: Counter[str]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of images."""
    precision, recall = count["right"] / max(1, count["found"]), count["right"] / max(1, count["images"])
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def find_half(page: LabelledPage) -> str:
    """Return the half to which a page's site belongs. The site comes from the page's canonical URL
    or `og:url`. Without these, it is the site to which the page links most."""
    text = page.html.decode("utf-8", "replace")
    own = _SITE.search(text)
    hosts = Counter(_LINK.findall(text)).most_common(1)
    host = (own[1] or own[2]) if own else hosts[0][0] if hosts else page.id
    site = ".".join(host.split(".")[-2:])
    return ("choosing", "judging")[int(hashlib.sha256(site.encode()).hexdigest(), 16) % 2]


def read_images(markup: str) -> Iterator[list[str]]:
    """Yield the URLs of each image in the markup."""
    for node in parse_document(markup).css(_SHOWN) if markup else ():
        inner = node.css("source, img") if node.tag == "picture" else [node]
        if addresses := [_clean(address) for each in inner for address in _read_addresses(each.attributes)]:
            yield addresses


def _read_addresses(attributes: dict[str, str | None]) -> Iterator[str]:
    for name, value in attributes.items():
        value = (value or "").strip()
        if "srcset" in name:
            yield from (each for each in _CANDIDATE.findall(value) if not each.startswith("data:"))
        elif name in ("src", "poster") or (name.startswith("data-") and _LAZY.fullmatch(value)):
            yield from () if not value or value.startswith("data:") else (value,)


def _clean(address: str) -> str:
    absolute = _BASE.join(address) if _BASE is not None else address
    return re.sub(r"^https?:", "", absolute)


class Same:
    """Groups URLs that show the same image because they occur in the same element."""

    def __init__(self, groups: list[list[str]]) -> None:
        self._first: dict[str, str] = {}
        for group in groups:
            for address in group[1:]:
                self._first[self.find(group[0])] = self.find(address)

    def find(self, address: str) -> str:
        """Return the URL that represents all URLs of an image."""
        while (first := self._first.get(address, address)) != address:
            address = first
        return address


def read_captions(markup: str) -> list[tuple[str, list[str]]]:
    """Return the characters of each caption, and the URLs of the images in its figure."""
    captions: list[tuple[str, list[str]]] = []
    for caption in parse_document(markup).css("figcaption"):
        figure = caption.parent
        while figure is not None and not (
            addresses := [each for group in read_images(figure.html or "") for each in group]
        ):
            figure = figure.parent
        if (letters := _letters_of(caption.text())) and figure is not None:
            captions.append((letters, addresses))
    return captions


def _letters_of(text: str) -> str:
    """Remove differences between extractors from `text`: white space, punctuation and case."""
    return re.sub(r"\W+", "", text).lower()

"""Images and captions of main content, beside Trafilatura with images and readability-lxml.

    python benchmarks/images.py --data ../shared/data [--half choosing|judging|both]

Truth is the markup of the set `readability`: an image is right if the page's truth has it, a
caption if its letters do, in a row. An image counts once, whatever addresses it has: those of its
`src`, its candidates (`srcset`, `source`) and its lazy loader's are one. Pages are parted by their
sites: rules are chosen on one half and judged on the other. Pages without an image in their truth
are left out. Says nothing about text.
"""

import argparse
import hashlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import trafilatura
from readability import Document  # type: ignore[import-untyped]

import dripper
from dripper.html.tree.parser import parse_document
from dripper.html.tree.urls import Base
from dripper_lab.datasets import LabelledPage, read_pages

ADDRESS = "http://fakehost/test/page.html"
"""Where the tests that the set comes from say that each page lies."""
_BASE = Base.of(ADDRESS)
_CANDIDATE = re.compile(r"[\s,]*(\S+[^\s,])(?:\s[^,]*)?")
_LAZY = re.compile(r"(?:https?:)?//\S+|\S+\.(?:jpe?g|png|gif|webp|avif|svg)\b\S*|/\S+", re.IGNORECASE)
_SHOWN = "img, amp-img, picture, video[poster], graphic"
_SITE = re.compile(
    r"""<link[^>]+rel=["']?canonical["']?[^>]+href=["']?https?://([^/"'\s>]+)|og:url["'][^>]+content=["']https?://([^/"']+)"""
)
_LINK = re.compile(r"""href=["']https?://([^/"']+)""")


def main(argv: list[str]) -> int:
    """Print a table of precision, recall and F1 by extractor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--half", choices=("choosing", "judging", "both"), default="judging")
    options = parser.parse_args(argv)
    counts = {name: Counter[str]() for name in EXTRACTORS}
    pages = images = captions = 0
    for page in read_pages(options.data, "readability"):
        truth = page.truth_html or ""
        if options.half not in (find_half(page), "both") or not (shown := list(read_images(truth))):
            continue
        same = Same([*read_images(page.html.decode("utf-8", "replace")), *shown])
        true_images = {same.find(group[0]) for group in shown}
        true_captions = [(text, {same.find(each) for each in addresses}) for text, addresses in read_captions(truth)]
        pages, images, captions = pages + 1, images + len(true_images), captions + len(true_captions)
        for name, extract in EXTRACTORS.items():
            markup = extract(page)
            found = {same.find(group[0]) for group in read_images(markup)}
            told = _letters_of(parse_document(markup).text()) if markup else ""
            counts[name].update(
                right=len(found & true_images),
                found=len(found),
                captions=sum(caption in told for caption, _ in true_captions),
                figures=sum(not ids.isdisjoint(found) for _, ids in true_captions),
                captioned=sum(caption in told and not ids.isdisjoint(found) for caption, ids in true_captions),
            )
    print(f"{pages} pages, {images} images, {captions} captions; half: {options.half}\n")
    print("| | precision | recall | F1 | captions | of figures found |\n|---|---|---|---|---|---|")
    for name, count in counts.items():
        precision, recall = count["right"] / max(1, count["found"]), count["right"] / max(1, images)
        f1 = 2 * precision * recall / max(1e-9, precision + recall)
        share = count["captions"] / max(1, captions)
        captioned = f"{count['captioned']} of {count['figures']}"
        print(f"| {name} | {precision:.3f} | {recall:.3f} | {f1:.3f} | {share:.3f} | {captioned} |")
    return 0


def find_half(page: LabelledPage) -> str:
    """Return the half that a page's site is in; the site is that of the page's own address, else
    the one that it links to most."""
    text = page.html.decode("utf-8", "replace")
    own = _SITE.search(text)
    hosts = Counter(_LINK.findall(text)).most_common(1)
    host = (own[1] or own[2]) if own else hosts[0][0] if hosts else page.id
    site = ".".join(host.split(".")[-2:])
    return ("choosing", "judging")[int(hashlib.sha256(site.encode()).hexdigest(), 16) % 2]


def read_images(markup: str) -> Iterator[list[str]]:
    """Yield the addresses of each image of some markup."""
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
    """Which addresses show the same image, those of one element."""

    def __init__(self, groups: list[list[str]]) -> None:
        self._first: dict[str, str] = {}
        for group in groups:
            for address in group[1:]:
                self._first[self.find(group[0])] = self.find(address)

    def find(self, address: str) -> str:
        """Return the address that stands for all of an image's."""
        while (first := self._first.get(address, address)) != address:
            address = first
        return address


def read_captions(markup: str) -> list[tuple[str, list[str]]]:
    """Return the letters of each caption, and the addresses of its figure's images."""
    captions: list[tuple[str, list[str]]] = []
    for caption in parse_document(markup).css("figcaption"):
        figure = caption.parent
        while figure is not None and not (
            addresses := [each for group in read_images(figure.html or "") for each in group]
        ):
            figure = figure.parent
        if (told := _letters_of(caption.text())) and figure is not None:
            captions.append((told, addresses))
    return captions


def _letters_of(text: str) -> str:
    """Return a text without what extractors write differently: blanks, punctuation, case."""
    return re.sub(r"\W+", "", text).lower()


def _ours(page: LabelledPage) -> str:
    return dripper.extract(page.html, url=ADDRESS).main_html


def _text_alone(page: LabelledPage) -> str:
    return dripper.extract(page.html, url=ADDRESS, settings={"html.media": False}).main_html


def _trafilatura(page: LabelledPage) -> str:
    markup = trafilatura.extract(page.html, url=ADDRESS, include_images=True, output_format="xml") or ""
    return markup.replace("<graphic", "<img")


def _readability(page: LabelledPage) -> str:
    return str(Document(page.html.decode("utf-8", "replace"), url=ADDRESS).summary(html_partial=True))


EXTRACTORS: dict[str, Callable[[LabelledPage], str]] = {
    "dripper": _ours,
    "dripper, html.media=false": _text_alone,
    "trafilatura with images": _trafilatura,
    "readability-lxml": _readability,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Reads WebMainBench records: JSON lines with annotated HTML, ground truth in Markdown, and tags.

The annotation tool left traces in the pages: `cc-select` on the elements that an annotator chose,
the `mark-selected` class on the same elements, `data-anno-uid` on every element, and a style sheet.
All of them must be removed before extraction. The class alone, which WebMainBench's own cleanup
does not remove, would reveal the answer to extractors that read class names.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import lxml.html

from dripper.errors import InputError
from dripper_lab.datasets import LabelledPage
from dripper_lab.evaluation.extractors.base import markdown

DATA_SET = "webmainbench"
RICH = ("table", "code", "equation")
"""The kinds of rich content that a record can declare."""
_UNSEEN = "ancestor::script or ancestor::style or ancestor::template"
_LATEX = re.compile(r"\\\(.{1,400}?\\\)|\\\[.{1,400}?\\\]|\$\$.{1,400}?\$\$|\\begin\{(?:equation|align)", re.DOTALL)
_TOOL_STYLE = re.compile(r'<style id="cc-extraStyle"[^>]*>.*?</style>\s*', re.DOTALL)
_TOOL_TAGS = re.compile(r"</?(?:marked-tail|marked-text|marked-inline)\b[^>]*>", re.IGNORECASE)
_TOOL_ATTRIBUTES = re.compile(r'\s+(?:cc-select|data-anno-uid)="[^"]*"')
_TOOL_CLASS = re.compile(r'(\sclass=")([^"]*\bmark-selected\b[^"]*)"')


def read_webmainbench(path: Path) -> Iterator[LabelledPage]:
    """Yield the pages of a WebMainBench file. Annotations are removed from `html`.

    truth_text: `convert_main_content`. If it is missing, `truth_html` converted to Markdown, which
    is how WebMainBench derives `convert_main_content`. If both are missing, `groundtruth_content`.

    truth_html: `main_html`, otherwise the marked elements.

    more: The tags (level, style, table, code, equation), and `groundtruth_content`, which is
    manually corrected Markdown.

    Raises InputError with the line number of a malformed record.
    """
    try:
        stream = path.open(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    with stream:
        for number, line in enumerate(stream, start=1):
            try:
                yield _page(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InputError(f"{path} line {number} is not a WebMainBench record: {error!r}") from error


def strip_marks(html: str) -> str:
    """Remove the traces of the annotation tool from HTML.

    >>> strip_marks('<p class="lead mark-selected" cc-select="true" data-anno-uid="a1">x</p>')
    '<p class="lead">x</p>'
    """
    html = _TOOL_TAGS.sub("", _TOOL_STYLE.sub("", html))
    return _TOOL_CLASS.sub(_without_mark, _TOOL_ATTRIBUTES.sub("", html))


def extract_marked(html: str) -> str:
    """Reduce a page to its marked elements, their contents and their ancestors. Return "" if no
    element is marked.

    WebMainBench creates `main_html` in the same way. Hidden elements are skipped.
    """
    root: Any = lxml.html.document_fromstring(
        html.encode("utf-8", "replace"), parser=lxml.html.HTMLParser(encoding="utf-8")
    )
    remaining: set[Any] = set()
    for element in _find_marked(root):
        remaining.update(element.iter())
        remaining.update(element.iterancestors())
    if not remaining:
        return ""
    for element in [element for element in root.iter() if element not in remaining]:
        if element.getparent() is not None:
            element.drop_tree()
    return strip_marks(str(lxml.html.tostring(root, encoding="unicode")))


def strata(page: LabelledPage) -> list[str]:
    """Return the groups under which the benchmark's authors report a page's scores, as declared in
    its record: its level, kinds of rich content and style, and whether it is English.

    Records that declare none of these (three of the five samples) belong to no group.
    """
    meta: Mapping[str, Any] = page.more if page.data_set == DATA_SET else page.more.get("meta") or {}
    groups = [str(meta["level"])] if meta.get("level") else []
    groups += [kind for kind in RICH if meta.get(kind)]
    if meta.get("style"):
        groups.append(str(meta["style"]).lower())
    if page.language or meta.get("language"):
        groups.append("en" if "en" in (page.language, meta.get("language")) else "non_en")
    return groups


def level_score(html: str) -> float:
    """Return the difficulty of a page, 0 to 1, according to the paper's A.5: the mean of four
    measures.

    1. Structure: the depth (relative to 20) and the largest number of children (relative to 300),
    each to the power of 0.7.
    2. How often consecutive elements alternate between having and not having their own text.
    3. The kinds of rich content, detected by elements and symbols as in A.5.
    4. The fraction of text in links.

    The constants come from the benchmark's public statistics. Levels are divided at the 30th and
    70th percentiles of the available pages.
    """
    if not html.strip():
        return 0.0
    root: Any = lxml.html.document_fromstring(
        html.encode("utf-8", "replace"), parser=lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    )
    depth, width, flips, n_elements = 0, 0, 0, 0
    before = False
    depths: dict[Any, int] = {}
    for element in root.iter(lxml.etree.Element):
        depths[element] = depths.get(element.getparent(), 0) + 1
        children = list(element.iterchildren(lxml.etree.Element))
        depth, width = max(depth, depths[element]), max(width, len(children))
        own = "".join([element.text or "", *(child.tail or "" for child in element)]).strip() != ""
        flips += n_elements > 0 and own != before
        n_elements, before = n_elements + 1, own
    text = sum(map(len, root.xpath(f"//text()[not({_UNSEEN})]")))
    linked = sum(map(len, root.xpath(f"//a//text()[not({_UNSEEN})]")))
    diversity = (
        0.3 * bool(root.xpath("//code | //pre"))
        + 0.3 * bool(root.xpath("//math") or _LATEX.search(html))
        + 0.4 * bool(root.xpath("//table"))
    )
    structure = (min(depth / 20, 1) ** 0.7 + min(width / 300, 1) ** 0.7) / 2
    return float(structure + flips / n_elements + diversity + (linked / text if text else 0.0)) / 4


def _page(record: dict[str, Any]) -> LabelledPage:
    html, meta = record["html"], record.get("meta") or {}
    main_html = record.get("main_html") or (extract_marked(html) if html.strip() else "")
    corrected = record.get("groundtruth_content")
    truth = record.get("convert_main_content") or markdown(main_html) or corrected
    if not isinstance(truth, str):
        raise ValueError("no truth: neither convert_main_content, nor main_html, nor marks, nor groundtruth_content")
    language = meta.get("language") or record.get("language")
    return LabelledPage(
        record["track_id"], DATA_SET, record.get("url"), strip_marks(html).encode("utf-8", "surrogatepass"),
        "utf-8 (stored as JSON string)", truth, main_html or None, page_type=meta.get("style"),
        language=language if language != "non_en" else None, more={**meta, "groundtruth_content": corrected},
    )  # fmt: skip


def _find_marked(element: Any) -> Iterator[Any]:
    style = element.get("style") or ""
    if "display: none" in style or "display:none" in style:
        return
    if element.get("cc-select") == "true":
        yield element
        return
    for child in element.iterchildren(tag=lxml.etree.Element):
        yield from _find_marked(child)


def _without_mark(match: re.Match[str]) -> str:
    names = [name for name in match[2].split() if name != "mark-selected"]
    return f'{match[1]}{" ".join(names)}"' if names else ""

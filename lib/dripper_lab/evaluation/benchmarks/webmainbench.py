"""The record format of WebMainBench: JSON lines with marked HTML, Markdown truth, and tags.

The pages went through an annotation tool that left its traces in them: `cc-select` on what a person
chose, the class `mark-selected` beside it, `data-anno-uid` on every element, a style sheet. All
must go before an extractor sees the page: the class alone gives the answer to anything that reads
class names. (WebMainBench's own clean-up leaves it in.)
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lxml.html

from dripper.errors import InputError
from dripper_lab.datasets import LabelledPage
from dripper_lab.evaluation.extractors.base import markdown

DATA_SET = "webmainbench"
_TOOL_STYLE = re.compile(r'<style id="cc-extraStyle"[^>]*>.*?</style>\s*', re.DOTALL)
_TOOL_TAGS = re.compile(r"</?(?:marked-tail|marked-text|marked-inline)\b[^>]*>", re.IGNORECASE)
_TOOL_ATTRIBUTES = re.compile(r'\s+(?:cc-select|data-anno-uid)="[^"]*"')
_TOOL_CLASS = re.compile(r'(\sclass=")([^"]*\bmark-selected\b[^"]*)"')


def read_webmainbench(path: Path) -> Iterator[LabelledPage]:
    """Yield the pages of a WebMainBench file, annotations removed from `html`.

    truth_text: `convert_main_content`, else the marked elements as Markdown, which is how it was
    made; with neither, `groundtruth_content`. truth_html: `main_html`, else the marked elements.
    more: the tags (level, style, table, code, equation) and `groundtruth_content`, the
    hand-corrected Markdown. Raises InputError with the line that is wrong.
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
                raise InputError(f"{path} line {number} is no WebMainBench record: {error!r}") from error


def strip_marks(html: str) -> str:
    """Remove what the annotation tool added.

    >>> strip_marks('<p class="lead mark-selected" cc-select="true" data-anno-uid="a1">x</p>')
    '<p class="lead">x</p>'
    """
    html = _TOOL_TAGS.sub("", _TOOL_STYLE.sub("", html))
    return _TOOL_CLASS.sub(_without_mark, _TOOL_ATTRIBUTES.sub("", html))


def extract_marked(html: str) -> str:
    """Return the page cut down to its marked elements, with what is in them and around them; "" if
    none is marked.

    As WebMainBench makes `main_html`: hidden elements are passed over, all inside a marked element
    stays, and of the rest only ancestors.
    """
    root: Any = lxml.html.document_fromstring(
        html.encode("utf-8", "replace"), parser=lxml.html.HTMLParser(encoding="utf-8")
    )
    kept: set[Any] = set()
    for element in _marked(root):
        kept.update(element.iter())
        kept.update(element.iterancestors())
    if not kept:
        return ""
    for element in [element for element in root.iter() if element not in kept]:
        if element.getparent() is not None:
            element.drop_tree()
    return strip_marks(str(lxml.html.tostring(root, encoding="unicode")))


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


def _marked(element: Any) -> Iterator[Any]:
    style = element.get("style") or ""
    if "display: none" in style or "display:none" in style:
        return
    if element.get("cc-select") == "true":
        yield element
        return
    for child in element.iterchildren(tag=lxml.etree.Element):
        yield from _marked(child)


def _without_mark(match: re.Match[str]) -> str:
    names = [name for name in match[2].split() if name != "mark-selected"]
    return f'{match[1]}{" ".join(names)}"' if names else ""

"""The targets of fuzzing: functions of bytes that raise if something is wrong.

`run.py` drives them by Atheris; `test_finds.py` calls them with earlier finds, and needs no
Atheris.
"""

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import markdown_it

from dripper.errors import PageError
from dripper.html import preprocess, prune_page, to_markdown, to_text
from dripper.keep.rewrite import rewrite
from dripper.page.extraction import Extractor
from dripper.settings import HtmlSettings, LabelerSettings, ReadSettings, Settings
from dripper.tree.urls import Base
from dripper.warc import decode, read_records
from fuzz.seeds import ENDINGS
from support.dangers import dangers
from support.laws import check_laws
from support.renderers import forged

ADDRESS = "https://e.org/a/b"
_RENDER = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render


def fuzz_records(data: bytes) -> None:
    """Archives: no exception; each record is a page, or skipped and counted.

    The first byte chooses the ending of the archive's name.
    """
    ending = ENDINGS[data[0] % len(ENDINGS)] if data else "warc"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a.{ending}"
        path.write_bytes(data[1:])
        reader = read_records(str(path), ReadSettings())
        n_pages = sum(1 for _ in reader)
    report = reader.report
    assert report.pages == n_pages
    assert report.records == report.pages + sum(report.skipped.values())


def fuzz_decode(data: bytes) -> None:
    """Characters: any bytes are text, which any writer of UTF-8 takes. The header ends at the first
    line's end."""
    header, _, payload = data.partition(b"\n")
    for content_type in (header.decode("latin-1"), None):
        decode(payload, content_type).text.encode()


def fuzz_html(data: bytes) -> None:
    """Pages: blocks and main HTML obey the laws, and main HTML is inert."""
    html = decode(data).text
    try:
        check_laws(html)
        page = preprocess(html)
        written = rewrite(prune_page(page, page.item_ids), HtmlSettings(), Base.of(ADDRESS))
    except PageError:
        return
    found = dangers("".join(written.parts))
    # In an address of a page the word of a script's scheme is a word.
    assert [each for each in found if not re.match(r"[\w:-]+=https?://", each)] == []


def fuzz_markdown(data: bytes) -> None:
    """Markdown: a renderer that passes HTML through shows no element that is not in main HTML."""
    page = Extractor(Settings(labeler=LabelerSettings(name="all"))).extract(data, ADDRESS)
    if page.error_code is not None:
        assert page.error_code.value not in ("internal", "crashed"), page.error_detail
        return
    to_text(page.main_html)
    # The first has the page's title before it.
    for markdown, more in ((page.markdown, "<h1>title</h1>"), (to_markdown(page.main_html), "")):
        # A formula has no escapes.
        if "$" not in markdown:
            assert forged(_RENDER(markdown), page.main_html + more, "markdown-it") == [], markdown


def fuzz_metadata(data: bytes) -> None:
    """Whole pages with the labeler `cpu`: metadata is valid JSON, and no page is an internal
    error."""
    page = _extractor().extract(data, ADDRESS)
    assert page.error_code is None or page.error_code.value != "internal", page.error_detail
    json.dumps(asdict(page), default=str, ensure_ascii=False).encode()


_shared: list[Extractor] = []


def _extractor() -> Extractor:
    if not _shared:
        _shared.append(Extractor())
    return _shared[0]


TARGETS: dict[str, Callable[[bytes], None]] = {
    "records": fuzz_records,
    "decode": fuzz_decode,
    "html": fuzz_html,
    "markdown": fuzz_markdown,
    "metadata": fuzz_metadata,
}

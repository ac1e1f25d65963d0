"""Document loaders in the classes of their own packages (make test-adapters)."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import dripper
from dripper.adapters.loading import PageLoader
from dripper.errors import InputError, SettingsError
from support.warcs import page, pages, write_warc


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page, an archive of two pages, and a file that is not a page."""
    made = tmp_path_factory.mktemp("site")
    (made / "a.html").write_bytes(b'<meta name="author" content="Ann Lee">' + page(1)[1])
    (made / "b.html").write_bytes(b"%PDF-1.7")
    write_warc(made / "c.warc.gz", pages(5, 2))
    return made


def test_pages_are_loaded_in_order_and_failures_logged(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        loaded = list(PageLoader(folder, jobs=2, url_prefix="https://example.org/").load())
    assert [found.metadata["title"] for found in loaded] == ["Article 1", "Article 5", "Article 6"]
    assert loaded[0].text == dripper.extract(page(1)[1]).markdown
    assert loaded[0].metadata["url"] == "https://example.org/a.html"
    assert loaded[0].metadata["authors"] == "Ann Lee"
    assert "https://example.org/b.html has no content (not_html)" in caplog.text
    assert len({found.id for found in loaded}) == 3


def test_what_cannot_work_is_told_before_any_page() -> None:
    with pytest.raises(InputError, match="does not exist"):
        PageLoader("/nowhere")
    with pytest.raises(SettingsError, match="form='pdf'"):
        PageLoader("/", "pdf")  # type: ignore[arg-type]


def test_langchain(folder: Path) -> None:
    pytest.importorskip("langchain_core", reason="LangChain is not installed: make test-adapters")
    from langchain_core.documents import Document

    from dripper.adapters.langchain import DripperLoader

    documents = DripperLoader([folder], form="text", jobs=1).load()
    assert all(isinstance(document, Document) for document in documents)
    assert documents[1].page_content == dripper.extract(page(5)[1]).text
    assert documents[1].metadata["source"] == "http://example.org/5"


def test_llama_index(folder: Path) -> None:
    pytest.importorskip("llama_index.core", reason="LlamaIndex is not installed: make test-adapters")
    from llama_index.core.node_parser import MarkdownNodeParser
    from llama_index.core.schema import Document

    from dripper.adapters.llama_index import DripperReader

    documents = DripperReader().load_data(folder, jobs=1)
    assert all(isinstance(document, Document) for document in documents)
    assert documents[0].text == dripper.extract(page(1)[1]).markdown
    nodes = MarkdownNodeParser().get_nodes_from_documents(documents)
    assert {node.metadata["title"] for node in nodes} == {"Article 1", "Article 5", "Article 6"}


def test_haystack(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("haystack", reason="Haystack is not installed: make test-adapters")
    from haystack import Pipeline
    from haystack.dataclasses import ByteStream

    from dripper.adapters.haystack import DripperConverter

    pipeline = Pipeline()
    pipeline.add_component("pages", DripperConverter(settings={"markdown.links": "text"}, jobs=1))
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["dripper.adapters.haystack"])
    stream = ByteStream(b"<p>It rained all day in <a href=b>Bergen</a>.", meta={"url": "https://example.org/rain"})
    with caplog.at_level(logging.WARNING):
        sources = [folder / "a.html", "/gone.html", folder / "b.html", stream]
        documents = again.run({"pages": {"sources": sources, "meta": {"site": "x"}}})["pages"]["documents"]
    assert [document.content for document in documents] == [
        dripper.extract(page(1)[1]).markdown,
        "It rained all day in Bergen.\n",
    ]
    assert (documents[1].meta["url"], documents[1].meta["site"]) == ("https://example.org/rain", "x")
    assert "/gone.html cannot be read" in caplog.text
    assert "has no content (not_html)" in caplog.text


SPIDER = """
import scrapy, sys
from scrapy.crawler import CrawlerProcess

class Pages(scrapy.Spider):
    name = "pages"
    start_urls = sys.argv[2:]

    def parse(self, response):
        yield {"url": response.url, "html": response.body}
        yield {"url": "no page"}

process = CrawlerProcess({
    "ITEM_PIPELINES": {"dripper.adapters.scrapy.DripperPipeline": 300},
    "FEEDS": {sys.argv[1]: {"format": "jsonlines"}},
    "DRIPPER": {"markdown.title": "exclude"},
    "LOG_LEVEL": "WARNING",
    "TELNETCONSOLE_ENABLED": False,
})
process.crawl(Pages)
process.start()
"""


def test_scrapy(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("scrapy", reason="Scrapy is not installed: make test-adapters")
    import json

    urls = [(folder / name).as_uri() for name in ("a.html", "b.html")]
    out = tmp_path / "items.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", SPIDER, str(out), *urls], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    items = {(item["url"], len(item) > 1): item for item in map(json.loads, out.read_text().splitlines())}
    expected = dripper.extract((folder / "a.html").read_bytes(), url=urls[0], settings={"markdown.title": "exclude"})
    first, second = items[urls[0], True], items[urls[1], True]
    assert (first["markdown"], first["title"], "html" in first) == (expected.markdown, "Article 1", False)
    assert (second["error_code"], second["error_detail"]) == ("not_html", "it is a PDF document")
    assert ("no page", False) in items

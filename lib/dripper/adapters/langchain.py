"""Loads pages as LangChain documents.

    from dripper.adapters.langchain import DripperLoader

    documents = DripperLoader(["saved/", "crawl.warc.gz"]).load()

Pages are read from files, folders, archives and tables.
"""

from collections.abc import Iterator
from typing import Any

from dripper import extras as optional
from dripper.adapters.loading import PageLoader

with optional.needed("dripper.adapters.langchain", "langchain"):
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.documents import Document


class DripperLoader(BaseLoader):  # type: ignore[misc]
    """Loads each page as a document with its main content and metadata.

    Args:
        given: See `dripper.adapters.loading.PageLoader`.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        self._pages = PageLoader(*given, **named)

    def lazy_load(self) -> Iterator[Document]:
        """Yield the documents one by one."""
        for page in self._pages.load():
            yield Document(id=page.id, page_content=page.text, metadata=page.metadata)

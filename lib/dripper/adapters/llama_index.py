"""Loads pages as LlamaIndex documents.

    from dripper.adapters.llama_index import DripperReader

    documents = DripperReader().load_data(["saved/", "crawl.warc.gz"])

Pages are read from files, folders, archives and tables.
"""

from collections.abc import Iterable
from typing import Any

from dripper import extras as optional
from dripper.adapters.loading import PageLoader

with optional.needed("dripper.adapters.llama_index", "llama-index"):
    from llama_index.core.readers.base import BaseReader
    from llama_index.core.schema import Document


class DripperReader(BaseReader):  # type: ignore[misc]
    """Loads each page as a document with its main content and metadata."""

    def lazy_load_data(self, *given: Any, **named: Any) -> Iterable[Document]:
        """Yield the documents.

        Args:
            given: See `dripper.adapters.loading.PageLoader`.
        """
        for page in PageLoader(*given, **named).load():
            yield Document(id_=page.id, text=page.text, metadata=page.metadata)

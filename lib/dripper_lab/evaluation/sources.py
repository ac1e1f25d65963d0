"""Reads pages for an evaluation from the sets in a data folder and a WebMainBench file."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from dripper.errors import InputError
from dripper_lab.datasets import LabelledPage, PageCounts, count_pages, read_pages
from dripper_lab.evaluation.benchmarks.webmainbench import DATA_SET, read_webmainbench, strip_marks

SAMPLES = "webmainbench-samples"


@dataclass(frozen=True, slots=True)
class PageSource:
    """The source of an evaluation's pages.

    data: The data folder.

    sample: The maximum number of pages per set, always the same pages; None means all.

    cache: The folder for unpacked archives.

    webmainbench: The file for the set "webmainbench".
    """

    data: Path
    sample: int | None = None
    cache: Path | None = None
    webmainbench: Path | None = None

    def pages(self, data_set: str) -> Iterator[LabelledPage]:
        """Yield the pages of a set without annotations. Raises InputError if the set is missing or
        malformed."""
        if data_set == DATA_SET:
            yield from self._webmainbench_pages()
        elif data_set == SAMPLES:
            for page in read_pages(self.data, data_set, sample=self.sample, cache=self.cache):
                yield replace(
                    page, html=strip_marks(page.html.decode("utf-8", "replace")).encode("utf-8", "surrogatepass")
                )
        else:
            yield from read_pages(self.data, data_set, sample=self.sample, cache=self.cache)

    def counts(self, data_set: str) -> PageCounts:
        """Count the pages of a set by usability, before sampling."""
        if data_set == DATA_SET:
            n = sum(1 for _ in read_webmainbench(self._webmainbench_path()))
            return PageCounts(n, n, 0, {})
        return count_pages(self.data, data_set, cache=self.cache)

    def size(self, data_set: str) -> int:
        """Return the number of pages that :meth:`pages` yields."""
        usable = self.counts(data_set).usable
        return usable if self.sample is None else min(usable, self.sample)

    def _webmainbench_pages(self) -> Iterator[LabelledPage]:
        path = self._webmainbench_path()
        if self.sample is None:
            yield from read_webmainbench(path)
            return
        ids = sorted((page.id for page in read_webmainbench(path)), key=lambda id: hashlib.sha256(id.encode()).digest())
        chosen = set(islice(ids, self.sample))
        yield from (page for page in read_webmainbench(path) if page.id in chosen)

    def _webmainbench_path(self) -> Path:
        if self.webmainbench is None:
            raise InputError(f"the set {DATA_SET} needs its file: --webmainbench webmainbench.jsonl")
        return self.webmainbench

"""Extracts the main HTML of labelled pages with the `cpu` labeler."""

import itertools
from collections.abc import Iterator
from pathlib import Path

from dripper import extract
from dripper.warc import decode
from dripper_lab.datasets import Role, names_with, read_pages


def read_main_htmls(data: Path, n_pages: int, largest: int) -> Iterator[tuple[str, str]]:
    """Yield (URL, main HTML) of pages from the available training sets. All sets contribute equally
    many pages, in turn. Main HTML with `largest` characters or more is left out."""
    names = names_with(Role.TRAIN_SHIPS, folder=data)
    sets = [read_pages(data, name, sample=-(-n_pages // len(names))) for name in names]
    for page in filter(None, itertools.chain.from_iterable(itertools.zip_longest(*sets))):
        html = extract(decode(page.html, page.content_type).text, url=page.url).main_html
        if html and len(html) < largest:
            yield page.url or f"{page.data_set}/{page.id}", html

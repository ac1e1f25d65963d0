"""Excludes from training the pages and hosts that are reserved for independent checks.
`kept_out.txt` in the data folder lists their hashes.

Each line is `page` or `host`, a space, and the SHA-256 of the page's bytes or of the host (in lower
case, without `www.`). Without this file, nothing is excluded.
"""

import hashlib
import logging
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from dripper_lab.datasets import LabelledPage, read_pages

log = logging.getLogger(__name__)

FILE = "kept_out.txt"


def read_kept_out(data: Path) -> frozenset[str]:
    """Return the lines of the file in a data folder, or an empty set if there is no file."""
    path = data / FILE
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return frozenset(line for line in lines if not line.startswith("#"))


def lines_of(html_sha256: str, *hosts: str | None) -> frozenset[str]:
    """Return the lines that would exclude a page: by its bytes, and by each of its host names.

    >>> lines_of("ab", "www.Example.org") == lines_of("ab", "example.org", None)
    True
    """
    names = {host.lower().removeprefix("www.") for host in hosts if host}
    of_hosts = {f"host {hashlib.sha256(name.encode()).hexdigest()}" for name in names}
    return frozenset({f"page {html_sha256}", *of_hosts})


def host_in(url: str | None) -> str | None:
    """Return the host in a URL, or None."""
    try:
        return urlsplit(url or "").hostname
    except ValueError:
        return None


def read_training_pages(
    data: Path, data_set: str, *, sample: int | None = None, empty: bool = False
) -> Iterator[LabelledPage]:
    """Yield the pages of a set that are allowed for training. See `datasets.read_pages` for
    arguments and errors."""
    kept_out, n_left_out = read_kept_out(data), 0
    for page in read_pages(data, data_set, sample=sample, empty=empty):
        names = (page.host, page.more.get("host"), host_in(page.url))
        if kept_out and lines_of(hashlib.sha256(page.html).hexdigest(), *names) & kept_out:
            n_left_out += 1
        else:
            yield page
    if n_left_out:
        log.info("%s: %d pages left out, as %s names them or their hosts", data_set, n_left_out, FILE)

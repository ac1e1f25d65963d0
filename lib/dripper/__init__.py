"""Main content of web pages, at crawl scale: blocks, labels, and a Spark job that writes a Delta
table.

>>> import dripper
>>> result = dripper.extract("<article><p>It rained all day in Bergen.</p></article>")
>>> result.n_blocks
1
"""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dripper import eval, html, labels, warc
    from dripper.page.extraction import Extraction
    from dripper.settings import Settings

__version__ = "0.1.0"
__all__ = ["Extraction", "__version__", "eval", "extract", "extract_many", "html", "labels", "warc"]

_PACKAGES = ("eval", "guard", "html", "labels", "warc")


def extract(
    html: str | bytes,
    url: str | None = None,
    labeler: str | None = None,
    *,
    guard: bool = False,
    settings: "Settings | Mapping[str, Any] | None" = None,
    **options: Any,
) -> "Extraction":
    """Return the main content of one page.

    A page without content gives an Extraction with an `error_code`.

    Args:
        html: Text, or bytes as served: decoded as browsers do, gzip, zstd and bzip2 inflated;
            also MHTML.
        url: The page's address; None: as the page says it itself, if it does.
        labeler: A name that `dripper.labels.load` knows, by default `cpu`; loaded once in a
            process.
        settings: As in conf/base.yml, by key: `{"limits.page_cpu_seconds": 5}`.
        options: The labeler's own: `extract(html, labeler="lm", model="…", endpoint="…")`; of a
            chain, the confidence below which its second labeler reads a page too:
            `extract(html, labeler="cpu,reader", escalate_below=0.9)`.
        guard: Whether a process of its own works on the page, within the settings' `limits`, as
            in jobs: a page that hangs, eats memory or ends its process costs an `error_code`, not
            this program. Without it, a page that is made for it can take minutes or gigabytes. The
            process is forked on the first call (Linux and macOS) and kept.

    Raises:
        UsageError: For a wrong labeler, setting or option, where `html` is the name of a file
            or an address, and with `guard` in a process that may not start others.
        TypeError: If it is neither text nor bytes.
    """
    from dripper.page import extraction as single

    return single.extract(html, url, labeler, settings, options, guard)


def extract_many(
    pages: "Iterable[str | bytes | tuple[str | bytes, str | None]]",
    labeler: str | None = None,
    *,
    jobs: int | None = None,
    settings: "Settings | Mapping[str, Any] | None" = None,
    **options: Any,
) -> "Iterator[Extraction]":
    """Return the main content of many pages: an iterator of Extractions, one a page, in the order
    of the pages.

    Raises UsageError at once for a wrong labeler, setting or option, and in a process that may not
    start others.

    Args:
        pages: HTML as `extract` takes it, or pairs of it and the page's address; taken as they
            are needed.
        jobs: Processes, by default one per processor. They are forked from this one, with the
            limits that jobs have, so that a bad page costs an `error_code` and no other page; a
            labeler with an engine, such as `lm`, works in this process.
        labeler, settings, options: As for `extract`.

    >>> pages = ["<p>One.", ("<p>Two.", "https://example.org/2")]
    >>> [result.n_blocks for result in extract_many(pages, jobs=1)]
    [1, 1]
    """
    from dripper.local import many

    return many.extract_many(pages, labeler, jobs=jobs, settings=settings, **options)


def __getattr__(name: str) -> Any:
    """`dripper.html` and the like on first use, so that `import dripper` costs nothing."""
    if name == "Extraction":
        from dripper.page.extraction import Extraction

        return Extraction
    if name in _PACKAGES:
        return importlib.import_module(f"dripper.{name}")
    raise AttributeError(f"module 'dripper' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)

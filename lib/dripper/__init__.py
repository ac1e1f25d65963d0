"""Main content of web pages, at crawl scale: blocks, labels, and a Spark job that writes a Delta table.

>>> import dripper
>>> result = dripper.extract("<html><body><article><p>It rained all day in Bergen.</p></article></body></html>")
>>> result.n_blocks
1
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dripper import eval, html, labels, warc
    from dripper.extraction import Extraction

__version__ = "0.1.0"
__all__ = ["Extraction", "__version__", "eval", "extract", "html", "labels", "warc"]

_PACKAGES = ("eval", "guard", "html", "labels", "language", "train", "warc")


def extract(html: str | bytes, url: str | None = None, labeler: str = "cpu") -> "Extraction":
    """Return the main content of one page.

    html: text, or bytes as served (decoded as browsers do). url: helps some fallbacks. labeler: a name that
    `dripper.labels.load` knows; loaded once a process. A page without content gives an Extraction with an `error_code`.
    Raises UsageError for an unknown labeler, TypeError where `html` is neither text nor bytes.
    """
    from dripper.extraction import shared_extractor

    if not isinstance(html, str | bytes):
        raise TypeError(f"html must be str or bytes, not {type(html).__name__}")
    return shared_extractor(labeler).extract(html, url)


def __getattr__(name: str) -> Any:
    """`dripper.html` and the like on first use, so that `import dripper` costs nothing."""
    if name == "Extraction":
        from dripper.extraction import Extraction

        return Extraction
    if name in _PACKAGES:
        return importlib.import_module(f"dripper.{name}")
    raise AttributeError(f"module 'dripper' has no attribute {name!r}")

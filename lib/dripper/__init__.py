"""Extracts the main content of web pages. Functions extract pages in memory, and a Spark job
extracts whole crawls into a Delta table.

>>> import dripper
>>> result = dripper.extract("<article><p>It rained all day in Bergen.</p></article>")
>>> result.n_blocks
1
"""

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dripper import eval, html, labels, warc
    from dripper.local.many import extract_many
    from dripper.page.extraction import Extraction, extract
    from dripper.page.passages import passages

__version__ = "0.1.0"
__all__ = ["Extraction", "__version__", "eval", "extract", "extract_many", "html", "labels", "passages", "warc"]

_PLACES = {
    "Extraction": "dripper.page.extraction:Extraction",
    "extract": "dripper.page.extraction:extract",
    "extract_many": "dripper.local.many:extract_many",
    "passages": "dripper.page.passages:passages",
    **{name: f"dripper.{name}" for name in ("eval", "guard", "html", "labels", "warc")},
}


def __getattr__(name: str) -> Any:
    """Resolve `dripper.extract` and other public names on first use, so that `import dripper` stays
    fast."""
    if name not in _PLACES:
        raise AttributeError(f"module 'dripper' has no attribute {name!r}")
    globals()[name] = found = resolve_name(_PLACES[name])
    return found


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)

"""HTML documents of one file, which need no network: their shared style, and their content security
policy."""

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files


def style_of(package: str, names: Sequence[str]) -> str:
    """Return the style sheet of a document: the shared one, then its own.

    Args:
        names: Files among the assets of `package`.
    """
    shared = files("dripper").joinpath("standalone.css").read_text(encoding="utf-8")
    return "\n".join([shared, *(asset(package, name) for name in names)])


def asset(package: str, name: str) -> str:
    """Return the text of one of a package's assets."""
    return files(package).joinpath("assets", name).read_text(encoding="utf-8")


def policy(style: str, script: str = "") -> str:
    """Return the content security policy: the document's own style and script, by their hashes, and
    nothing else."""
    scripts = f"script-src '{_hash(script)}'; " if script else ""
    return f"default-src 'none'; style-src '{_hash(style)}'; {scripts}base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"

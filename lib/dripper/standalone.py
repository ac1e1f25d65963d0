"""Builds the style sheet and the content security policy of HTML documents that consist of a single
file and need no network."""

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files


def style_of(package: str, names: Sequence[str]) -> str:
    """Return a document's style sheet: the shared styles, then the document's own.

    Args:
        names: Asset files in `package`.
    """
    shared = files("dripper").joinpath("standalone.css").read_text(encoding="utf-8")
    return "\n".join([shared, *(asset(package, name) for name in names)])


def asset(package: str, name: str) -> str:
    """Return the text of an asset in a package."""
    return files(package).joinpath("assets", name).read_text(encoding="utf-8")


def policy(style: str, script: str = "") -> str:
    """Return a content security policy that allows only this style and this script, by their
    hashes."""
    scripts = f"script-src '{_hash(script)}'; " if script else ""
    return f"default-src 'none'; style-src '{_hash(style)}'; {scripts}base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"

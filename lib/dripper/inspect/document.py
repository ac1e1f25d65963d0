"""Builds the HTML file for `dripper inspect`. The file needs no other file and no network, and runs
only its own script."""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import dripper
from dripper.inspect.views import BlockView, PageView
from dripper.standalone import asset, policy, style_of

DOUBTFUL = (0.2, 0.8)
"""The range of probabilities, inclusive, in which a block is doubtful. A labeler learns most from
corrections of doubtful blocks."""

_PACKAGE = "dripper.inspect"
STYLES = ("layout.css", "blocks.css")
_PLACE = re.compile(r"\{\{(\w+)\}\}")
SCRIPTS = ("pages.js", "truth.js", "blocks.js", "markdown.js", "about.js", "views.js", "keys.js")


def build_document(views: Sequence[PageView], about: str = "") -> str:
    """Build the HTML document that shows the pages.

    No part of a page becomes markup in the document: the text is embedded as JSON, compressed page
    by page, and shown as text. Therefore no page can run a script, and the browser unpacks only the
    page that is open.

    Args:
        about: How the pages were chosen. This text is shown at the top of the document.
    """
    style = style_of(_PACKAGE, STYLES)
    script = "\n".join(asset(_PACKAGE, name) for name in SCRIPTS)
    index = {
        "generator": f"dripper {dripper.__version__}",
        "about": about,
        "doubtful": DOUBTFUL,
        "pages": [_build_entry(view) for view in views],
    }
    data = [_build_script("index", "application/json", _to_json(index))]
    for number, view in enumerate(views):
        content = {"blocks": [asdict(block) for block in view.blocks]} | {
            name: getattr(view, name) for name in _CONTENT
        }
        data.append(_build_script(f"page-{number}", "application/gzip", _pack(_to_json(content).encode())))
        if view.html:
            data.append(_build_script(f"html-{number}", "application/gzip", _pack(view.html)))
    parts = {
        "policy": policy(style, script),
        "style": style,
        "data": "\n".join(data),
        "script": script,
    }
    # Replace all placeholders in one pass, because a page's title may be "{{script}}".
    return _PLACE.sub(lambda place: parts[place[1]], asset(_PACKAGE, "inspect.html"))


def _build_entry(view: PageView) -> Mapping[str, Any]:
    """Return the page's fields for the page list and for its row in exported ground truth."""
    entry = asdict(view, dict_factory=lambda pairs: {k: v for k, v in pairs if k not in _NOT_IN_INDEX})
    return entry | {
        "n_blocks": len(view.blocks),
        "n_main": sum(block.main for block in view.blocks),
        "n_doubtful": sum(map(is_doubtful, view.blocks)),
        "html_sha256": hashlib.sha256(view.html).hexdigest() if view.html else None,
    }


_CONTENT = ("markdown", "main_html", "metadata", "images", "refused", "posts", "comments")
_NOT_IN_INDEX = {"blocks", "html", *_CONTENT}


def is_doubtful(block: BlockView) -> bool:
    """Return whether the labeler is unsure of a block."""
    return block.probability is not None and DOUBTFUL[0] <= block.probability <= DOUBTFUL[1]


def _to_json(value: Any) -> str:
    """Return JSON that is safe inside an HTML element. The JSON contains no `<`, which could end
    the element. Lone surrogates remain escaped."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _pack(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()


def _build_script(name: str, kind: str, text: str) -> str:
    return f'<script type="{kind}" id="{name}">{text}</script>'

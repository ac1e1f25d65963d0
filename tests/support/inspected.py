"""The contents of a document of `dripper inspect`."""

import base64
import gzip
import json
import re
from typing import Any


def scripts(html: str) -> dict[str, str]:
    """Return the document's data by name."""
    return dict(re.findall(r'<script type="[^"]+" id="([^"]+)">(.*?)</script>', html, re.DOTALL))


def unpacked(text: str) -> bytes:
    """Return the contents of packed data."""
    return gzip.decompress(base64.b64decode(text))


def index_of(html: str) -> dict[str, Any]:
    """Return the list of pages, and the data with it."""
    return dict(json.loads(scripts(html)["index"]))

"""What `make docs` does to the pages: a link to a file outside of docs/ becomes the file's name, as
the site lacks the file."""

import posixpath
import re
from typing import Any

LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)#]*)\)")


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Called by MkDocs for each page."""

    def named(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_uri), link[2]))
        return link[0] if target.startswith("docs/") else f"`{target}`"

    return LINK.sub(named, markdown)

"""What `make docs` does to the pages: it writes the settings into their page, and a link to a file
outside of docs/ becomes the file's name, as the site lacks the file."""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)#]*)\)")
SETTINGS = Path(__file__).parents[1] / "conf/base.yml"
_LINE = re.compile(r"( *)(?:# (?P<words>.*)|(?P<name>[\w.]+):(?: (?P<value>.*))?)$")


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """Called by MkDocs for each page."""

    def named(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_uri), link[2]))
        if target == "conf/base.yml" and page.file.src_uri != "settings.md":
            return f"[{link[1]}]({posixpath.relpath('settings.md', posixpath.dirname(page.file.src_uri) or '.')})"
        return link[0] if target.startswith("docs/") else f"`{target}`"

    if "<!-- settings -->" in markdown:
        markdown = markdown.replace(
            "<!-- settings -->", "\n".join(write_settings(SETTINGS.read_text(encoding="utf-8")))
        )
    return LINK.sub(named, markdown)


def write_settings(text: str) -> Iterator[str]:
    """Yield Markdown with a heading for each section, and below it its settings with their
    meanings.

    Args:
        text: The output of `dripper settings`: YAML with comments above the keys.
    """
    sections: list[str] = []
    words: list[str] = []
    for match in map(_LINE.match, text.partition("\n\n")[2].splitlines()):
        if match is None or match["words"]:
            words += [match["words"]] if match else []
            continue
        del sections[len(match[1]) // 2 :]
        key = ".".join([*sections, match["name"]])
        if match["value"] is None:
            sections.append(match["name"])
            yield from ("", f"{'#' * (1 + len(sections))} {key}", "", " ".join(words), "")
        else:
            yield f"- **`{key}`**: `{match['value']}`<br>{' '.join(words)}"
        words = []

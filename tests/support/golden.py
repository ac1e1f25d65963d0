"""Golden pages: whole real pages, and their Markdown and facts as this checkout writes them.

make golden writes all expectations again. The reviewer of a change reads the difference.
"""

import dataclasses
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dripper

GOLDEN = Path(__file__).parents[1] / "golden"


@dataclass(frozen=True, slots=True)
class GoldenPage:
    """A page, in a folder with the files `about.json`, `expected.md` and `expected.json`."""

    folder: Path

    @property
    def about(self) -> dict[str, Any]:
        """The page's address, source and licence."""
        about: dict[str, Any] = json.loads((self.folder / "about.json").read_text(encoding="utf-8"))
        return about

    @property
    def html(self) -> bytes:
        """The page as served; `file` of `about.json` names one that other tests have too."""
        return (self.folder / self.about.get("file", "source.html")).read_bytes()

    def write_expectations(self) -> dict[str, str]:
        """Return the page's Markdown and facts as this checkout writes them, by the name of the
        file."""
        extraction = dripper.extract(self.html, url=self.about["url"])
        facts = json.dumps(_list_facts(extraction), ensure_ascii=False, indent=2)
        return {"expected.md": extraction.markdown, "expected.json": facts + "\n"}


def _list_facts(extraction: dripper.Extraction) -> dict[str, Any]:
    """Return the facts about a page other than its text, without empty ones."""
    facts = {
        "title": extraction.title,
        "language": extraction.language,
        "page_kind": extraction.page_kind,
        "charset": extraction.charset,
        "error_code": extraction.error_code,
        "metadata": _drop_empty(dataclasses.asdict(extraction.metadata)) if extraction.metadata else None,
        "images": [f"{image.role}: {image.address}" for image in extraction.images],
        "posts": [f"{post.author or 'nobody'}, {post.published or 'no date'}" for post in extraction.posts],
    }
    return _drop_empty(facts)


def _drop_empty(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value not in (None, "", [], ())}


def list_pages() -> Iterator[GoldenPage]:
    """Yield the golden pages, in order of their names."""
    yield from (GoldenPage(about.parent) for about in sorted(GOLDEN.glob("*/about.json")))


def main() -> int:
    """Write all expectations again, and print the pages that changed; return 0."""
    for page in list_pages():
        for name, text in page.write_expectations().items():
            file = page.folder / name
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                file.write_text(text, encoding="utf-8")
                sys.stdout.write(f"{page.folder.name}/{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Small pages with a part that is hidden, that a person can open, that looks hidden and is not, or
that scripts show later: `tests/data/visibility/cases.jsonl`.

`html` is the part; for the kind `later`, the attributes of the element around the article. `css`: a
style sheet of the page. `body`: attributes of its body. The part holds SECRET, or OPENED.
"""

import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[1] / "data" / "visibility" / "cases.jsonl"
Case = dict[str, Any]
_ARTICLE = "<h1>The harbour</h1>" + "".join(
    f"<p>Paragraph {number} of an article about the old harbour, its ships, and the people who worked there for years.</p>"
    for number in ("one", "two", "three", "four", "five")
)


def read_cases() -> list[Case]:
    """Return all cases."""
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def write_page(case: Case) -> str:
    """Return the page of a case."""
    sheet = f"<style>{case['css']}</style>" if "css" in case else ""
    if case["kind"] == "later":
        content = f"<div {case['html']}><article>{_ARTICLE}</article></div>"
    else:
        content = f"<article>{_ARTICLE}{case['html']}<p>The last words of this article are about the sea.</p></article>"
    head = f"<!DOCTYPE html><html><head><title>The harbour</title>{sheet}</head>"
    return f"{head}<body {case.get('body', '')}><header>Site</header>{content}<footer>Imprint</footer></body></html>"


def is_right(case: Case, text: str) -> bool:
    """Return whether a text of the page has the visible text, and nothing else of the part."""
    if case["kind"] == "hidden":
        is_shapeless = any(0xE0000 <= ord(letter) < 0xE0080 or letter == "\u202e" for letter in text)
        return "SECRET" not in text and not is_shapeless
    return ("Paragraph three" if case["kind"] == "later" else "OPENED") in text

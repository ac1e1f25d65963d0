"""Parts of HTML that could run, and vectors that try to."""

import re
from pathlib import Path

from dripper.tree.parser import parse_document

VECTORS = [
    re.sub(r"\\(x0[0-9a-c]|t|r)", lambda code: code.group().encode().decode("unicode_escape"), vector)
    for vector in (Path(__file__).parents[1] / "data/xss/vectors.txt").read_text(encoding="utf-8").split("\n%%\n")
]
EXECUTABLE = {
    *(
        "script",
        "style",
        "iframe",
        "frame",
        "frameset",
        "object",
        "embed",
        "applet",
        "base",
        "meta",
        "link",
        "template",
    ),
    *("animate", "animatetransform", "animatemotion", "set", "handler", "xmp", "noembed", "plaintext", "portal"),
}
ADDRESSES = {
    "href",
    "src",
    "action",
    "formaction",
    "xlink:href",
    "poster",
    "background",
    "cite",
    "data",
    "lowsrc",
    "dynsrc",
}
SCRIPT = re.compile(
    r"(java|vb|live)script:|mocha:|data:(text|application)|expression\(|behaviou?r:|-moz-binding|^data:image/svg"
)


def dangers(html: str) -> list[str]:
    """Parts of HTML that could run, as a browser parses it, including the contents of
    `noscript`."""
    found = []
    for node in parse_document(html).css("*"):
        if node.tag.lower() in EXECUTABLE:
            found.append(node.tag)
        for name, value in node.attributes.items():
            squeezed = re.sub("[\x00-\x20\x7f-\xa0\u200b-\u200f]|/[*].*?[*]/", "", value or "").lower()
            is_address = name in ADDRESSES or name in ("srcset", "style", "fill")
            runs = name.lower().startswith("on") or name == "srcdoc" or (is_address and SCRIPT.search(squeezed))
            if runs or (name == "style" and "\\" in squeezed):
                found.append(f"{name}={value}")
    return found

#!/bin/sh
# `# C#` is a heading of "C#" in CommonMark, and of "C" in Python-Markdown and markdown2.
#
# CommonMark (4.2) takes hashes at the end of a heading for its closing sequence only behind a blank.
# Two widely used renderers take any, so headings on C#, F# and A# lose their last character. A
# backslash helps in all four.
#
# Markdown 3.11.3, markdown2 2.5.5, mistune 3.4.0, markdown-it-py 4.3.0, Python 3.11; 28 November 2026.
# Seen:
#   Python-Markdown C, markdown2 C, mistune C#, markdown-it-py C#
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages Markdown==3.11.3 markdown2==2.5.5 mistune==3.4.0 markdown-it-py==4.3.0
export PYTHONPATH=packages
python3 - <<'PY'
import re

import markdown
import markdown2
import mistune
from markdown_it import MarkdownIt

RENDER = {
    "Python-Markdown": markdown.markdown,
    "markdown2": markdown2.markdown,
    "mistune": mistune.html,
    "markdown-it-py": MarkdownIt().render,
}


def heading(name, text):
    return re.search(r"<h1[^>]*>(.*?)</h1>", RENDER[name](text))[1]


seen = {name: heading(name, "# C#\n") for name in RENDER}
print(", ".join(f"{name} {text}" for name, text in seen.items()))
assert seen == {"Python-Markdown": "C", "markdown2": "C", "mistune": "C#", "markdown-it-py": "C#"}
assert {heading(name, "# C\\#\n") for name in RENDER} == {"C#"}
PY

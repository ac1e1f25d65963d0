#!/bin/sh
# Trafilatura resolves links of Markdown against neither the page's base nor its folder.
#
# `<base href>` is the base of relative links (HTML, 4.2.3). With `url=` and `include_links=True`
# Trafilatura ignores it, and drops the folder of the page as well: `p.html` on a page below /a/b/
# becomes /p.html at the root of the host, with and without a base. Each of these links leads to
# another page than in a browser.
#
# trafilatura 2.3.1, Python 3.11; 28 November 2026. Seen:
#   without base: https://example.org/p.html (a browser: https://example.org/a/b/p.html)
#   with base: https://example.org/p.html (a browser: https://cdn.example.net/x/p.html)
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages trafilatura==2.3.1 lxml_html_clean==0.4.3
export PYTHONPATH=packages
python3 - <<'PY'
import re

import trafilatura

SENTENCE = "The old mill at the river bend had been empty for thirty years when the town bought it back. "


def page(base):
    text = "".join(f"<p>{SENTENCE * 3}Number {i}.</p>" for i in range(5))
    return (
        f"<!DOCTYPE html><html lang=en><head><title>The mill</title>{base}</head><body><article><h1>The mill</h1>{text}"
        f'<p>{SENTENCE}See <a href="p.html">the plan of the rooms</a> for more. {SENTENCE}</p></article></body></html>'
    )


def link(base):
    markdown = trafilatura.extract(
        page(base), url="https://example.org/a/b/mill.html", output_format="markdown", include_links=True
    )
    return re.search(r"\[the plan of the rooms\]\(([^)]*)\)", markdown)[1]


without, with_base = link(""), link('<base href="https://cdn.example.net/x/">')
print(f"without base: {without} (a browser: https://example.org/a/b/p.html)")
print(f"with base: {with_base} (a browser: https://cdn.example.net/x/p.html)")
assert (without, with_base) == ("https://example.org/p.html",) * 2
PY

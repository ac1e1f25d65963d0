#!/bin/sh
# An HTML parser copies the chosen option of a `select` into the tree, so its words are there twice.
#
# The customizable select of 2025 has `<selectedcontent>`, in which a browser shows a copy of the chosen
# option. lexbor (in selectolax) makes that copy while it parses, lxml does not. Whoever counts words or
# hashes text gets the option twice from lexbor, though the bytes of the page have it once.
#
# selectolax 1.0.2 (lexbor), lxml 6.1.3, Python 3.11; 28 November 2026. Seen:
#   selectolax 2, lxml 1
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages selectolax==1.0.2 lxml==6.1.3
export PYTHONPATH=packages
python3 - <<'PY'
import lxml.html
from selectolax.lexbor import LexborHTMLParser

PAGE = (
    "<!DOCTYPE html><title>Mills</title><p>Which mill?</p><select><button><selectedcontent></selectedcontent></button>"
    "<option>Water <b>mill</b></option><option>Wind</option></select>"
)
seen = {
    "selectolax": len(LexborHTMLParser(PAGE).css("select b")),
    "lxml": len(lxml.html.document_fromstring(PAGE).xpath("//select//b")),
}
print(", ".join(f"{name} {count}" for name, count in seen.items()))
assert PAGE.count("<b>") == 1
assert seen == {"selectolax": 2, "lxml": 1}
PY

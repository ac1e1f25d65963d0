#!/bin/sh
# Inscriptis puts cells under a `rowspan` into the wrong column.
#
# A cell with rowspan="2" takes a place in the next row too, so that the first cell written there
# belongs to the second column. Inscriptis leaves no place: the figures of the second year stand below
# the word "Mill". The start of a numbered list (`<ol start="5">`) is ignored in the same way, so that
# step 5 becomes step 1.
#
# inscriptis 2.7.6, Python 3.11; 28 November 2026. The output seen is in EXPECTED below.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages inscriptis==2.7.6
export PYTHONPATH=packages
python3 - <<'PY'
from inscriptis import get_text

TABLE = (
    '<table><tr><th>Mill</th><th>Year</th><th>Visitors</th></tr><tr><td rowspan="2">River bend</td><td>2023</td><td>410</td></tr>'
    "<tr><td>2024</td><td>902</td></tr></table>"
)
LIST = '<ol start="5"><li>Close the gate.</li><li>Stop the wheel.</li></ol>'
EXPECTED = """Mill        Year  Visitors
River bend  2023  410
2024        902
 1. Close the gate.
 2. Stop the wheel."""
seen = "\n".join(line.rstrip() for line in (get_text(TABLE) + get_text(LIST)).strip().splitlines())
print(seen)
assert seen == EXPECTED
PY

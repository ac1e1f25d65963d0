#!/bin/sh
# A blank line between two `User-agent` lines decides whether Python's own parser lets a crawler in.
#
# By RFC 9309 (section 2.2.1) consecutive `User-agent` lines begin one group, and blank lines mean nothing.
# Python's `urllib.robotparser` ends a group at a blank line, so the first agent gets no rule and may read
# forbidden pages. Protego reads the file according to the RFC. So two crawlers in Python differ on the
# same file.
#
# Python 3.11, Protego 0.7.0; 28 November 2026. Seen, for /private:
#   alpha: urllib.robotparser may read, Protego may not
#   beta: urllib.robotparser may not read, Protego may not
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages protego==0.7.0
export PYTHONPATH=packages
python3 - <<'PY'
from urllib.robotparser import RobotFileParser

from protego import Protego

FILE = "User-agent: alpha\n\nUser-agent: beta\nDisallow: /private\n"
PLACE = "https://example.org/private"
own = RobotFileParser()
own.parse(FILE.splitlines())
other = Protego.parse(FILE)
seen = {agent: (own.can_fetch(agent, PLACE), other.can_fetch(PLACE, agent)) for agent in ("alpha", "beta")}
for agent, (one, two) in seen.items():
    print(f"{agent}: urllib.robotparser may{'' if one else ' not'} read, Protego may{'' if two else ' not'}")
assert seen == {"alpha": (True, False), "beta": (False, False)}
PY

"""Extracts pages on request, and prints the CPU nanoseconds for each: `turns_worker.py LIB PAGES`.

Reads page numbers from stdin: page N is line N of the file PAGES, counted from 0. It must not
import `dripper_lab`, because it runs with the packages of another version.
"""

import importlib
import json
import sys
import time
from contextlib import suppress
from pathlib import Path

COMPILED = (
    "dripper.tree.loops",
    "dripper.tree.scan",
    "dripper.labels.cpu.arithmetic",
    "dripper.labels.cpu.features.characters",
)


def main(lib: str, pages: str) -> int:
    """Answer requests until stdin ends; return 0."""
    import dripper

    if Path(lib).resolve() not in Path(dripper.__file__).resolve().parents:
        raise SystemExit(f"dripper is that of {dripper.__file__}, not of {lib}")
    for name in COMPILED:
        # Another version may have the module elsewhere.
        with suppress(ImportError):
            vars(importlib.import_module(name))["IN_C"] = False
    rows = [json.loads(line) for line in Path(pages).read_text(encoding="utf-8").splitlines()]
    inputs = [(row["html"].encode("latin-1"), row["url"]) for row in rows]
    for line in sys.stdin:
        html, url = inputs[int(line)]
        start = time.process_time_ns()
        dripper.extract(html, url=url)
        sys.stdout.write(f"{time.process_time_ns() - start}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""The vectors of MinerU-HTML 1.1.2 under tests/data, and why a few cannot come out the same."""

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "data" / "mineru_html"

_STANDARD = "lexbor follows today's HTML standard where Modest, of 2015, does not: "
DIFFERENT = {
    "PAR66": _STANDARD + "what follows `<!>`",
    "AUTO08": _STANDARD + "tags inside select",
    "MOD01": _STANDARD + 'a slash after an attribute without value makes one named `=""`',
    "MOD02": _STANDARD + "references in raw text are decoded",
    "MOD03": _STANDARD + "tags inside select",
    "MOD04": _STANDARD + "search closes p",
    "MOD05": _STANDARD + "menuitem closes nothing",
    "MOD10": _STANDARD + "references in raw text are decoded",
    "MOD11": _STANDARD + "`</>` is dropped",
    "MAP28": "MinerU leaves the wrapper of a block it then drops, so that its mapping has one id twice",
}
PRUNE_DIFFERENT = {
    "PR48": "an id with a quote breaks MinerU's XPath; here ids are compared, and an unknown one is ignored"
}


@cache
def vectors(name: str) -> tuple[dict[str, Any], ...]:
    """Return the rows of one file."""
    with (FOLDER / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)

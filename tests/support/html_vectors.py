"""The vectors of MinerU-HTML 1.0.0 and 1.1.2 under tests/data, and why a few cannot come out the
same."""

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

_COMMENTS = "comments that BeautifulSoup writes stay in MinerU's mapping HTML; main HTML has none"
_RAW_ROOT = "a page that is one raw text element: MinerU does not find its text again"
DIFFERENT_1_0 = {
    **dict.fromkeys(("PAR10", "PAR11", "PAR12", "PAR13", "PAR66", "MOD11"), _COMMENTS),
    **dict.fromkeys(("PAR40", "MOD10"), _RAW_ROOT),
    "PAR33": "the parser stops at half a surrogate, which no decoded page has",
    "PAR39": "what is put around the text of a plaintext",
    "PAR43": "line feeds in the mapping HTML of framesets",
}
PRUNE_DIFFERENT_1_0 = PRUNE_DIFFERENT | {"PR38": "MinerU fails on an empty mapping HTML"}


@cache
def vectors(name: str) -> tuple[dict[str, Any], ...]:
    """Return the rows of one file."""
    with (FOLDER / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return tuple(json.loads(line) for line in lines)


@cache
def vectors_1_0(name: str) -> tuple[dict[str, Any], ...]:
    """Return the rows of one file with the output of 1.0.0 in place of that for 1.1.2."""
    made = ("simplified", "mapping" if name.startswith("simplify") else "", "main_html", "error")
    given = [{key: value for key, value in row.items() if key not in made} for row in vectors(name)]
    return tuple(row | told for row, told in zip(given, vectors(f"{name}_1_0"), strict=True))

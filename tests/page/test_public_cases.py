"""Faults that people reported in public about tools of this kind: none of them is here."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dripper.__main__ import main
from dripper.page.extraction import Extractor

FOLDER = Path(__file__).parents[1] / "data" / "public_cases"
CASES = [json.loads(line) for line in (FOLDER / "cases.jsonl").read_text(encoding="utf-8").splitlines()]
EXTRACTOR = Extractor()


def read_field(result: Any, name: str) -> Any:
    """Return a field of a result or of its metadata; a row of an archive is a dict."""
    if isinstance(result, dict):
        return result.get(name, (result.get("metadata") or {}).get(name))
    value = getattr(result, name) if hasattr(result, name) else getattr(result.metadata, name)
    return list(value) if isinstance(value, tuple) else value


def extract(case: dict[str, Any], folder: Path) -> Any:
    """Return the extraction of a case's page, or of the page with its address in its archive."""
    path = FOLDER / case["file"]
    if path.suffix == ".html":
        return EXTRACTOR.extract(path.read_bytes(), case.get("url"))
    out = folder / "rows.jsonl"
    main(["extract", str(path), "--out", str(out)])
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == case.get("rows", len(rows))
    return next(row for row in rows if row["url"] == case.get("url", row["url"]))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_what_was_reported_does_not_happen(case: dict[str, Any], tmp_path: Path) -> None:
    result = extract(case, tmp_path)
    text = read_field(result, case.get("field", "markdown")) or ""
    assert [part for part in case.get("must_contain", ()) if part not in text] == []
    assert [part for part in case.get("must_not_contain", ()) if part in text] == []
    assert [part for part in case.get("must_match", ()) if not re.search(part, text)] == []
    assert [part for part in case.get("must_not_match", ()) if re.search(part, text)] == []
    if "value_of" in case:
        value = read_field(result, case["value_of"])
        assert (value[:10] if isinstance(value, str) and value[4:5] == "-" else value) == case["value"]


def test_there_are_as_many_as_were_found() -> None:
    assert len(CASES) == 53

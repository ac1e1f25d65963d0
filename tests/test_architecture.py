"""Dependencies point one way; only lib/dripper/spark knows Spark; nothing that git should keep is
ignored."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIB = ROOT / "lib"
MODULES = sorted((LIB / "dripper").rglob("*.py"))
LAYERS = {
    **dict.fromkeys(("errors", "settings", "columns", "tei", "standalone"), 0),
    **dict.fromkeys(("account", "addresses", "guard", "language", "sites", "cost", "optional", "validation"), 1),
    **dict.fromkeys(("markup", "domains", "places"), 2),
    **dict.fromkeys(("metadata",), 3),
    **dict.fromkeys(("markdown", "blocks"), 4),
    **dict.fromkeys(("mineru",), 5),
    **dict.fromkeys(("warc", "html", "datasets"), 6),
    **dict.fromkeys(("labels",), 7),
    **dict.fromkeys(("site_memory",), 8),
    **dict.fromkeys(("preparation", "config"), 9),
    **dict.fromkeys(("stages",), 10),
    **dict.fromkeys(("extraction", "flags", "rows"), 11),
    **dict.fromkeys(("adapters", "eval", "spark", "single", "local"), 12),
    **dict.fromkeys(("inspect",), 13),
    **dict.fromkeys(("commands", "train"), 14),
}


@cache
def imports(module: Path) -> tuple[tuple[str, int], ...]:
    return tuple(_imports(module))


def _imports(module: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            yield node.module or "", node.lineno
            if node.module == "dripper":
                yield from ((f"dripper.{alias.name}", node.lineno) for alias in node.names)


def part(module: Path) -> str:
    return module.relative_to(LIB / "dripper").with_suffix("").parts[0]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(LIB)))
def test_imports_point_down(module: Path) -> None:
    mine = part(module)
    if mine not in LAYERS:
        assert mine in ("__init__", "__main__"), f"{mine} has no layer: add it to LAYERS"
        return
    for name, line in imports(module):
        parts = name.split(".")
        if parts[0] != "dripper" or len(parts) < 2 or parts[1] == mine or parts[1] not in LAYERS:
            continue
        assert LAYERS[parts[1]] < LAYERS[mine] or (parts[1], mine) == ("html", "labels"), (
            f"{module}:{line} imports {name}"
        )


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(LIB)))
def test_only_the_spark_folder_imports_spark(module: Path) -> None:
    if part(module) != "spark":
        assert not [name for name, _ in imports(module) if name.split(".")[0] in ("pyspark", "delta")]


def test_no_source_file_is_ignored_by_git() -> None:
    """Common .gitignore files list `lib/`: then neither git nor a Databricks bundle would take the
    code along."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    files = [str(file.relative_to(ROOT)) for file in [*MODULES, *(ROOT / "jobs").glob("*.py")]]
    told = subprocess.run(["git", "check-ignore", *files], cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.stdout == ""

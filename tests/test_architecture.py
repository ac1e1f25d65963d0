"""Dependencies point one way; only folders named spark know Spark; nothing that git should keep is
ignored."""

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIB = ROOT / "lib"
MODULES = sorted(LIB.rglob("*.py"))
LAYERS = {
    "base": (
        "errors",
        "extras",
        "doors",
        "flags",
        "settings",
        "addresses",
        "parse_place",
        "guard",
        "standalone",
        "release",
    ),
    "reading": ("decode", "warc", "tree", "facts", "blocks"),
    "labels": ("labels", "layouts"),
    "writing": ("keep", "write", "html"),
    "page": ("page",),
    "programs": ("eval", "spark", "local", "inspect", "adapters", "commands"),
}
"""From the bottom to the top, and in a layer from left to right: a part imports only earlier parts.
docs/architecture.md draws it."""
PARTS = [part for layer in LAYERS.values() for part in layer]


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


def package_and_part(module: Path) -> tuple[str, str]:
    """Return the package of a module and the part below it: `dripper`, `warc`."""
    parts = module.relative_to(LIB).with_suffix("").parts
    return parts[0], parts[1]


def test_imports_point_down() -> None:
    for module in MODULES:
        package, mine = package_and_part(module)
        if package != "dripper" or mine in ("__init__", "__main__"):
            continue
        assert mine in PARTS, f"{mine} has no layer: add it to LAYERS"
        for name, line in imports(module):
            parts = name.split(".")
            if parts[0] == "dripper" and len(parts) > 1 and parts[1] in PARTS and parts[1] != mine:
                assert PARTS.index(parts[1]) < PARTS.index(mine), f"{module}:{line} imports {name}"


def test_rooms_import_one_way() -> None:
    """Sibling folders, at any depth, do not import each other in a cycle, directly or through
    others."""
    list(TopologicalSorter(rooms()).static_order())


@cache
def rooms() -> dict[str, set[str]]:
    """Return, for each folder below `lib`, the sibling folders that its modules import."""
    imported: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        mine = module.relative_to(LIB).parent.parts
        for name, _ in imports(module):
            theirs = _folder(name)
            depth = next((i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), 0)
            if depth:
                imported["/".join(mine[: depth + 1])].add("/".join(theirs[: depth + 1]))
    return imported


@cache
def _folder(name: str) -> tuple[str, ...]:
    """Return the folder that an import leads to: a package itself, or the folder of the module."""
    parts = name.split(".")
    while parts and not LIB.joinpath(*parts).is_dir():
        parts.pop()
    return tuple(parts)


def test_the_product_needs_no_laboratory() -> None:
    """Labelers of other papers build on the product, the laboratory on both; never the reverse."""
    above = {"dripper": ("dripper_labelers", "dripper_lab"), "dripper_labelers": ("dripper_lab",), "dripper_lab": ()}
    assert [
        f"{module}:{line} imports {name}"
        for module in MODULES
        for name, line in imports(module)
        if name.split(".")[0] in above[package_and_part(module)[0]]
    ] == []


def test_only_folders_named_spark_import_it() -> None:
    assert [
        f"{module}:{line} imports {name}"
        for module in MODULES
        for name, line in imports(module)
        if name.split(".")[0] in ("pyspark", "delta") and package_and_part(module)[1] != "spark"
    ] == []


RIDDLE = re.compile(r"(?:What|Who|How|Where|Which|Why|When|Of|Those|That|As|In|By|With|From|At|Some)\b")


def test_functions_of_sql_say_whether_they_use_arrow() -> None:
    """By default Spark 4.3 uses it and 4.0 does not, and the values of a function differ."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in (LIB / "dripper" / "spark").rglob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    functions = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "udf"]
    assert functions
    assert all(any(keyword.arg == "useArrow" for keyword in call.keywords) for call in functions)


def test_docstrings_of_modules_and_classes_name_the_thing() -> None:
    """`The outcome of a run.`, not `What became of it.`"""
    riddles = []
    for module in MODULES:
        tree = ast.parse(module.read_text(encoding="utf-8"))
        for node in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]:
            words = ast.get_docstring(node) or ""
            riddles += [f"{module}: {words.splitlines()[0]}"] if RIDDLE.match(words) else []
    assert riddles == []


def test_no_source_file_is_ignored_by_git() -> None:
    """Common .gitignore files list `lib/`: then neither git nor a Databricks bundle would take the
    code along."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    files = [str(file.relative_to(ROOT)) for file in [*MODULES, *(ROOT / "jobs").glob("*.py")]]
    told = subprocess.run(["git", "check-ignore", *files], cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.stdout == ""

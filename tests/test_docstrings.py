"""Docstrings begin with a name for the thing, and refer only to existing names."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dripper.labels.config import keys

LIB = Path(__file__).parents[1] / "lib"
RIDDLE = re.compile(r"(?:What|Who|How|Where|Which|Why|When|Of|Those|That|As|In|By|With|From|At|Some|So)\b")

NAME = re.compile(r"`~?((?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*)(?:`|\()")
FILE = re.compile(r"\.(?:c|css|csv|gz|html|jpg|json|jsonl|log|md|npz|png|py|toml|txt|xz|yml)$")
ELSEWHERE = re.compile(r"(?:spark|delta|encoder|str|l0|me|p|catalog)\.|dripper\.schema_version$")
"""Settings of Spark, examples, weights of others, and properties of tables."""


@cache
def modules() -> dict[str, tuple[ast.Module, frozenset[str]]]:
    """Return each module, and the names that occur in it."""
    found = {}
    for path in sorted(LIB.rglob("*.py")):
        name = ".".join(path.relative_to(LIB).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found[name] = tree, frozenset(_names(tree))
    return found


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name) | ast.Attribute(attr=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name.split(".")[0] for alias in names)


def docstrings(tree: ast.Module, *, of_constants: bool = False) -> Iterator[str]:
    for node in ast.walk(tree):
        body = node.body if isinstance(getattr(node, "body", None), list) else []
        for before, statement in zip([None, *body], body, strict=False):
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    if not of_constants or isinstance(before, ast.Assign | ast.AnnAssign):
                        yield text.strip()


def test_docstrings_of_constants_name_the_thing() -> None:
    """`Bins of the histogram.`, not `Of confidence, 0 to 1.`"""
    riddles = [
        f"{name}: {text.splitlines()[0]}"
        for name, (tree, _) in modules().items()
        for text in docstrings(tree, of_constants=True)
        if RIDDLE.match(text)
    ]
    assert riddles == []


def test_docstrings_name_what_there_is() -> None:
    """Names with dots: of modules and their contents, of settings, of attributes."""
    gone = [
        f"{name}: {named}"
        for name, (tree, _) in modules().items()
        for text in docstrings(tree)
        for named in NAME.findall(text)
        if not FILE.search(named) and not ELSEWHERE.match(named) and not exists(named)
    ]
    assert gone == []


def exists(named: str) -> bool:
    parts = named.split(".")
    for cut in range(len(parts), 0, -1):
        start, rest = ".".join(parts[:cut]), parts[cut:]
        for module in _ending_in(start):
            if all(part in modules()[module][1] or f"{module}.{part}" in modules() for part in rest):
                return True
    settings = set(keys())
    if any(key == named or key.startswith(f"{named}.") for key in settings):
        return True
    # An attribute of some argument: the name must exist somewhere.
    known = frozenset().union(*(names for _, names in modules().values()))
    return len(parts) == 2 and known.issuperset(parts)


@cache
def _ending_in(start: str) -> tuple[str, ...]:
    return tuple(name for name in modules() if name == start or name.endswith(f".{start}"))

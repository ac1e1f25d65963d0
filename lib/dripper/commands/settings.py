"""Runs `dripper settings`, which prints every setting with its default and meaning, as YAML.
`conf/base.yml` is the output of this command."""

import argparse
import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel

from dripper.commands import Parsers, write
from dripper.labels.registry import find_entry, own_names
from dripper.settings import LabelsSettings, Section, Settings

_WIDTH = 120
_HEAD = (
    "Every setting with its default, as `dripper settings` prints it. Copy what you change into a file of your own and "
    "pass it with --conf, or use --set key=value."
)


def add(commands: Parsers) -> None:
    """Declare the command."""
    settings = commands.add_parser("settings", help="every setting with its default and its meaning, as YAML")
    settings.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Print all settings as YAML. The comment above each setting is its docstring."""
    write("\n".join([*_write_comment(_HEAD, ""), "", *_write_section(Settings, "")]))
    return 0


def _write_section(section: type[Section], indent: str) -> Iterator[str]:
    meanings = _read_docstrings(section)
    for name, field in section.model_fields.items():
        inner = field.annotation
        within = inner if isinstance(inner, type) and issubclass(inner, Section) else None
        yield from _write_comment(inspect.getdoc(within) if within else meanings.get(name), indent)
        if get_origin(inner) is Literal:
            yield f"{indent}# One of {', '.join(get_args(inner))}."
        if inner is LabelsSettings:
            yield f"{indent}{name}:"
            for labeler in own_names():
                if (options := find_entry(labeler).settings).model_fields:
                    yield f"{indent}  {labeler}:"
                    yield from _write_section(options, f"{indent}    ")
        elif within:
            yield f"{indent}{name}:"
            yield from _write_section(within, f"{indent}  ")
        else:
            yield f"{indent}{name}: {_write_value(field.default)}"
        if not indent:
            yield ""


def _read_docstrings(section: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings of all settings, keyed by name, including the settings of base
    classes."""
    found: dict[str, str] = {}
    for base in reversed(section.__mro__):
        if base is not Section and issubclass(base, Section):
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            body = tree.body if isinstance(tree, ast.ClassDef) else []
            for field, text in pairwise(body):
                match field, text:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(meaning))):
                        found[name] = meaning
    return found


def _write_comment(text: str | None, indent: str) -> list[str]:
    first = (text or "").partition("\n\n")[0]
    words = re.sub(r"\bNone\b", "null", " ".join(first.split()))
    return textwrap.wrap(words, _WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")


def _write_value(value: Any) -> str:
    plain = {name: each.model_dump() for name, each in value.items()} if isinstance(value, dict) else value
    plain = list(value) if isinstance(value, tuple) else plain
    return yaml.safe_dump(plain, default_flow_style=True, width=1000).removesuffix("...\n").strip()

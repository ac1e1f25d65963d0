"""Counts the product's lines of code in each room, without blank lines, comments and docstrings:
`python -m dripper_lab.house`.

Code that runs third-party weights is counted separately (:data:`FOREIGN`), because it grows with
the number of supported models, not with the product's features. The figure is a sum, so splitting
or joining files does not change it.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

import dripper

PRODUCT = Path(dripper.__file__).parent
FOREIGN = ("blocks/profiles/mineru", "labels/lm", "labels/torch_device")
"""Path prefixes: the block profiles on which third-party weights were trained, and the engines,
prompts, decoders and devices that run these weights."""
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip


def main() -> int:
    """Print the table; return 0."""
    rooms = count_rooms(PRODUCT)
    width = max(map(len, rooms))
    lines = [f"{room:{width}} {count:7,}" for room, count in sorted(rooms.items())]
    product, foreign = add_up(rooms)
    sums = f"{product:,} lines of code in lib/dripper, and {foreign:,} for foreign weights ({', '.join(FOREIGN)})"
    sys.stdout.write("\n".join([*lines, "", sums]) + "\n")
    return 0


def count_rooms(folder: Path) -> dict[str, int]:
    """Return the lines of code of each room of a package. A room is the first two folder levels, or
    a folder in :data:`FOREIGN`. "." contains the top-level files."""
    rooms = Counter[str]()
    for path in sorted(folder.rglob("*.py")):
        rooms[find_room(path.relative_to(folder))] += count_code_lines(path.read_text(encoding="utf-8"))
    return dict(rooms)


def find_room(path: Path) -> str:
    """Return the room of a file.

    >>> find_room(Path("spark/run/run.py")), find_room(Path("errors.py"))
    ('spark/run', '.')
    >>> find_room(Path("blocks/profiles/mineru11.py")), find_room(Path("labels/lm/windows/cut.py"))
    ('blocks/profiles/mineru', 'labels/lm')
    """
    foreign = (room for room in FOREIGN if path.as_posix().startswith(room))
    return next(foreign, Path(*path.parent.parts[:2]).as_posix())


def add_up(rooms: dict[str, int]) -> tuple[int, int]:
    """Return the number of the product's lines, and the number of lines that support third-party
    weights."""
    foreign = sum(rooms.get(room, 0) for room in FOREIGN)
    return sum(rooms.values()) - foreign, foreign


def count_code_lines(source: str) -> int:
    '''Count the lines of a module that hold code.

    >>> count_code_lines('"""What it is."""\\n\\n# Why.\\nX = 1  # So.\\n"""Its unit."""\\n')
    1
    '''
    documented = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        for statement in node.body
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    }
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    used = {line for each in tokens if each.type not in _NO_CODE for line in range(each.start[0], each.end[0] + 1)}
    return len(used - documented)


if __name__ == "__main__":
    sys.exit(main())

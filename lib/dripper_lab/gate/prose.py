"""Counts six habits of wording per 10,000 words of docstrings, comments and documents, separately
for each room (see :func:`find_room`).

Each habit slows readers down: `what` without a noun, `where` instead of `if`, pronouns in place of
nouns, and a few words that have plainer alternatives. Single uses are fine; only frequent use makes
prose hard to read.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

from dripper_lab.gate.bounds import Figures

HABITS = {
    "where for if": r"\bwhere (?:it|they|there|that|a|an|the|no|none|nothing|one|this|some|most|all|several|its)\b",
    "what without a noun": r"\b[Ww]hat\b",
    "those or that of": r"\b(?:those (?:that|of|which)|that of)\b",
    "stands": r"\bst(?:ands?|ood)\b",
    "tells": r"\bt(?:ells?|old)\b",
    "whose or of which": r"\bwhose\b|\bof which\b",
}
_HABIT = re.compile("|".join(HABITS.values()))
_WORD = re.compile(r"[A-Za-z']+")
_CODE = re.compile(r"```.*?```", re.DOTALL)
_DOCUMENTS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


def measure_prose(root: Path) -> Figures:
    """Return the number of habits per 10,000 words, rounded up, for each room of a checkout."""
    habits, words = Counter[str](), Counter[str]()
    for path in _list_files(root):
        room, text = find_room(path.relative_to(root)), read_prose(path)
        habits[room] += len(_HABIT.findall(text))
        words[room] += len(_WORD.findall(text))
    return {f"prose.{room}": float(-(-10_000 * habits[room] // max(1, words[room]))) for room in sorted(words)}


def _list_files(root: Path) -> list[Path]:
    folders = (root / "lib").rglob("*.py"), (root / "tests").rglob("*.py"), (root / "docs").rglob("*.md")
    top = [root / name for name in _DOCUMENTS]
    return [path for paths in (*folders, top) for path in paths if path.is_file()]


def find_room(path: Path) -> str:
    """Return the room of a file: a folder of the product, another package, the documents, or the
    tests.

    >>> find_room(Path("lib/dripper/spark/run/run.py")), find_room(Path("lib/dripper/errors.py"))
    ('spark', 'base')
    >>> find_room(Path("lib/dripper_lab/house.py")), find_room(Path("docs/tables/runs.md"))
    ('dripper_lab', 'docs')
    """
    match path.parts:
        case ("lib", "dripper", room, *rest):
            return room if rest else "base"
        case ("lib", package, *_):
            return package
        case ("tests", *_):
            return "tests"
    return "docs"


def read_prose(path: Path) -> str:
    """Return the docstrings and comments of a module, or a document without its code blocks."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return _CODE.sub("", text)
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr))
    strings = (node.value.value for node in nodes if isinstance(node.value, ast.Constant))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = (each.string for each in tokens if each.type == tokenize.COMMENT)
    return "\n".join([*(each for each in strings if isinstance(each, str)), *comments])

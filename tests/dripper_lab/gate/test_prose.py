"""Habits are counted only in prose."""

from pathlib import Path

from dripper_lab.gate.prose import measure_prose

MODULE = '''"""Return what is there, where it is."""

NAMES = {"what": "stands"}  # whose
'''
DOCUMENT = "It stands for itself.\n\n```sh\necho what stands there\n```\n"


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_docstrings_comments_and_documents_count_by_room(tmp_path: Path) -> None:
    write(tmp_path, "lib/dripper/page/rows.py", MODULE)
    write(tmp_path, "lib/dripper/errors.py", '"""Plain words."""\n')
    write(tmp_path, "docs/tables/runs.md", DOCUMENT)
    # Two habits and one in eight words, none in two, one in four.
    assert measure_prose(tmp_path) == {"prose.base": 0, "prose.docs": 2500, "prose.page": 3750}

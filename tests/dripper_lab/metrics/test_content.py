import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper_lab.metrics.content import edit_similarity, score_parts, split_markdown

DATA = Path(__file__).parents[2] / "data" / "webmainbench"
# The example of WebMainBench's own tests/test_metrics.py (Apache-2.0, commit 9d991bd), with the
# scores it expects.
PREDICTED = """# 标题

这是一段文字内容。

```python
def hello():
    print("Hello World")
```

这是公式: $E = mc^2$

还有行间公式:
$$\\int_{0}^{\\infty} e^{-x} dx = 1$$

| 列1 | 列2 |
|-----|-----|
| 数据1 | 数据2 |
| 数据3 | 数据4 |

最后是更多文字内容。
"""
TRUE = """# 标题

这是一段正确的文字内容。

```python\x20\x20
def hello():
    print("Hello, World!")
```

这是正确的公式: $E = mc^2$

正确的行间公式:
$$\\int_{0}^{\\infty} e^{-x} dx = 1$$

| 列1 | 列2 |
|-----|-----|
| 正确数据1 | 正确数据2 |
| 正确数据3 | 正确数据4 |

最后是正确的文字内容。
"""
NAMES = {"table_TEDS": "table_teds_webmainbench"}


def test_webmainbenchs_own_example() -> None:
    scores = score_parts(PREDICTED, TRUE)
    assert scores["code_edit"] == pytest.approx(0.9487179487179487)
    assert scores["formula_edit"] == 1
    assert scores["table_edit"] == pytest.approx(0.9333333333333333)
    assert scores["table_teds_webmainbench"] == pytest.approx(0.97857, abs=1e-5)
    assert scores["text_edit"] == pytest.approx(0.8904109589041096)
    # As a tree: 4 of 10 nodes change, each by two characters of five.
    assert scores["table_teds"] == pytest.approx(1 - 4 * 0.4 / 10)


@pytest.mark.parametrize(
    "row", [json.loads(line) for line in (DATA / "published.jsonl").read_text("utf-8").splitlines()]
)
def test_published_scores_of_real_pages(row: dict[str, object]) -> None:
    for output in row["outputs"].values():  # type: ignore[attr-defined]
        scores = score_parts(output["text"], row["truth"])  # type: ignore[arg-type]
        for name, published in output["scores"].items():
            found = scores[NAMES.get(name, name)]
            assert found == (None if published is None else pytest.approx(published)), name


def test_parts_of_a_markdown_text() -> None:
    parts = split_markdown(PREDICTED)
    assert parts.text == PREDICTED
    assert parts.code == 'def hello():\n    print("Hello World")'
    assert parts.formula == "\\int_{0}^{\\infty} e^{-x} dx = 1\nE = mc^2"
    assert parts.table.splitlines()[0] == "| 列1 | 列2 |"


@pytest.mark.parametrize(
    ("markdown", "code"),
    [
        ("text\n\n    x = 1\n    y = 2\n\nmore", "x = 1\ny = 2"),
        ("text\n\n\tx = 1\n\ty = 2\n\nmore", "x = 1\ny = 2"),
        ("text\n\n    only one line\n\nmore", ""),
        ("text\n\n    - a list\n    - of items\n\nmore", ""),
        ("text\n\n    costs $5\n    and more\n\nmore", ""),
        ("```\n```", ""),
    ],
)
def test_indented_code(markdown: str, code: str) -> None:
    assert split_markdown(markdown).code == code


def test_formulas_not_in_code_and_tables_by_html_or_pipes() -> None:
    assert split_markdown(r"`$x$` and \(y\) and \[z\] and \$5").formula == "z\ny"
    assert split_markdown("a | b\nno separator | here").table == ""
    assert split_markdown("<table><tr><td><table><tr></tr></table></td></tr></table>").table.count("<table>") == 2
    assert split_markdown("`<table><tr></tr></table>`").table == ""


def test_what_neither_text_has_is_no_score() -> None:
    scores = score_parts("one text", "one test")
    assert scores == {
        "text_edit": 0.875, "code_edit": None, "formula_edit": None, "table_edit": None,
        "table_teds_webmainbench": None, "table_teds": None, "overall": 0.875,
    }  # fmt: skip
    assert set(score_parts("", "").values()) == {None}


def edit_distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, start=1):
        above, row[0] = row[:], i
        for j, right in enumerate(other, start=1):
            row[j] = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (left != right))
    return row[-1]


@given(st.text(alphabet="abc", max_size=12), st.text(alphabet="abc", max_size=12))
def test_edit_similarity_is_textbook_levenshtein(one: str, other: str) -> None:
    longest = max(len(one), len(other))
    expected = 1 - edit_distance(one, other) / longest if longest else None
    assert edit_similarity(one, other) == (pytest.approx(expected) if longest else None)


@given(st.text(alphabet="ab|-`$\\()[]\n\t 1<table>", max_size=80))
def test_a_text_against_itself_has_no_score_but_1(text: str) -> None:
    assert set(score_parts(text, text).values()) <= {1.0, None}

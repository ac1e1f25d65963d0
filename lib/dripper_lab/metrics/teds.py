"""Computes TEDS, the similarity of two tables as trees (Zhong et al. 2020, "Image-based table
recognition", 4)."""

import re
from dataclasses import dataclass, field
from typing import Any

from dripper_lab.extra import import_extra

# The time for the tree edit distance grows at least quadratically with the number of nodes.
MAX_NODES = 400
RULE_LINE = re.compile(r"^[\s|\-:]+$")


@dataclass(slots=True)
class Node:
    """A node of a table's tree: `table`, `tr`, or a cell with its text, row span and column
    span."""

    tag: str
    text: str = ""
    spans: tuple[str, str] = ("1", "1")
    children: list["Node"] = field(default_factory=list)

    def size(self) -> int:
        """Return the number of nodes."""
        return 1 + sum(child.size() for child in self.children)


def teds(prediction: str, truth: str) -> float | None:
    """Return 1 − tree edit distance / nodes of the larger tree, for HTML with any number of tables.

    Insertions, deletions, and changes of tag or span cost 1. Changing a cell's text costs the
    normalized Levenshtein distance between the strings. `thead`, `tbody` and `tfoot` are ignored.
    Several tables share a root node, which is not counted. Return None if either side has more than
    `MAX_NODES` nodes.
    """
    trees = [_forest(html) for html in (prediction, truth)]
    sizes = [tree.size() - 1 for tree in trees]
    if max(sizes) > MAX_NODES:
        return None
    if min(sizes) == 0:
        return float(sizes[0] == sizes[1])
    distance = import_extra("apted").APTED(*trees, _Costs()).compute_edit_distance()
    return float(max(0.0, 1 - distance / max(sizes)))


class _Costs:
    """The paper's costs, in the form that apted requires."""

    valuecls = float

    def delete(self, node: Node) -> float:
        return 1

    def insert(self, node: Node) -> float:
        return 1

    def rename(self, one: Node, other: Node) -> float:
        if (one.tag, one.spans) != (other.tag, other.spans):
            return 1
        return _distance(one.text, other.text)

    def children(self, node: Node) -> list[Node]:
        return node.children


def teds_webmainbench(prediction: str, truth: str) -> float:
    """Return the value that WebMainBench publishes as TEDS, for the first table of each side.

    WebMainBench passes a string to apted, which expects a tree and treats the string as a single
    node. The distance between two single nodes is at most 1 (2 if one table is empty). WebMainBench
    nevertheless divides it by the number of nodes in the tables. Any two tables of ten cells
    therefore score at least 0.9. This function exists to reproduce published values.
    """
    soup = import_extra("bs4").BeautifulSoup
    tables = [soup(html, "html.parser").find("table") for html in (prediction, truth)]
    if any(table is None for table in tables):
        return float(tables[0] is tables[1])
    labels = [_label(table) for table in tables]
    largest = max(count for _, count in labels)
    (tag, _, text), (other_tag, _, other_text) = (label.partition(":") for label, _ in labels)
    if tag != other_tag:
        distance = 1.0
    elif text and other_text:
        distance = _distance(text, other_text)
    else:
        distance = min(2.0, len(text) + len(other_text))
    return min(1.0, max(0.0, 1 - distance / largest))


def as_html_table(table: str) -> str:
    """Convert a table found by the Markdown splitter to HTML. HTML is unchanged, pipe tables become
    rows of cells, and anything else becomes a single cell.

    >>> as_html_table("a|b\\n---|---\\n1|2")
    '<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>'
    """
    if not table.strip():
        return ""
    if "<table" in table.lower():
        return table
    if "|" not in table:
        return f"<table><tr><td>{table}</td></tr></table>"
    rows = [line.strip() for line in table.split("\n") if "|" in line and not RULE_LINE.match(line.strip())]
    html = []
    for index, line in enumerate(rows):
        tag = "td" if index else "th"
        cells = [f"<{tag}>{cell.strip()}</{tag}>" for cell in line.split("|") if cell.strip()]
        html.append(f"<tr>{''.join(cells)}</tr>" if cells else "")
    return f"<table>{''.join(html)}</table>"


def _forest(html: str) -> Node:
    soup = import_extra("bs4").BeautifulSoup(html, "html.parser")
    return Node("", children=[_tree(table) for table in soup.find_all("table") if not table.find_parent("table")])


def _tree(element: Any) -> Node:
    if element.name in ("td", "th"):
        spans = str(element.get("rowspan", "1")), str(element.get("colspan", "1"))
        return Node(element.name, element.get_text(" ", strip=True), spans)
    return Node(element.name, children=[_tree(part) for part in _parts(element)])


def _parts(element: Any) -> list[Any]:
    """Return the rows of a table or the cells of a row, also inside sections. Captions and other
    elements are ignored."""
    parts = []
    for child in element.find_all(True, recursive=False):
        if child.name in ("thead", "tbody", "tfoot"):
            parts += _parts(child)
        elif child.name in ("tr", "td", "th"):
            parts.append(child)
    return parts


def _label(element: Any) -> tuple[str, int]:
    """Return WebMainBench's bracket notation for an element, and its number of nodes."""
    parts = [_label(child) for child in _flat_children(element)]
    text = element.get_text(strip=True).replace("(", "[").replace(")", "]").replace(",", ";")
    label = f"{element.name}:{text}" if text else str(element.name)
    if parts:
        label += f"({','.join(part for part, _ in parts)})"
    return label, 1 + sum(count for _, count in parts)


def _flat_children(element: Any) -> list[Any]:
    return [child for child in element.children if getattr(child, "name", None)]


def _distance(one: str, other: str) -> float:
    return float(import_extra("rapidfuzz.distance").Levenshtein.normalized_distance(one, other))

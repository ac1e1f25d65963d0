"""Writes the findings of a check to a self-contained HTML page."""

from collections.abc import Sequence
from datetime import datetime
from html import escape
from typing import Any

from dripper_lab.gpu_check.check import Part
from dripper_lab.gpu_check.estimate import dollars_per_million

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{border-bottom:1px solid #ccc;padding:.3rem .7rem;text-align:right}"
    "td:first-child,th:first-child,td:last-child{text-align:left}pre{background:#f4f4f4;padding:1rem;overflow:auto}"
    ".problem{color:#a00}"
)


def write_page(parts: Sequence[Part], machine: dict[str, Any], sheet: str | None, dollars: float, pages: int) -> str:
    """Return the HTML page.

    Args:
        sheet: The name of the GPU in the estimates.
        dollars: The price per hour.
        pages: The number of labeled pages.
    """
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    cuda = f", CUDA {machine['cuda']}" if machine["cuda"] else ""
    body = [
        "<h1>GPU check</h1>",
        f"<p>{escape(machine['device'])}{escape(cuda)}; {escape(versions)}; {pages} pages; "
        f"{datetime.now().astimezone():%Y-%m-%d %H:%M}.</p>",
        _summary(parts, machine, sheet, dollars),
        *map(_part, parts),
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>GPU check</title><style>{_STYLE}</style></head>'
        f"<body>{''.join(body)}</body></html>\n"
    )


def _summary(parts: Sequence[Part], machine: dict[str, Any], sheet: str | None, dollars: float) -> str:
    rows = [
        f"<tr><td>{escape(part.checkpoint.rpartition('/')[2])}, {escape(figure.name.replace('`', ''))}</td>"
        f"<td>{_number(figure.measured)}</td><td>{_number(figure.estimate)}</td>"
        f"<td>{_dollars(figure.measured, dollars)}</td><td>{_dollars(figure.estimate, dollars)}</td>"
        f"<td>{escape(figure.note)}</td></tr>"
        for part in parts
        for figure in part.figures
    ]
    sentences = [f"Dollars are those of a million pages at ${dollars:g} an hour."]
    if sheet is not None:
        sentences.append(f"Estimates are made from the data sheet of an {sheet}, as in docs/labeler_lm.md.")
    if not machine["gpu"]:
        sentences.append("There was no GPU: measured figures are a CPU's, and say nothing about one.")
    return (
        "<table><tr><th>checkpoint</th><th>pages/s</th><th>estimate</th><th>$</th><th>estimate</th><th></th></tr>"
        f"{''.join(rows)}</table><p>{escape(' '.join(sentences))}</p>"
    )


def _part(part: Part) -> str:
    report = f"<pre>{escape(part.report)}</pre>" if part.report else ""
    return (
        f"<h2>{escape(part.checkpoint)}</h2>"
        + "".join(f"<p>{escape(sentence)}</p>" for sentence in part.sentences)
        + "".join(f'<p class="problem">{escape(problem)}</p>' for problem in part.problems)
        + report
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.3g}"


def _dollars(rate: float | None, dollars: float) -> str:
    if rate is None:
        return ""
    price = dollars_per_million(rate, dollars)
    return f"{price:,.0f}" if price >= 10 else f"{price:.2g}"

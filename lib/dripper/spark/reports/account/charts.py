"""Charts as inline SVG, drawn with classes that the page's style sheet knows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 900, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 12, 28
_LINES = 5
"""Lines of a scale at most."""

Point = tuple[float, float]
"""Seconds since the start, and a value."""


def rate_chart(points: Sequence[Point], end: float, mean: float, label: str) -> str:
    """Return a chart of a rate that held from each point back to the one before.

    Args:
        points: In order of time.
        end: The end of the axis, in seconds.
        mean: The height of a horizontal line.
        label: A text for people who cannot see the chart.
    """
    frame = _Frame.around([*points, (end, mean)])
    corners, before = [frame.place(0, 0)], 0.0
    for second, value in points:
        corners += [frame.place(before, value), frame.place(second, value)]
        before = second
    corners.append(frame.place(before, 0))
    line_start, line_end = frame.place(0, mean), frame.place(frame.end, mean)
    drawn = (
        f'<polygon class="area" points="{" ".join(corners)}"/><polyline class="mean" points="{line_start} {line_end}"/>'
    )
    return frame.svg(drawn, label)


def bar(share: float) -> str:
    """Return a bar that fills this share of its width, 0 to 1, for a row of a table."""
    width = max(0.0, min(1.0, share)) * 100
    drawn = f'<rect width="{width:.1f}" height="8"/>'
    return f'<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg>'


@dataclass(frozen=True, slots=True)
class _Frame:
    end: float
    top: float

    @classmethod
    def around(cls, points: Sequence[Point]) -> "_Frame":
        return cls(max(second for second, _ in points) or 1.0, nice(max(value for _, value in points)))

    def place(self, second: float, value: float) -> str:
        x = _LEFT + (WIDTH - _LEFT - _RIGHT) * second / self.end
        y = HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * value / self.top
        return f"{x:.1f},{y:.1f}"

    def svg(self, drawn: str, label: str) -> str:
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">'
            f"<title>{escape(label)}</title>{self._scales()}{drawn}</svg>"
        )

    def _scales(self) -> str:
        parts = []
        for i in range(_LINES):
            value = self.top * i / (_LINES - 1)
            (x, y), (to, _) = (self.place(second, value).split(",") for second in (0, self.end))
            parts.append(f'<line class="grid" x1="{x}" y1="{y}" x2="{to}" y2="{y}"/>')
            parts.append(f'<text class="y" x="{_LEFT - 8}" y="{float(y) + 4:.1f}">{_short(value)}</text>')
        for i in range(_LINES):
            second = self.end * i / (_LINES - 1)
            x = self.place(second, 0).split(",")[0]
            anchor = "x first" if i == 0 else "x last" if i == _LINES - 1 else "x"
            parts.append(f'<text class="{anchor}" x="{x}" y="{HEIGHT - 8}">{duration(second)}</text>')
        return "".join(parts)


def nice(value: float) -> float:
    """Return the end of a scale for values up to this one: 1, 2, 4, 6, 8 or 10 times a power of
    ten.

    >>> nice(37), nice(0), nice(1100)
    (40.0, 1.0, 2000.0)
    """
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(float(step * power) for step in (1, 2, 4, 6, 8, 10) if value <= step * power * (1 + 1e-9))


def _short(value: float) -> str:
    for least, size, unit in ((1e9, 1e9, " G"), (1e6, 1e6, " M"), (1e4, 1e3, " k")):
        if value >= least:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def figure(value: float) -> str:
    """Return a number with three significant digits; a large number keeps all its digits.

    >>> figure(0.04567), figure(12.345), figure(123456.7)
    ('0.0457', '12.3', '123,457')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def duration(seconds: float) -> str:
    """Return a time as people read it.

    >>> duration(7.25), duration(90), duration(7384), duration(200000)
    ('7.25 s', '1 min 30 s', '2 h 3 min', '2 d 7 h')
    """
    if seconds < 60:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    for unit, small, size, part in (("min", "s", 60, 1), ("h", "min", 3600, 60), ("d", "h", 86400, 3600)):
        if whole < {"min": 3600, "h": 86400, "d": math.inf}[unit]:
            rest = whole % size // part
            return f"{whole // size} {unit}" + (f" {rest} {small}" if rest else "")
    raise AssertionError

"""Bars as inline SVG, and human-readable numbers and durations."""

import math


def bar(share: float) -> str:
    """Return a bar for a table cell. `share` is the fraction of the width to fill, 0 to 1."""
    width = max(0.0, min(1.0, share)) * 100
    drawn = f'<rect width="{width:.1f}" height="8"/>'
    return f'<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg>'


def figure(value: float) -> str:
    """Return a number with three significant digits, but with all integer digits from 100 on.

    >>> figure(0.04567), figure(12.345), figure(123456.7)
    ('0.0457', '12.3', '123,457')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def duration(seconds: float) -> str:
    """Return a human-readable duration.

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

"""Charts as SVG, without a library: bars by work, and lines on axes that are logarithmic or start at zero."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple

_COLORS = (
    "#4477aa",
    "#99bbdd",
    "#222255",
    "#cc6677",
    "#aa3377",
    "#dd8822",
    "#888888",
    "#228833",
    "#66ccaa",
    "#ccbb44",
    "#66ccee",
    "#994455",
)
_STYLE = 'font-family="sans-serif" font-size="12"'
Points = Sequence[tuple[float, float]]


def bars(title: str, values: Mapping[tuple[str, str], float]) -> str:
    """Return a chart of (series, group): value, one group of bars below the other."""
    series = list(dict.fromkeys(key[0] for key in values))
    groups = list(dict.fromkeys(key[1] for key in values))
    most = max(values.values(), default=1.0)
    parts, y = [_text(10, 18, title, bold=True)], 40
    for group in groups:
        parts.append(_text(10, y + 10, group, bold=True))
        for name in series:
            if (name, group) not in values:
                continue
            value, color = values[name, group], _COLORS[series.index(name) % len(_COLORS)]
            width = max(1.0, value / most * 465)
            parts.append(f'<rect x="235" y="{y}" width="{width:.0f}" height="12" fill="{color}"/>')
            parts += [_text(100, y + 10, name), _text(241 + width, y + 10, f"{value:.0f}")]
            y += 15
        y += 12
    return _svg(760, y, parts)


class Axis(NamedTuple):
    """The values that are marked, and where a value lies: 0 at the start, 1 at the end."""

    marks: Sequence[float]
    place: Callable[[float], float]


def decades(values: Sequence[float]) -> Axis:
    """Return a logarithmic axis, marked at powers of ten; what is not above zero lies at its start."""
    logs = [math.log10(value) for value in values if value > 0] or [0.0]
    low = math.floor(min(logs))
    high = max(math.ceil(max(logs)), low + 1)
    marks = [10.0**power for power in range(low, high + 1)]
    return Axis(marks, lambda value: (math.log10(max(value, marks[0])) - low) / (high - low))


def from_zero(values: Sequence[float]) -> Axis:
    """Return a linear axis from zero, marked at round numbers."""
    most = max(values, default=0) or 1.0
    rough = 10.0 ** math.floor(math.log10(most))
    step = next(rough * part for part in (0.2, 0.5, 1.0, 2.0) if rough * part * 6 >= most)
    marks = [step * number for number in range(math.ceil(most / step) + 1)]
    return Axis(marks, lambda value: value / marks[-1])


def lines(
    title: str, unit: str, series: Mapping[str, Points], *, axis: Callable[[Sequence[float]], Axis] = decades
) -> str:
    """Return a chart of lines through points, on two axes of one kind."""
    points = [point for line in series.values() for point in line]
    across, up = axis([x for x, _ in points]), axis([y for _, y in points])
    left, top, right, bottom = 70, 40, 410, 280

    def place(x: float, y: float) -> tuple[float, float]:
        return left + across.place(x) * (right - left), bottom - up.place(y) * (bottom - top)

    parts = [_text(10, 18, f"{title}, {unit}", bold=True)]
    for mark in across.marks:
        x, _ = place(mark, up.marks[0])
        parts += [_line(x, top, x, bottom), _text(x - 3 * len(f"{mark:.7g}"), bottom + 16, f"{mark:.7g}")]
    for mark in up.marks:
        _, y = place(across.marks[0], mark)
        parts += [_line(left, y, right, y), _text(20, y + 4, f"{mark:.7g}")]
    for number, (name, line) in enumerate(series.items()):
        color = _COLORS[number % len(_COLORS)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [
            f'<rect x="{right + 12}" y="{top + number * 18}" width="12" height="12" fill="{color}"/>',
            _text(right + 30, top + number * 18 + 10, name),
        ]
    return _svg(560, 320, parts)


def stacked(charts: Sequence[str]) -> str:
    """Return charts one below the other."""
    parts, y, widest = [], 0, 0
    for chart in charts:
        width, height = (int(word.split('"')[1]) for word in chart.split(">", 1)[0].split(" ")[2:4])
        parts.append(f'<svg y="{y}"' + chart.removeprefix("<svg"))
        y, widest = y + height, max(widest, width)
    return _svg(widest, y, parts)


def _text(x: float, y: float, text: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.0f}" y="{y:.0f}"{weight}>{escape(text)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="#dddddd"/>'


def _svg(width: int, height: int, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {_STYLE}>'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>"]) + "\n"

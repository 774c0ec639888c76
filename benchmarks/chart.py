"""Charts as SVG, without a library: bars by work, and lines on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

_COLORS = ("#4477aa", "#99bbdd", "#222255", "#cc6677", "#aa3377", "#dd8822", "#888888", "#228833", "#66ccaa")
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
            width = max(1.0, value / most * 480)
            parts.append(f'<rect x="210" y="{y}" width="{width:.0f}" height="12" fill="{color}"/>')
            parts += [_text(100, y + 10, name), _text(216 + width, y + 10, f"{value:.0f}")]
            y += 15
        y += 12
    return _svg(760, y, parts)


def lines(title: str, unit: str, series: Mapping[str, Points], *, width: int = 560, height: int = 320) -> str:
    """Return a chart of lines through points whose axes are both logarithmic."""
    points = [point for line in series.values() for point in line]
    low_x, high_x = _decades([x for x, _ in points])
    low_y, high_y = _decades([y for _, y in points])
    left, top, right, bottom = 70, 40, width - 150, height - 40

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - low_x) / (high_x - low_x)
        up = (math.log10(max(y, 10.0**low_y)) - low_y) / (high_y - low_y)
        return left + across * (right - left), bottom - up * (bottom - top)

    parts = [_text(10, 18, f"{title}, {unit}", bold=True)]
    for power in range(low_x, high_x + 1):
        x, _ = place(10.0**power, 10.0**low_y)
        parts += [_line(x, top, x, bottom), _text(x - 8, bottom + 16, f"{10**power:g}")]
    for power in range(low_y, high_y + 1):
        _, y = place(10.0**low_x, 10.0**power)
        parts += [_line(left, y, right, y), _text(20, y + 4, f"{10.0**power:g}")]
    for number, (name, line) in enumerate(series.items()):
        color = _COLORS[number % len(_COLORS)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [
            f'<rect x="{right + 12}" y="{top + number * 18}" width="12" height="12" fill="{color}"/>',
            _text(right + 30, top + number * 18 + 10, name),
        ]
    return _svg(width, height, parts)


def stacked(charts: Sequence[str]) -> str:
    """Return charts one below the other."""
    parts, y, widest = [], 0, 0
    for chart in charts:
        width, height = (int(word.split('"')[1]) for word in chart.split(">", 1)[0].split(" ")[2:4])
        parts.append(f'<svg y="{y}"' + chart.removeprefix("<svg"))
        y, widest = y + height, max(widest, width)
    return _svg(widest, y, parts)


def _decades(values: Sequence[float]) -> tuple[int, int]:
    logs = [math.log10(value) for value in values if value > 0] or [0.0]
    low, high = math.floor(min(logs)), math.ceil(max(logs))
    return low, max(high, low + 1)


def _text(x: float, y: float, text: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.0f}" y="{y:.0f}"{weight}>{escape(text)}</text>'


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="#dddddd"/>'


def _svg(width: int, height: int, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {_STYLE}>'
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>"]) + "\n"

"""The charts of the page of `report`: which lines each has, and what they and their points say.

The page offers a choice of charts and draws the one chosen; it selects and orders nothing itself.
A chart has the points that agree in all that `Chart` names, against one axis; points that differ
by variant or by another parameter lie on different lines.
"""

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from reduce_bench_report import styles
from reduce_bench_report.families import contender
from reduce_bench_report.identity import natural
from reduce_bench_report.loader import Point
from reduce_bench_report.points import PARAM

MODES = ("cold", "hot", "graph", "wall")
# what the user chooses before the axis, in this order
DIMENSIONS = ("operation", "backend", "type", "op", "distribution", "labels")

Number = int | float
Key = TypeVar("Key")
Sizes = tuple[int | None, int | None]  # n and buckets
Places = Mapping[int, Point]  # points by their place in the page's data


@dataclass(frozen=True)
class Measure:
    """What charts can show of a point that takes `ns`: scale * ns, or scale / ns where it falls.

    `field` names it in the results' schema, which has its title and unit. `modes` are those in
    which it has a meaning; `text` says how the page writes it.
    """

    field: str
    scale: Callable[[Point], float | None]
    falls: bool
    text: str
    modes: Sequence[str] = MODES

    def of(self, scale: float, ns: float) -> float:
        return scale / ns if self.falls else scale * ns


def stream_ns(point: Point) -> float | None:
    """How long the stream that measured the read ceiling takes over the point's input."""
    cold = point.timing.get("cold")
    return (
        None
        if cold is None or point.ceiling_share is None
        else (point.ceiling_share * float(cold["median_ns"]))
    )


MEASURES = (
    Measure("gb_per_s", lambda point: point.bytes, falls=True, text="number"),
    Measure(
        "ns_per_item", lambda point: 1 / point.n if point.n else None, falls=False, text="number"
    ),
    Measure("median_ns", lambda _: 1, falls=False, text="time"),
    # the ceiling was measured cold
    Measure("ceiling_share", stream_ns, falls=True, text="share", modes=("cold",)),
)


@dataclass(frozen=True)
class Line:
    """Points of one variant and its other parameters, by ascending x.

    `key` tells it from all others; `label` says what tells it from those of its chart.
    """

    key: str
    label: str
    variant: str
    family: str
    style: styles.Style
    points: Sequence[int]


@dataclass(frozen=True)
class Best:
    """A family's fastest right points by ascending x.

    `line` is the first of those that they lie on; `label` names it where it is the only one.
    """

    line: int  # place in the chart's lines
    style: styles.Style
    label: str
    points: Sequence[int]


@dataclass(frozen=True)
class Chart:
    """`n` or `buckets` is None where it is the axis x or the operation has no such thing.

    `best` has for each mode the best of each family; `ceiling` has each measure of the read
    ceiling by x.
    """

    dimensions: Mapping[str, str | None]
    x: str
    n: int | None
    buckets: int | None
    lines: Sequence[Line]
    best: Mapping[str, Sequence[Best]]
    ceiling: Mapping[str, Sequence[Number | None]]

    def document(self) -> dict[str, Any]:
        """As the page's data has it."""
        return {
            **self.dimensions,
            "x": self.x,
            "n": self.n,
            "buckets": self.buckets,
            "lines": [
                {
                    "key": line.key,
                    "label": line.label,
                    "variant": line.variant,
                    "family": line.family,
                    "style": _places(line.style),
                    "points": line.points,
                }
                for line in self.lines
            ],
            "best": {
                mode: [
                    (
                        best.line,
                        _places(best.style),
                        {"label": best.label, "points": best.points},
                    )
                    for best in shown
                ]
                for mode, shown in self.best.items()
            },
            "ceiling": self.ceiling,
        }


def _places(style: styles.Style) -> tuple[int, int, int]:
    return style.colour, style.marker, style.dashes


def charts(points: Places, families: Sequence[str]) -> list[Chart]:
    """Every chart of these points: for each combination of dimensions, axis and fixed sizes."""
    return [
        _chart(dict(zip(DIMENSIONS, dimensions, strict=True)), x, sizes, own, families)
        for dimensions, group in _grouped(points, _dimensions).items()
        for x in _axes(group.values())
        for sizes, own in _on_axis(group, x).items()
    ]


def _on_axis(points: Places, x: str) -> dict[Sizes, dict[int, Point]]:
    """Those that lie on the axis, by the sizes that a chart of it keeps the same."""
    on_axis = {place: point for place, point in points.items() if _x(point, x) is not None}
    return _grouped(on_axis, functools.partial(_sizes, x=x))


def _grouped(points: Places, key_of: Callable[[Point], Key]) -> dict[Key, dict[int, Point]]:
    groups: dict[Key, dict[int, Point]] = defaultdict(dict)
    for place, point in points.items():
        groups[key_of(point)][place] = point
    return groups


def _dimensions(point: Point) -> tuple[str | None, ...]:
    return tuple(point.axis_text(name) or None for name in DIMENSIONS)


def _sizes(point: Point, x: str) -> Sizes:
    """n and buckets, but for the one that is the axis."""
    return None if x == "n" else point.n, None if x == "buckets" else point.buckets


def _x(point: Point, x: str) -> Number | None:
    """Where the point lies on the axis: its n, its buckets, or a parameter that is a number."""
    if not x.startswith(PARAM):
        return point.n if x == "n" else point.buckets
    return _as_number(dict(point.params).get(x.removeprefix(PARAM)))


def _as_number(text: str | None) -> Number | None:
    try:
        value = float(text or "nan")
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() else value


def _axes(points: Iterable[Point]) -> list[str]:
    """n, buckets and the parameters that are numbers, as far as the points vary along them."""
    points = list(points)
    values: dict[str, set[str]] = defaultdict(set)
    for point in points:
        for name, value in point.params:
            values[PARAM + name].add(value)
    params = [
        name for name, given in values.items() if all(_as_number(v) is not None for v in given)
    ]
    varying = [x for x in ("n", "buckets", *params) if len({_x(p, x) for p in points} - {None}) > 1]
    return varying or ["n"]


def _chart(
    dimensions: Mapping[str, str | None],
    x: str,
    sizes: Sizes,
    points: Places,
    families: Sequence[str],
) -> Chart:
    by_line: dict[tuple[str, tuple[str, ...]], dict[Number, int]] = defaultdict(dict)
    for place, point in points.items():
        others = tuple(f"{k}={v}" for k, v in point.params if PARAM + k != x)
        at = _x(point, x)
        assert at is not None
        by_line[point.variant, others].setdefault(at, place)  # the newest run comes first
    keys = sorted(by_line, key=lambda key: natural(" ".join([key[0], *key[1]])))
    line_styles = styles.of_lines([_family(variant) for variant, _ in keys])
    lines = [
        Line(
            " ".join([variant, *others]),
            _label(
                variant,
                others,
                keys,
                [points[place] for place in by_line[variant, others].values()],
            ),
            variant,
            _family(variant),
            style,
            [place for _, place in sorted(by_line[variant, others].items())],
        )
        for (variant, others), style in zip(keys, line_styles, strict=True)
    ]
    return Chart(
        dimensions,
        x,
        *sizes,
        lines,
        {mode: _best(lines, points, x, mode) for mode in MODES},
        _ceiling(points.values(), x),
    )


def _family(variant: str) -> str:
    return variant.split("/", 1)[0]


def _label(
    variant: str,
    params: Sequence[str],
    keys: Iterable[tuple[str, Sequence[str]]],
    points: Iterable[Point],
) -> str:
    """The variant, and those of its parameters that another line of it has not."""
    same = [others for name, others in keys if name == variant]
    telling = [text for text in params if any(text not in others for others in same)]
    host = ["(host)"] if any(point.finish == "host" for point in points) else []
    return " ".join([variant, *telling, *host])


def _best(lines: Sequence[Line], points: Places, x: str, mode: str) -> list[Best]:
    """For each family that has a right result in this mode, the fastest right point at every x.

    Where none is right, the first of its points marks why.
    """
    at: dict[str, dict[Number, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for number, line in enumerate(lines):
        # one without a time does not say where it would have finished
        name = contender(points[min(line.points, key=lambda place: not points[place].timing)])
        for place in line.points:
            where = _x(points[place], x)
            assert where is not None
            at[name][where].append((number, place))

    def time_ns(place: int) -> float:
        point = points[place]
        right = point.is_right and mode in point.timing
        return float(point.timing[mode]["median_ns"]) if right else math.inf

    chosen = {
        name: [min(at_x[where], key=lambda each: time_ns(each[1])) for where in sorted(at_x)]
        for name, at_x in at.items()
    }
    timed = {
        name: sorted({number for number, place in own if time_ns(place) < math.inf})
        for name, own in chosen.items()
    }
    shown = [name for name in sorted(timed, key=lambda name: timed[name]) if timed[name]]
    looks = styles.of_lines([lines[timed[name][0]].family for name in shown])
    return [
        Best(
            timed[name][0],
            look,
            lines[timed[name][0]].label
            if len(timed[name]) == 1
            else f"{name} (best of {len(timed[name])})",
            [place for _, place in chosen[name]],
        )
        for name, look in zip(shown, looks, strict=True)
    ]


def _ceiling(points: Iterable[Point], x: str) -> dict[str, list[Number | None]]:
    """Each measure of the stream at every x: of the variant that moves least, which is nearest to
    the input alone, all that the stream reads."""
    at: dict[Number, Point] = {}
    for point in points:
        place = _x(point, x)
        if place is None or not point.is_right or stream_ns(point) is None:
            continue
        other = at.get(place)
        if other is None or point.raw["bytes_read"] < other.raw["bytes_read"]:
            at[place] = point
    streams = [(at[place], stream_ns(at[place]) or 0.0) for place in sorted(at)]
    ceiling: dict[str, list[Number | None]] = {"x": [*sorted(at)]}
    for measure in MEASURES:
        # a variant's GB/s count all that it moves
        scales = [
            point.raw["bytes_read"] if measure.field == "gb_per_s" else measure.scale(point)
            for point, _ in streams
        ]
        ceiling[measure.field] = [
            None if scale is None or not ns else measure.of(scale, ns)
            for scale, (_, ns) in zip(scales, streams, strict=True)
        ]
    return ceiling

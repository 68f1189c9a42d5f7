"""Chooses what figures and tables show: panels, lines, and one representative of each family."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from reduce_bench_report.loader import ELEMENT_BYTES, InputError, Point

ALWAYS_SHOWN = ("cub/reduce", "onepass/reduce")
TYPE_ORDER = tuple(ELEMENT_BYTES)
FILTER_KEYS: dict[str, Callable[[Point], str]] = {
    "backend": lambda point: point.backend,
    "type": lambda point: point.type,
    "op": lambda point: point.op,
    "operation": lambda point: point.operation,
    "buckets": lambda point: str(point.buckets),
    "labels": lambda point: str(point.labels),
    "distribution": lambda point: str(point.distribution),
    "mode": lambda point: point.mode,
}


@dataclass(frozen=True)
class Line:
    """One variant with one set of parameters: its points by ascending n."""

    variant: str
    label: str
    points: tuple[Point, ...]

    @property
    def family(self) -> str:
        return self.points[0].family

    @property
    def best_at_largest(self) -> tuple[int, float] | None:
        """(-n, median) of the largest ranked point: the smallest such pair represents best."""
        ranked = [point for point in self.points if point.ranked]
        return (-ranked[-1].n, ranked[-1].time_ns()) if ranked else None


@dataclass(frozen=True)
class Panel:
    """Points that may be compared with each other: all equal but for variant, params and n."""

    operation: str
    backend: str
    type: str
    op: str
    distribution: str  # of the values; with labels, of those and of how many buckets too
    mode: str
    lines: tuple[Line, ...]  # every one
    shown: tuple[Line, ...]  # the representatives

    @property
    def title(self) -> str:
        what = self.type if self.op == "none" else f"{self.type} {self.op}"
        if self.operation != "reduce":
            what = f"{self.operation} {what}"
        return f"{what}, {self.distribution}, {self.backend}, {self.mode}"

    @property
    def sizes(self) -> list[int]:
        return sorted({point.n for line in self.lines for point in line.points})

    @property
    def unranked(self) -> list[tuple[Line, Point]]:
        return [(line, point) for line in self.shown for point in line.points if not point.ranked]

    @property
    def families_without_time(self) -> list[str]:
        """Families that no line can represent."""
        families = {line.family for line in self.lines}
        return sorted(families - {line.family for line in self.shown})


def filter_points(points: Iterable[Point], conditions: Sequence[str]) -> list[Point]:
    """The points that meet every `key=value[,value]` condition."""
    kept = list(points)
    for condition in conditions:
        key, separator, values = condition.partition("=")
        if not separator or key not in FILTER_KEYS:
            raise InputError(
                f"condition '{condition}' is not KEY=VALUE[,VALUE] with KEY one of "
                f"{', '.join(FILTER_KEYS)}; give one such as type=i32,f32"
            )
        present = sorted({FILTER_KEYS[key](point) for point in kept})
        wanted = values.split(",")
        kept = [point for point in kept if FILTER_KEYS[key](point) in wanted]
        if not kept:
            raise InputError(
                f"no point has {condition}; the results have {key} {', '.join(present) or 'none'}"
            )
    return kept


def panels(points: Iterable[Point], representatives: Sequence[str] = ()) -> list[Panel]:
    """Groups points into panels in order of appearance, the types of one group side by side.

    `representatives` lists variants that are shown for their family instead of its fastest.
    """
    groups: dict[tuple[str, ...], dict[str, list[Point]]] = {}
    for point in points:
        group = (point.operation, point.backend, point.op, _inputs(point), point.mode)
        groups.setdefault(group, {}).setdefault(point.type, []).append(point)
    made = []
    for (operation, backend, op, distribution, mode), by_type in groups.items():
        for element_type in sorted(by_type, key=TYPE_ORDER.index):
            lines = _lines(by_type[element_type])
            shown = _shown(lines, representatives)
            made.append(
                Panel(operation, backend, element_type, op, distribution, mode, lines, shown)
            )
    return made


def _inputs(point: Point) -> str:
    if point.labels is None:
        return str(point.distribution)
    return f"{point.distribution} values, {point.labels} labels, {point.buckets} buckets"


def _lines(points: Sequence[Point]) -> tuple[Line, ...]:
    by_config: dict[tuple[str, tuple[tuple[str, str], ...]], dict[int, Point]] = {}
    for point in points:
        by_config.setdefault((point.variant, point.params), {}).setdefault(point.n, point)
    return tuple(
        Line(
            variant,
            _label(variant, params, [other for name, other in by_config if name == variant])
            + (" (host)" if any(point.finish == "host" for point in by_n.values()) else ""),
            tuple(by_n[n] for n in sorted(by_n)),
        )
        for (variant, params), by_n in by_config.items()
    )


def _label(
    variant: str,
    params: tuple[tuple[str, str], ...],
    params_of_variant: Sequence[tuple[tuple[str, str], ...]],
) -> str:
    """The variant, and those of its parameters that tell it from its other lines."""
    varying = [
        f"{name}={value}"
        for name, value in params
        if any(dict(other).get(name) != value for other in params_of_variant)
    ]
    return " ".join([variant, *varying])


def _shown(lines: Sequence[Line], representatives: Sequence[str]) -> tuple[Line, ...]:
    chosen: list[Line] = []
    for family in sorted({line.family for line in lines}):
        of_family = [line for line in lines if line.family == family]
        chosen += _best_of_each(of_family, representatives) or _best(of_family)
    others = [variant for variant in ALWAYS_SHOWN if all(variant != c.variant for c in chosen)]
    chosen += _best_of_each(lines, others)
    return tuple(sorted(chosen, key=lambda line: line.variant))


def _best_of_each(lines: Sequence[Line], variants: Sequence[str]) -> list[Line]:
    return [
        best
        for variant in variants
        for best in _best([line for line in lines if line.variant == variant])
    ]


def _best(lines: Sequence[Line]) -> list[Line]:
    """The fastest line at the largest n; none where no line has a ranked point."""
    timed = [(line.best_at_largest, line) for line in lines]
    ranked = [(key, line) for key, line in timed if key is not None]
    return [min(ranked, key=lambda pair: pair[0])[1]] if ranked else []


def size_text(n: int) -> str:
    """`2^20` for powers of two from 2^10, else digits in groups."""
    if n >= 1024 and n & (n - 1) == 0:
        return f"2^{n.bit_length() - 1}"
    return f"{n:,}"


def time_text(time_ns: float) -> str:
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if time_ns >= scale:
            return f"{time_ns / scale:.4g} {unit}"
    return f"{time_ns:.4g} ns"

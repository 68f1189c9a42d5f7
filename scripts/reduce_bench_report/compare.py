"""Describes how the medians of two runs relate, point by point, without judging."""

from collections import Counter
from dataclasses import dataclass

from reduce_bench_report.loader import Point, Results
from reduce_bench_report.select import size_text, time_text

NO_VERDICT = (
    "This table describes and gives no verdict: ratios inside the noise are listed as well."
)


@dataclass(frozen=True)
class Pair:
    base: Point
    new: Point

    @property
    def ratio(self) -> float:
        return self.new.time_ns() / self.base.time_ns()


@dataclass(frozen=True)
class Pairing:
    pairs: list[Pair]  # both ranked, in the same mode; slowest first
    without_times: int  # paired, but not both so
    only_base: int
    only_new: int


def pair(base: Results, new: Results) -> Pairing:
    """Pairs points by identity; points of one identity pair in the order of their plans."""
    base_by_key, new_by_key = _keyed(base), _keyed(new)
    common = [key for key in base_by_key if key in new_by_key]
    pairs = [Pair(base_by_key[key], new_by_key[key]) for key in common]
    timed = [
        each
        for each in pairs
        if each.base.ranked and each.new.ranked and each.base.mode == each.new.mode
    ]
    return Pairing(
        pairs=sorted(timed, key=lambda each: -each.ratio),
        without_times=len(pairs) - len(timed),
        only_base=len(base_by_key) - len(common),
        only_new=len(new_by_key) - len(common),
    )


def _keyed(results: Results) -> dict[tuple[object, ...], Point]:
    seen: Counter[tuple[object, ...]] = Counter()
    keyed = {}
    for point in results.points:
        keyed[(*point.identity, seen[point.identity])] = point
        seen[point.identity] += 1
    return keyed


def markdown(base: Results, new: Results) -> str:
    pairing = pair(base, new)
    lines = [
        f"Base: {base.provenance}",
        "",
        f"New: {new.provenance}",
        "",
        NO_VERDICT,
        "",
        "| variant | point | base median [p25, p75] | new median [p25, p75] | new / base |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for each in pairing.pairs:
        point = each.base
        params = "".join(f" {name}={value}" for name, value in point.params)
        where = (
            f"{size_text(point.n)} {point.type} {point.op}, {point.distribution}, "
            f"{point.backend}, {point.mode}"
        )
        lines.append(
            f"| {point.variant}{params} | {where} | {_times(each.base)} | {_times(each.new)} "
            f"| {each.ratio:.3f} |"
        )
    lines += [
        "",
        f"{len(pairing.pairs)} points compared; {pairing.without_times} paired without two valid "
        f"times in one mode; {pairing.only_base} only in base; {pairing.only_new} only in new.",
    ]
    return "\n".join(lines) + "\n"


def _times(point: Point) -> str:
    low, high = point.time_ns("p25_ns"), point.time_ns("p75_ns")
    return f"{time_text(point.time_ns())} [{time_text(low)}, {time_text(high)}]"

"""Which variant to take for a problem: the fastest at a size where all contenders were measured.

The page of `report` and the README's table both take their recommendations from here.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from reduce_bench_report import rounds
from reduce_bench_report.identity import PointIdentity
from reduce_bench_report.loader import ELEMENT_BYTES, Point, Results
from reduce_bench_report.points import Measured

LIBRARIES = ("cub", "thrust")  # families
# Noise does not make a variant faster than merely reading its input by more than this.
HIGHEST_SHARE = 1.05


class Problem(NamedTuple):
    """What a variant is asked to compute, apart from the size. `labels` and `scan` are empty where
    the operation has no such thing."""

    operation: str
    backend: str
    type: str
    op: str
    distribution: str
    labels: str
    scan: str
    mode: str

    @classmethod
    def of(cls, point: Point) -> "Problem":
        return cls(*(point.axis_text(name) for name in cls._fields))


class Size(NamedTuple):
    """`n` inputs, and `buckets` where the operation has labels."""

    n: int
    buckets: int | None


@dataclass(frozen=True)
class Absent:
    """A contender that was not measured at a size, and the nearest point at which it was faster."""

    variant: str
    nearest: Measured


@dataclass(frozen=True)
class Recommendation:
    """What was measured of a problem at one size.

    `ranked` has the fastest verified point of each variant, the fastest first. `absent` names the
    contenders that were not measured here; while there is any, nothing is recommended.
    """

    size: Size
    ranked: Sequence[Measured]
    absent: Sequence[Absent]

    @property
    def fastest(self) -> Measured | None:
        """The fastest of those measured here; a recommendation only where none is absent."""
        return self.ranked[0] if self.ranked else None

    @property
    def runner_up(self) -> Measured | None:
        return self.ranked[1] if len(self.ranked) > 1 else None

    @cached_property
    def library(self) -> Measured | None:
        """The fastest library."""
        return next((each for each in self.ranked if each.point.family in LIBRARIES), None)

    @property
    def is_tie(self) -> bool:
        """Whether the noise leaves open which of the first two is faster."""
        return len(self.ranked) > 1 and tie(self.ranked[0], self.ranked[1])


def tie(one: Measured, other: Measured) -> bool:
    """Whether the noise leaves open which is faster: their intervals overlap, or their medians lie
    apart by no more than two measurements of the same thing did in either run, and where they are
    of two runs, from run to run."""
    a, b = one.point, other.point
    if a.time_ns("ci_low_ns") <= b.time_ns("ci_high_ns") and b.time_ns("ci_low_ns") <= a.time_ns(
        "ci_high_ns"
    ):
        return True
    ratio = max(a.time_ns(), b.time_ns()) / min(a.time_ns(), b.time_ns())
    if one.run is other.run:
        return ratio - 1 <= one.noise_within
    return ratio - 1 <= max(one.noise, other.noise)


def excess(share: float | None) -> float | None:
    """By which factor the read ceiling was measured too low at least, where a share shows it."""
    return share if share is not None and share > HIGHEST_SHARE else None


def one_run_each(runs: Sequence[Results]) -> list[Measured]:
    """Each point as one run has it. Where several runs have it, it is of a first round rather than
    a second one, then of the run that timed the most variants of the problem at that size, so that
    what is compared was measured side by side as far as it can be, and then of the newest."""
    variants: dict[tuple[int, Problem, Size], set[str]] = defaultdict(set)
    for place, run in enumerate(runs):
        for point in run.points:
            if point.ranked and point.is_of_one_device:
                variants[place, Problem.of(point), Size(point.n, point.buckets)].add(point.variant)
    between = rounds.floors(runs)
    chosen: dict[PointIdentity, tuple[tuple[bool, int, str], Measured]] = {}
    for place, run in enumerate(runs):
        for point in run.points:
            beside = variants.get((place, Problem.of(point), Size(point.n, point.buckets)), ())
            rank = (not run.is_again, len(beside), str(run.environment["date_utc"]))
            if point.identity not in chosen or rank > chosen[point.identity][0]:
                floor = between.get(rounds.Kind.of(point, point.mode), 0.0) if point.ranked else 0.0
                chosen[point.identity] = rank, Measured(point, run, between_runs=floor)
    return [measured for _, measured in chosen.values()]


def recommendations(measured: Iterable[Measured]) -> dict[Problem, list[Recommendation]]:
    """Those of every problem on one device, by ascending size.

    A contender of a size is a variant that was measured there, or one that was not tried there
    although it was the fastest at the nearest size at which it was tried, along n or along the
    number of buckets and to either side, and clearly beat the fastest of this size. A variant that
    refused a size was tried there; it is taken to refuse that size with all elements as wide.
    This project's library contends by the variants that it launches.
    """
    by_problem: dict[Problem, list[Measured]] = defaultdict(list)
    for each in measured:
        if each.point.is_of_one_device and not each.point.is_of_library:
            by_problem[Problem.of(each.point)].append(each)
    refusals = _refusals(by_problem)
    return {
        problem: _of_problem(group, refusals[_limited_alike(problem)])
        for problem, group in by_problem.items()
    }


Refusals = Mapping[str, set[Size]]  # by variant


def _limited_alike(problem: Problem) -> tuple[str, str, int]:
    """What memory and the number of buckets limit in the same way."""
    return problem.operation, problem.backend, ELEMENT_BYTES[problem.type]


def _refusals(
    by_problem: Mapping[Problem, Sequence[Measured]],
) -> dict[tuple[str, str, int], Refusals]:
    """The sizes that a variant refused for one problem and has a time at for no other."""
    refused: dict[tuple[str, str, int], dict[str, set[Size]]] = {}
    timed: dict[tuple[str, str, int], dict[str, set[Size]]] = {}
    for problem, group in by_problem.items():
        alike = _limited_alike(problem)
        for each in group:
            outcomes = timed if each.point.ranked else refused
            if each.point.ranked or each.point.status == "skipped":
                sizes = outcomes.setdefault(alike, {}).setdefault(each.point.variant, set())
                sizes.add(_size(each))
    return {
        alike: {
            variant: sizes - timed.get(alike, {}).get(variant, set())
            for variant, sizes in refused.get(alike, {}).items()
        }
        for alike in {*refused, *timed, *map(_limited_alike, by_problem)}
    }


def _size(measured: Measured) -> Size:
    return Size(measured.point.n, measured.point.buckets)


def _of_problem(group: Sequence[Measured], refusals: Refusals) -> list[Recommendation]:
    tried: dict[str, set[Size]] = defaultdict(set)
    timed: dict[tuple[str, Size], Measured] = {}  # the fastest point of a variant at a size
    for each in group:
        variant, size = each.point.variant, _size(each)
        tried[variant].add(size)
        if each.point.ranked:
            other = timed.get((variant, size))
            if other is None or each.point.time_ns() < other.point.time_ns():
                timed[variant, size] = each
    sizes_tried = sorted({_size(e) for e in group}, key=lambda size: (size.n, size.buckets or 0))
    at: dict[Size, list[Measured]] = {size: [] for size in sizes_tried}
    for each in sorted(timed.values(), key=lambda each: each.point.time_ns()):
        at[_size(each)].append(each)
    made = []
    for size, ranked in at.items():
        absent = []
        for variant, sizes in tried.items():
            settled = sizes | refusals.get(variant, set())
            if ranked and size not in settled:
                neighbours = (timed.get((variant, near)) for near in _nearest(size, settled))
                won = [each for each in neighbours if each and _beat(each, ranked[0], at)]
                absent += [Absent(variant, won[0])] if won else []
        made.append(Recommendation(size, ranked, absent))
    return made


def _nearest(size: Size, sizes: Iterable[Size]) -> Iterator[Size]:
    """The next smaller and the next larger number of buckets at the same n, then the same of n."""
    sizes = list(sizes)
    if size.buckets is not None:
        at_n = [(each.buckets or 0, each) for each in sizes if each.n == size.n]
        yield from _around(size.buckets, at_n)
    yield from _around(size.n, [(each.n, each) for each in sizes if each.buckets == size.buckets])


def _around(x: int, sizes: Sequence[tuple[int, Size]]) -> Iterator[Size]:
    below = max((each for each in sizes if each[0] < x), default=None)
    above = min((each for each in sizes if each[0] > x), default=None)
    yield from (each[1] for each in (below, above) if each is not None)


def _beat(neighbour: Measured, fastest: Measured, at: Mapping[Size, Sequence[Measured]]) -> bool:
    """Whether the neighbour was the fastest of its size, or within the noise of it, and clearly
    faster than the fastest variant of another size: than that was at the neighbour's size, or where
    it has no time there, per input than it is at its own."""
    ranked = at[_size(neighbour)]
    if neighbour is not ranked[0] and not tie(neighbour, ranked[0]):
        return False
    for rival in ranked:
        if rival.point.variant == fastest.point.variant:
            faster = neighbour.point.time_ns() < rival.point.time_ns()
            return faster and not tie(neighbour, rival)
    return neighbour.point.time_ns() * fastest.point.n < fastest.point.time_ns() * neighbour.point.n

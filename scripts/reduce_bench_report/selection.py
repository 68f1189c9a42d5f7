"""Which points of the runs an experiment shows, and which of them it takes as the best."""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence

from reduce_bench_report.configuration import Configuration
from reduce_bench_report.experiments import Experiment
from reduce_bench_report.families import contender, fastest_at_the_largest
from reduce_bench_report.identity import PointIdentity, fact_text
from reduce_bench_report.loader import Point, Results
from reduce_bench_report.measures import MEASURES

# what points of one variant and parameters can differ by
OF_ONE_FORM = ("operation", "backend", "n", "buckets", "type", "op", "labels", "distribution")


def collect(
    experiment: Experiment, asked: Configuration | None, runs: Sequence[Results]
) -> tuple[list[Point], list[Results]]:
    """One point for each identity. Where several runs have it, the one with the most points of the
    experiment gives it; the runs that gave any come with the points."""
    found = []
    for run in runs:
        own = [
            point
            for point in run.points
            if (asked is None or asked.asks_for(point))
            and all(point.axis_text(key) in values for key, values in experiment.where.items())
            and x_of(experiment, point)
            and _is_on_plane(experiment, point)
        ]
        own = _in_large_panels(experiment, own)
        if own:
            found.append((run, own))
    found.sort(key=lambda pair: -len(pair[1]))
    if asked is not None:
        names = _parameter_names(point for _, own in found for point in own)
        found = [(run, [_completed(p, names[p.variant], asked) for p in own]) for run, own in found]
    points: dict[PointIdentity, Point] = {}
    used = []
    for run, own in found:
        known = len(points)
        for point in own:
            points.setdefault(point.identity, point)
        if len(points) > known:
            used.append(run)
    return list(points.values()), used


def _is_on_plane(experiment: Experiment, point: Point) -> bool:
    """Whether the point can be drawn: on a plane one of a run that did not count has no place."""
    return not experiment.plane or (
        point.ranked and all(MEASURES[measure].of(point) for measure in experiment.y)
    )


def _parameter_names(points: Iterable[Point]) -> dict[str, set[str]]:
    """By variant, the parameters that any of its points has."""
    names: dict[str, set[str]] = {}
    for point in points:
        names.setdefault(point.variant, set()).update(name for name, _ in point.params)
    return names


def _completed(point: Point, names: set[str], asked: Configuration) -> Point:
    """A point from before its variant had a parameter has the one value that is asked for, so that
    it is no other than the same point of a later run."""
    params = dict(point.params)
    for sweep in asked.sweeps if names > params.keys() else ():
        if sweep.asks_for(point):
            stated = ((name, sweep.params.get(name, ())) for name in names - params.keys())
            params |= {name: values[0] for name, values in stated if len(values) == 1}
    if len(params) == len(point.params):
        return point
    return dataclasses.replace(point, params=tuple(sorted(params.items())))


def _in_large_panels(experiment: Experiment, points: Sequence[Point]) -> list[Point]:
    """The points of panels that have `least_x` values of x or more."""
    xs: dict[tuple[str, ...], set[str]] = {}
    for point in points:
        xs.setdefault(panel_of(experiment, point), set()).add(x_of(experiment, point))
    return [point for point in points if len(xs[panel_of(experiment, point)]) >= experiment.least_x]


def panel_of(experiment: Experiment, point: Point) -> tuple[str, ...]:
    return tuple(point.axis_text(key) for key in experiment.panels)


def x_of(experiment: Experiment, point: Point) -> str:
    return point.axis_text(experiment.x) or experiment.x_of.get(point.variant, "")


def params_of(experiment: Experiment, point: Point) -> dict[str, str]:
    outside = {experiment.x, *experiment.panels}
    return {key: value for key, value in point.params if key not in outside}


def params_text(params: Mapping[str, str], others: Iterable[Mapping[str, str]]) -> str:
    """The parameters that have another value in any of the others."""
    varying = [key for key in params if any(other.get(key) != params[key] for other in others)]
    return " ".join(fact_text(key, params[key]) for key in varying)


def representatives(experiment: Experiment, points: Sequence[Point]) -> list[Point]:
    """Of each family and panel, the points of the one variant and parameters that stand for it."""
    families: dict[tuple[str, ...], list[Point]] = {}
    for point in points:
        key = (_chooser(experiment, point), *panel_of(experiment, point))
        families.setdefault(key, []).append(point)
    kept = []
    for of_family in families.values():
        timed = [point for point in of_family if point.ranked] or of_family[:1]
        best = fastest_at_the_largest(
            timed,
            x=lambda point: float(x_of(experiment, point)),
            time_ns=lambda point: point.time_ns() if point.ranked else math.inf,
        )
        kept += [p for p in of_family if (p.variant, p.params) == (best.variant, best.params)]
    return kept


def best_at_each_x(
    experiment: Experiment, points: Sequence[Point], chosen: dict[tuple[str, ...], str]
) -> list[Point]:
    """At each x and panel, the points of the fastest parameters of each variant, or of the fastest
    variant of each family. `chosen` receives what tells them from the others."""
    groups: dict[tuple[str, ...], dict[tuple[str, tuple[tuple[str, str], ...]], list[Point]]] = {}
    for point in points:
        key = (
            _chooser(experiment, point),
            x_of(experiment, point),
            *panel_of(experiment, point),
        )
        params = tuple(params_of(experiment, point).items())
        groups.setdefault(key, {}).setdefault((point.variant, params), []).append(point)
    kept = []
    for key, by_form in groups.items():
        most = max(len(of_form) for of_form in by_form.values())
        slowest = {
            form: max(point.time_ns() if point.ranked else math.inf for point in of_form)
            for form, of_form in by_form.items()
            if len(of_form) == most
        }
        variant, params = form = min(slowest, key=lambda form: slowest[form])
        others = [dict(other) for name, other in by_form if name == variant]
        named = [variant] if experiment.best == "family" else []
        text = " ".join(filter(None, [*named, params_text(dict(params), others)]))
        if text:
            chosen[key] = text
        kept += by_form[form]
    return kept


def _chooser(experiment: Experiment, point: Point) -> str:
    """The variant or family of which the experiment takes the best."""
    return point.variant if experiment.best == "params" else contender(point)


def slowest(experiment: Experiment, points: Sequence[Point]) -> list[Point]:
    """Of points that differ by `experiment.worst` alone, the slowest."""
    groups: dict[tuple[object, ...], list[Point]] = {}
    for point in points:
        rest = [point.axis_text(axis) for axis in OF_ONE_FORM if axis not in experiment.worst]
        key = (point.variant, point.params, x_of(experiment, point), *rest)
        groups.setdefault(key, []).append(point)
    return [
        max(group, key=lambda point: point.time_ns() if point.ranked else math.inf)
        for group in groups.values()
    ]

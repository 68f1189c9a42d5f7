"""What an experiment shows of the given runs: panels, series, values, and what is missing.

Only points with a verified time have a value. Every other point has its outcome instead, and one
that was asked for and is in no run is a gap.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reduce_bench_report import configuration, simulation
from reduce_bench_report.configuration import Asked, Configuration
from reduce_bench_report.experiments import Experiment, Published, PublishedRanges
from reduce_bench_report.families import CPU_FAMILY, contender, finish, own_name
from reduce_bench_report.identity import DEVICE, PointIdentity, fact_text
from reduce_bench_report.loader import ELEMENT_BYTES, InputError, Point, Results
from reduce_bench_report.measures import MEASURES, NOT_TRIED, TIME_NS, Quartiles, quartiles_ns
from reduce_bench_report.more_devices import Machine
from reduce_bench_report.more_devices import predicted as predict_more_devices
from reduce_bench_report.paths import shipped
from reduce_bench_report.published import Table
from reduce_bench_report.selection import (
    OF_ONE_FORM,
    best_at_each_x,
    collect,
    panel_of,
    params_of,
    params_text,
    representatives,
    slowest,
    x_of,
)

MISSING = "missing"
SCHEDULERS_PER_SM = 4  # each issues an instruction per cycle


def _ratio(base: Quartiles, other: Quartiles) -> Quartiles:
    """How much faster the other is: between quartiles that lie furthest apart, and by medians."""
    return base[0] / other[2], base[1] / other[1], base[2] / other[0]


@dataclass(frozen=True)
class Series:
    """The points of one line or column by x, and the x at which points are missing."""

    label: str
    facts: Mapping[str, str]
    points: Mapping[str, Point]  # by x
    gaps: frozenset[str]  # x at which a point was asked for and no run has it
    # ns per input: simulation.MODELS -> x -> value
    simulated: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    predicted: Mapping[Machine, Mapping[str, float]] = field(default_factory=dict)  # ns by x

    @property
    def chooser(self) -> str:
        """The variant or family whose best this is, where an experiment takes the best."""
        if "family" not in self.facts:
            return self.facts.get("variant", "")
        return " ".join(
            [self.facts["family"], *(["(host)"] if self.facts["finish"] == "host" else [])]
        )

    def outcome(self, x: str) -> str:
        """`ok`, or why there is no value; empty where none was asked for."""
        if x in self.points:
            return self.points[x].outcome
        return MISSING if x in self.gaps else ""


@dataclass(frozen=True)
class PublishedSeries:
    """What a publication printed for one series, on its own hardware."""

    label: str
    facts: Mapping[str, str]
    peak_gb_per_s: float | None
    values: Mapping[str, Mapping[str, float]]  # measure -> x -> value

    def is_of(self, series: Series) -> bool:
        """Whether the series measures what this one printed."""
        return all(series.facts.get(key, value) == value for key, value in self.facts.items())


@dataclass(frozen=True)
class Panel:
    """One subplot or table: the series that share the values of `experiment.panels`."""

    experiment: Experiment
    facts: Mapping[str, str]
    xs: Sequence[str]
    series: Sequence[Series]
    published: Sequence[PublishedSeries] = ()

    @property
    def title(self) -> str:
        return ", ".join(fact_text(key, value) for key, value in self.facts.items())

    @property
    def facts_but_device(self) -> Mapping[str, str]:
        return {key: value for key, value in self.facts.items() if key != DEVICE}

    @property
    def has_value(self) -> bool:
        """Whether anything was measured of what it shows."""
        return any(
            self.value(series, x, measure)
            for series in self.series
            for x in self.xs
            for measure in self.experiment.y
        )

    @property
    def is_mostly_missing(self) -> bool:
        """Whether more than two thirds of what was asked for is in no run."""
        gaps = sum(len(series.gaps) for series in self.series)
        return gaps > 2 * sum(len(series.points) for series in self.series)

    def value(self, series: Series, x: str, measure: str) -> Quartiles | None:
        """The measure in its unit; None where the point or what it is compared with has no time."""
        point = series.points.get(x)
        if point is None or not point.ranked:
            return None
        if measure in ("speed_up", "efficiency", "time_ratio"):
            base = self._base(series, x)
        elif measure == "step_speed_up":
            base = self._before(series, x)
        else:
            return MEASURES[measure].of(point)
        if base is None or not base.ranked:
            return None
        if base is point:
            return 1, 1, 1
        if measure == "time_ratio":
            return _ratio(quartiles_ns(point), quartiles_ns(base))
        low, middle, high = _ratio(quartiles_ns(base), quartiles_ns(point))
        if measure != "efficiency":
            return low, middle, high
        # a device does the work of the base's elements in the base's time
        scale = point.n / base.n / (point.raw.get("spread") or {"devices": 1})["devices"]
        return scale * low, scale * middle, scale * high

    def predicted_value(
        self, series: Series, machine: Machine, x: str, measure: str
    ) -> float | None:
        """What the series would have on another machine; None where nothing is predicted."""
        ns = series.predicted.get(machine, {}).get(x)
        if ns is None or measure in TIME_NS:
            return None if ns is None else ns / TIME_NS[measure]
        base = self._base(series, x)
        if base is None or not base.ranked or measure not in ("speed_up", "efficiency"):
            return None
        return base.time_ns() / ns / (machine.devices if measure == "efficiency" else 1)

    def _base(self, own: Series, x: str) -> Point | None:
        candidates = {
            at: point
            for series in ([own] if self.experiment.x in self.experiment.base else self.series)
            for at, point in series.points.items()
            if all(
                (at if key == self.experiment.x else point.axis_text(key)) == value
                for key, value in self.experiment.base.items()
            )
        }
        return next(iter(candidates.values())) if len(candidates) == 1 else candidates.get(x)

    def _before(self, series: Series, x: str) -> Point | None:
        order = self.experiment.order
        index = order.index(x) if x in order else 0  # the first has none before it
        return series.points.get(order[index - 1]) if index else None

    def published_value(self, series: PublishedSeries, x: str, measure: str) -> float | None:
        """As printed, or computed from other numbers printed for the same hardware.

        The speed-up of a step is never computed.
        """
        printed = series.values.get(measure, {}).get(x)
        if printed is not None:
            return printed
        if measure == "peak_share" and series.peak_gb_per_s:
            bandwidth = series.values.get("gb_per_s", {}).get(x)
            return None if bandwidth is None else bandwidth / series.peak_gb_per_s
        if measure in ("speed_up", "time_ratio"):
            own, base = _published_time(series, x), self._published_base(series, x)
            if not (base and own):
                return None
            return base / own if measure == "speed_up" else own / base
        return None

    def is_base(self, series: PublishedSeries) -> bool:
        """Whether this is the series that speed-ups are over: its own are 1."""
        wanted = {k: v for k, v in self.experiment.base.items() if k != self.experiment.x}
        return bool(wanted) and all(series.facts.get(k) == v for k, v in wanted.items())

    def _published_base(self, own: PublishedSeries, x: str) -> float | None:
        if self.experiment.x in self.experiment.base:
            return _published_time(own, self.experiment.base[self.experiment.x])
        base = next((series for series in self.published if self.is_base(series)), None)
        return _published_time(base, x) if base else None

    def ceilings(self, measure: str) -> dict[str, dict[str, float]]:
        """The read ceiling by backend and x, in the unit of the measure."""
        found: dict[str, dict[str, float]] = {}
        for series in self.series:
            for x, point in series.points.items():
                if point.ranked and point.ceiling_share:
                    at = self._ceiling(series, x, measure)
                    if at is not None:
                        found.setdefault(point.backend, {}).setdefault(x, at)
        return {backend: {x: at[x] for x in self.xs if x in at} for backend, at in found.items()}

    def _ceiling(self, series: Series, x: str, measure: str) -> float | None:
        """What the measure would be if the point took as long as merely reading its input."""
        point = series.points[x]
        share = point.ceiling_share
        assert share is not None
        if measure == "ceiling_share":
            return 1.0
        if not MEASURES[measure].timed:
            return None
        value = self.value(series, x, measure)
        if value is None or measure.endswith("_share"):
            return None
        if measure == "gb_per_s":
            # the ceiling moves the inputs alone, but a variant's GB/s count all that it moves
            read_bytes = point.n * ELEMENT_BYTES[point.type]
            return read_bytes / (point.time_ns() * share) if point.operation == "reduce" else None
        faster_is_more = measure in ("speed_up", "efficiency", "step_speed_up")
        return value[1] / share if faster_is_more else value[1] * share

    def measures_published(self, series: PublishedSeries, measure: str) -> bool:
        return any(self.published_value(series, x, measure) is not None for x in self.xs)


def _published_time(series: PublishedSeries, x: str) -> float | None:
    for measure, unit_ns in [*TIME_NS.items(), ("ns_per_input", 1.0)]:
        if x in series.values.get(measure, {}):
            return series.values[measure][x] * unit_ns
    return None


@dataclass(frozen=True)
class Run:
    """A run that an experiment's points are from."""

    path: Path
    provenance: str


@dataclass(frozen=True)
class Roofs:
    """The most that a GPU can do in a ns: as a run measured it, and as it is built."""

    bytes_per_ns: float  # of device memory: the fastest read stream of any size
    instructions_per_ns: float  # of warps


@dataclass(frozen=True)
class Evaluation:
    experiment: Experiment
    panels: Sequence[Panel]
    runs: Sequence[Run]  # the one that gave most points first
    constants: Mapping[str, str]  # what is the same for all points
    missing: Sequence[str]  # clauses
    remedies: Sequence[str]  # what to run for it
    hierarchies: Sequence[str]  # of the simulated caches
    published: Table | None
    # (variant or family, x, values of the panel) -> the parameters, or variant, chosen as fastest
    chosen: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # published, by name
    roofs: Roofs | None = None

    @property
    def measures(self) -> Sequence[str]:
        return self.experiment.y

    @property
    def source(self) -> str:
        """Where the experiment is from, or what a line of it is; variants of the CPU stand for
        themselves where other families have one for all."""
        points = [p for panel in self.panels for each in panel.series for p in each.points.values()]
        of_cpu = {point.variant for point in points if point.family == CPU_FAMILY}
        if self.experiment.best not in ("form", "family") or len(of_cpu) < 2:
            return self.experiment.source
        if of_cpu == {point.variant for point in points}:
            return "Each line is a variant"
        return f"{self.experiment.source}. Each variant of {CPU_FAMILY} has a line of its own"

    def errors(self, model: str) -> list[float]:
        """Simulated over measured time, for each point that has both."""
        return [
            simulated * series.points[x].n / series.points[x].time_ns()
            for panel in self.panels
            for series in panel.series
            for x, simulated in series.simulated.get(model, {}).items()
        ]


@dataclass(frozen=True)
class Absence:
    """Why an experiment cannot be shown."""

    experiment: Experiment
    reason: str
    is_measured: bool = False  # whether the runs have points of it all the same


def evaluate(
    experiment: Experiment, runs: Sequence[Results], tables: Mapping[str, Table]
) -> Evaluation | Absence:
    if experiment.lacks:
        return Absence(experiment, experiment.lacks)
    if experiment.config is None:
        # one line takes its points from one run, so the run with most of them is shown
        found = [collect(experiment, None, [run]) for run in runs]
        points, used = max(found, key=lambda pair: len(pair[0]), default=([], []))
        if not points:
            operations = " or ".join(experiment.where["operation"])
            at = f"{experiment.least_x} or more {experiment.x}"
            return Absence(experiment, f"no {operations} has points at {at}")
        try:
            asked, missing = configuration.asked_of(used[0]), []
        except InputError as error:
            return Absence(experiment, str(error))
    else:
        if not shipped(experiment.config).is_file():
            return Absence(experiment, f"this revision has no {experiment.config} yet")
        shipped_as = configuration.load(Path(experiment.config))
        points, used = collect(experiment, shipped_as, runs)
        asked, missing = shipped_as, shipped_as.missing(points, experiment.where)
        if not points and experiment.plane and (tried := _tried(experiment, shipped_as, runs)):
            return _without_value(experiment, tried, shipped_as.missing(tried, experiment.where))
        if not points and missing:
            return Absence(experiment, f"{', '.join(missing)}: run {experiment.config}")
        if not points:
            return Absence(experiment, f"{experiment.config} asks for no such points yet")
    remedies = [str(experiment.config)] if missing else []
    examples = list({(p.variant, p.params, panel_of(experiment, p)): p for p in points}.values())
    chosen: dict[tuple[str, ...], str] = {}
    if experiment.best == "form":
        points = representatives(experiment, points)
    elif experiment.best:
        points = best_at_each_x(experiment, points, chosen)
    if experiment.worst:
        points = slowest(experiment, points)
    predicted: dict[PointIdentity, dict[str, Any]] = {}
    if experiment.simulated:
        for run in used:
            predicted = simulation.predictions(run) | predicted
        unsimulated = _unsimulated(points, predicted)
        missing = [*missing, *unsimulated]
        remedies += ["scripts/simulate_points.sh"] if unsimulated else []
    stated = experiment.published or experiment.ranges
    published = tables.get(stated.table if stated else experiment.id)
    varying = [
        axis for axis in ("variant", *OF_ONE_FORM) if len({p.axis_text(axis) for p in points}) > 1
    ]
    panels = _Panels(experiment, asked, points, examples, varying, predicted).with_published(
        published
    )
    if experiment.predicted and used:
        panels = [_with_more_devices(panel, used[0]) for panel in panels]
    if experiment.kind == "figure" and missing:
        panels = [panel for panel in panels if not panel.is_mostly_missing]
        if not panels:
            return Absence(
                experiment, f"{', '.join(missing)}: run {experiment.config}", is_measured=True
            )
    if experiment.kind == "table" and not any(panel.has_value for panel in panels):
        return _without_value(experiment, points, missing)
    return Evaluation(
        experiment=experiment,
        panels=panels,
        runs=[Run(run.path, run.provenance) for run in used],
        constants={
            axis: points[0].axis_text(axis)
            for axis in ("variant", *OF_ONE_FORM)
            if axis not in (*varying, *experiment.panels) and points[0].axis_text(axis)
        },
        missing=missing,
        remedies=remedies,
        hierarchies=sorted(
            {
                predicted[point.identity]["hierarchy"]["name"]
                for point in points
                if point.identity in predicted
            }
        ),
        published=published,
        chosen=chosen,
        ranges=_ranges(experiment.ranges, published),
        roofs=_roofs(used[0]) if experiment.roofs and used else None,
    )


def _with_more_devices(panel: Panel, run: Results) -> Panel:
    """Adds what more devices would take, by the times of one and two in this panel."""
    local = {
        point.n: point
        for series in panel.series
        for point in series.points.values()
        if point.ranked
        and point.is_of_one_device
        and point.variant == panel.experiment.base.get("variant")
    }
    return replace(
        panel,
        series=[
            replace(series, predicted=predict_more_devices(series.points, local, run))
            for series in panel.series
        ],
    )


def _roofs(run: Results) -> Roofs | None:
    gpu, ceilings = run.environment["gpu"], run.document["ceilings"].get("cuda")
    if gpu is None or gpu["sm_clock_mhz_max"] is None or not (ceilings and ceilings["read"]):
        return None
    return Roofs(
        max(read["gb_per_s"] for read in ceilings["read"]),
        SCHEDULERS_PER_SM * gpu["sm_count"] * gpu["sm_clock_mhz_max"] / 1e3,
    )


def _tried(experiment: Experiment, asked: Configuration, runs: Sequence[Results]) -> list[Point]:
    """The points of a plane, whether they have a place on it or not, of runs that tried to measure
    what it shows. Those of other runs say nothing of why that could not be."""
    narrowed = [
        replace(
            run,
            points=tuple(
                point
                for point in run.points
                if all(MEASURES[each].unavailable(point) not in NOT_TRIED for each in experiment.y)
            ),
        )
        for run in runs
    ]
    points, _ = collect(replace(experiment, plane=False), asked, narrowed)
    return points


def _without_value(
    experiment: Experiment, points: Sequence[Point], missing: Sequence[str]
) -> Absence:
    todo = f"; {', '.join(missing)}: run {experiment.config}" if missing else ""
    return Absence(experiment, _why_no_value(experiment, points) + todo, is_measured=True)


def _why_no_value(experiment: Experiment, points: Sequence[Point]) -> str:
    """Why none of the points has a value of what the experiment shows."""
    whys = [
        MEASURES[measure].unavailable(p) for measure in experiment.y for p in points if p.ranked
    ]
    whys += [f"{p.outcome}: {p.reason}" for p in points if not p.ranked]
    distinct = [" ".join(why.splitlines()) for why in dict.fromkeys(whys) if why]
    many = f" and {len(distinct) - 1} other reasons" if len(distinct) > 1 else ""
    return f"no point has a value{f' ({distinct[0]}{many})' if distinct else ''}"


def _unsimulated(
    points: Sequence[Point], predicted: Mapping[PointIdentity, Mapping[str, Any]]
) -> list[str]:
    """A clause for each model that does not predict all points."""
    timed = [point.identity for point in points if point.ranked]
    clauses = []
    for model, words in simulation.MODELS.items():
        lacking = sum(predicted.get(identity, {}).get(model) is None for identity in timed)
        if lacking:
            clauses.append(f"simulations ({words}) of {lacking} of {len(timed)} points")
    return clauses


def _ranges(ranges: PublishedRanges | None, table: Table | None) -> dict[str, tuple[float, float]]:
    if ranges is None or table is None:
        return {}
    names, cells = table.column(table.columns[0].name), table.column(ranges.column)
    values = {
        str(name): float(cell)
        for name, cell in zip(names, cells, strict=True)
        if isinstance(cell, int | float)
    }
    return {name: (values[least], values[most]) for name, (least, most) in ranges.rows.items()}


@dataclass(frozen=True)
class _Panels:
    """Sorts the points of an experiment into panels, series and x."""

    experiment: Experiment
    asked: Asked
    points: Sequence[Point]
    examples: Sequence[Point]  # one of each variant, parameters and panel, the slower ones too
    varying: Sequence[str]
    predicted: Mapping[PointIdentity, Mapping[str, Any]]  # by a point's identity

    def with_published(self, table: Table | None) -> list[Panel]:
        by_panel: dict[tuple[str, ...], list[Point]] = {}
        for point in self.points:
            by_panel.setdefault(panel_of(self.experiment, point), []).append(point)
        panels = []
        for values, own in by_panel.items():
            facts = dict(zip(self.experiment.panels, values, strict=True))
            series = self._series(own, facts)
            own_xs = {x: None for each in series for x in (*each.points, *each.gaps)}
            ordered = [x for x in self.experiment.order if x in own_xs]
            xs = [*ordered, *_in_order(x for x in own_xs if x not in ordered)]
            published = _published(self.experiment, table, facts)
            panels.append(Panel(self.experiment, facts, xs, series, published))
        return panels

    def _x(self, point: Point) -> str:
        if self.experiment.x != "variant":
            return x_of(self.experiment, point)
        same = [params_of(self.experiment, p) for p in self.points if p.variant == point.variant]
        text = params_text(params_of(self.experiment, point), same)
        return " ".join([point.variant, *([text] if text else []), *finish([point])])

    def _facts(self, point: Point) -> dict[str, str]:
        outside = {self.experiment.x, *self.experiment.panels, *self.experiment.worst}
        if self.experiment.x == "length":
            outside.add("labels")
        facts = {axis: point.axis_text(axis) for axis in self.varying if axis not in outside}
        if self.experiment.x == "variant":
            return facts
        if self.experiment.best == "family":
            facts.pop("variant", None)
            return {"family": own_name(point), "finish": point.finish} | facts
        params = {} if self.experiment.best == "params" else params_of(self.experiment, point)
        return {"variant": point.variant} | facts | params

    def _series(self, points: Sequence[Point], panel: dict[str, str]) -> list[Series]:
        groups: dict[tuple[tuple[str, str], ...], dict[str, Point]] = {}
        for point in points:
            key = tuple(self._facts(point).items())
            groups.setdefault(key, {}).setdefault(self._x(point), point)
        keys = [dict(key) for key in groups]
        places = _places(keys)
        made = []
        for facts in sorted(keys, key=lambda key: [places[pair] for pair in key.items()]):
            by_x = groups[tuple(facts.items())]
            example = next(iter(by_x.values()))
            label = " ".join([_label(facts, keys), *finish(by_x.values())])
            gaps = {*self._asked(example, facts | panel), *self._rows_without(by_x)} - set(by_x)
            simulated = self._simulated(by_x)
            made.append(Series(label, facts | panel, by_x, frozenset(gaps), simulated))
        return made

    def _simulated(self, points: Mapping[str, Point]) -> dict[str, dict[str, float]]:
        known = {
            x: self.predicted[point.identity]
            for x, point in points.items()
            if point.identity in self.predicted
        }
        by_model = {
            model: {x: each[model]["ns_per_input"] for x, each in known.items() if each[model]}
            for model in simulation.MODELS
        }
        return {model: values for model, values in by_model.items() if values}

    def _rows_without(self, xs: Iterable[str]) -> list[str]:
        """The rows of a table by variant that were asked for and have no point. An x may have
        parameters after the variant's name."""
        present = tuple(f"{x} " for x in xs)
        return [
            row
            for row in self.experiment.order
            if self.asked.names(row) and not any(x.startswith(f"{row} ") for x in present)
        ]

    def _asked(self, example: Point, facts: Mapping[str, str]) -> set[str]:
        """The x at which a point of the series was asked for."""
        forms = [example]
        if self.experiment.best == "family":
            forms = [each for each in self.examples if self._same_series(each, example)]
        return {
            x
            for form in forms
            for x in self.asked.values_of(self.experiment.x, form, facts, self.experiment.where)
        }

    def _same_series(self, one: Point, other: Point) -> bool:
        if contender(one) != contender(other):
            return False
        return all(one.axis_text(key) == other.axis_text(key) for key in self.experiment.panels)


def _places(all_facts: Sequence[Mapping[str, str]]) -> dict[tuple[str, str], int]:
    """Where each value of each fact is sorted: numbers ascending, others as they first appear."""
    values: dict[str, list[str]] = {}
    for facts in all_facts:
        for key, value in facts.items():
            values.setdefault(key, []).append(value)
    return {
        (key, value): place
        for key, appearing in values.items()
        for place, value in enumerate(_in_order(appearing))
    }


def _label(facts: Mapping[str, str], all_facts: Sequence[Mapping[str, str]]) -> str:
    """What tells a series from the others. The caller adds where it finishes."""
    name = "family" if "family" in facts else "variant"
    same_name = [other for other in all_facts if other.get(name) == facts.get(name)]
    words = [
        fact_text(key, value)
        for key, value in facts.items()
        if key not in (name, "finish") and any(other.get(key) != value for other in same_name)
    ]
    if name in facts and (not words or len(same_name) < len(all_facts)):
        words.insert(0, facts[name])
    return " ".join(words) or "measured"


def _in_order(xs: Iterable[str]) -> list[str]:
    distinct = list(dict.fromkeys(xs))
    return sorted(distinct, key=int) if all(x.isdecimal() for x in distinct) else distinct


def _published(
    experiment: Experiment, table: Table | None, panel: Mapping[str, str]
) -> list[PublishedSeries]:
    if experiment.published is None or table is None:
        return []
    xs = [_published_x(cell, experiment.published) for cell in table.column(experiment.published.x)]
    by_facts: dict[tuple[tuple[str, str], ...], dict[str, dict[str, float]]] = {}
    for column in experiment.published.columns:
        facts = dict(column.facts)
        if any(facts.get(key, value) != value for key, value in panel.items()):
            continue
        scale = 0.01 if table.unit(column.column) == "%" else 1.0
        values = {
            x: scale * cell
            for x, cell in zip(xs, table.column(column.column), strict=True)
            if x and isinstance(cell, int | float)
        }
        by_facts.setdefault(tuple(facts.items()), {})[column.measure] = values
    where = f" ({table.hardware})" if table.hardware else ""
    every = [dict(key) for key in by_facts]
    return [
        PublishedSeries(
            f"published{where}" if len(every) == 1 else f"{_label(facts, every)}, published{where}",
            facts,
            table.peak_gb_per_s,
            values,
        )
        for facts, values in zip(every, by_facts.values(), strict=True)
    ]


def _published_x(cell: float | str | None, published: Published) -> str:
    """The x of a printed row as results write it, `harris/0` or `256` for 2^8. Empty for a row that
    no variant here corresponds to."""
    text = str(int(cell)) if isinstance(cell, int | float) and cell == int(cell) else str(cell)
    if published.x_values:
        return published.x_values.get(text, "")
    exponent = text.removeprefix("2^").strip("{}")
    if (published.x_is_log2 or exponent != text) and exponent.isdecimal():
        return str(2 ** int(exponent))
    return text

"""One HTML page of one or several runs of a device; it opens offline and loads nothing.

Python selects, ranks and names; `page/report.js` shows charts, the table of points and the records
from the page's data block, which holds every field of every point as columns.
"""

import base64
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from reduce_bench_report import (
    charts,
    figures,
    fits,
    grids,
    published,
    recommend,
    regenerate,
    styles,
    traffic,
)
from reduce_bench_report.claims import Verdict
from reduce_bench_report.evaluate import Evaluation
from reduce_bench_report.grids import Grid
from reduce_bench_report.loader import ELEMENT_BYTES, FIELDS, UNITS, Device, Point, Results
from reduce_bench_report.measures import MEASURES
from reduce_bench_report.paths import PAGE
from reduce_bench_report.points import Measured
from reduce_bench_report.recommend import Absent, Problem, Recommendation
from reduce_bench_report.texts import TIME_SCALES, number_text, share_text, size_text, time_text
from reduce_bench_report.variants import Variants

TYPE_ORDER = tuple(ELEMENT_BYTES)
SIGNIFICANT_DIGITS = 7  # of measured values; counts are exact
FACTS = ("operation", "source", "fidelity", "backends", "types", "ops", "order", "finish")
GOT = re.compile(r" \(got [^()]*\)$")  # the end of a reason that differs at each point
HOVERED_COUNTS = {  # of measures.MEASURES
    "instructions_per_input": "instructions",
    "device_bytes_per_input": "bytes of device memory",
    "conflicts_per_input": "bank conflicts",
}
COUNTED_OF_VARIANT = (  # of measures.MEASURES
    "instructions_per_input",
    "lanes_per_instruction",
    "wavefronts_per_input",
    "conflicts_per_input",
    "device_bytes_per_input",
    "occupancy_share",
)
STALLED = "stalled_"  # begins the names of counters of cycles that warps waited
MOST_WAITS = 3
HEADINGS = {  # of the page's tabs
    "summary": "Which kernel?",
    "charts": "Charts",
    "figures": "Figures",
    "claims": "Claims",
    "variants": "Variants",
    "points": "Points",
    "environment": "Runs",
}
# a sign and a class of the style, which gives a colour
VERDICTS = {
    Verdict.REPRODUCED: ("✓", "good"),
    Verdict.IN_PART: ("◐", "partly"),
    Verdict.UNDECIDED: ("?", "open"),
    Verdict.NOT_REPRODUCED: ("✗", "bad"),
    Verdict.NOT_TESTABLE: ("–", "open"),
    Verdict.REFUTED: ("⊥", "bad"),
}


@dataclass(frozen=True, eq=False)
class Entry:
    """A point, its place in the report, and the run that it comes from."""

    index: int
    run: Results
    point: Point
    current: bool  # of the run of several that counts (recommend.one_run_each)

    @property
    def time(self) -> str:
        return time_text(self.point.time_ns())

    @property
    def settings(self) -> str:
        host = ["(host)"] if self.point.finish == "host" else []
        return " ".join(filter(None, [self.point.settings, *host]))

    @property
    def name(self) -> str:
        """Variant, parameters and size, which tell the points of one comparison apart."""
        return " ".join([self.point.variant, self.settings]).strip() + f", {self.point.size}"

    @property
    def counted(self) -> list[str]:
        """What a GPU counted of it, in the cells of a table; empty where it counted nothing."""
        measured = [MEASURES[name].of(self.point) for name in COUNTED_OF_VARIANT]
        if not any(measured):
            return []
        return ["-" if each is None else number_text(each[1]) for each in measured] + [self.waits]

    @property
    def waits(self) -> str:
        """Why warps waited longest, with the shares of their time."""
        counted = traffic.counts(self.point)
        of_all = counted.get("warp_cycles", 0)
        reasons = {name: count for name, count in counted.items() if name.startswith(STALLED)}
        longest = sorted(reasons, key=lambda name: -reasons[name])[:MOST_WAITS] if of_all else []
        return ", ".join(
            f"{name.removeprefix(STALLED).replace('_', ' ')} {reasons[name] / of_all:.0%}"
            for name in longest
        )

    @property
    def verification(self) -> Mapping[str, Any]:
        return self.point.raw["verification"] or {}

    @property
    def share_of_bound(self) -> float:
        """The error over the largest that passes; 0 where the comparison was exact."""
        bound, error = self.verification.get("bound_abs"), self.verification.get("error_abs")
        return error / bound if bound and error else 0.0


@dataclass(frozen=True)
class Panel:
    """A drawing that fits a phone."""

    svg: str

    @property
    def width(self) -> int:
        return round(self._box[0])

    @property
    def height(self) -> int:
        return round(self._box[1])

    @cached_property
    def _box(self) -> tuple[float, float]:
        """Width and height in CSS pixels."""
        box = re.search(r'<svg[^>]* viewBox="0 0 ([0-9.]+) ([0-9.]+)"', self.svg)
        assert box is not None
        return float(box[1]) * 96 / 72, float(box[2]) * 96 / 72

    @property
    def source(self) -> str:
        """The drawing as the address of an image: its identifiers then meet no other drawing's."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg.encode()).decode()


@dataclass(frozen=True)
class Figure:
    """A publication's figure or table, drawn from these runs."""

    id: str
    title: str
    panels: Sequence[Panel]  # a table has none
    tables: Sequence[Grid] = ()
    notes: Sequence[str] = ()


def template_of(page: str) -> Template:
    """The template of a page, with the style that all pages have."""
    environment = Environment(
        loader=FileSystemLoader(PAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style = Markup((PAGE / "report.css").read_text(encoding="utf-8"))
    return environment.get_template(page, globals={"style": style})


def page(
    runs: Sequence[Results],
    variants: Variants,
    drawn: Sequence[Figure],
    *,
    absent: Sequence[str] = (),
    no_variants: str | None = None,
    scorecard: Mapping[str, Any] | None = None,
) -> str:
    """The whole page.

    `absent` has a line for each figure that is not drawn; `no_variants` says why `variants` is
    empty; `scorecard` is the document of the claims, made of the same runs in the same order.
    """
    files = [each["file"] for each in scorecard["results"]] if scorecard else []
    file_of = dict(zip(map(id, runs), files, strict=scorecard is not None))
    command = regenerate.shell_command("report", *(str(run.path) for run in runs))
    runs = sorted(runs, key=lambda run: str(run.environment["date_utc"]), reverse=True)
    runs.sort(key=lambda run: run.is_again)  # figures and tables are of first rounds
    chosen = recommend.one_run_each(runs)
    entries = _entries(runs, chosen)
    current = [entry for entry in entries if entry.current]
    recommended = recommend.recommendations(chosen)
    # A figure may complete a point by parameters that it lacks; its record stays the same.
    by_point = {id(entry.point.raw): entry for entry in entries}
    by_place = {(file_of.get(id(e.run)), e.point.raw["index"]): e for e in entries}
    template = template_of("report.html")
    return template.render(
        title=f"reduce-bench: {Device(runs).name}",
        headings=HEADINGS,
        fields=FIELDS,
        counted_headings=[
            *(MEASURES[name].heading for name in COUNTED_OF_VARIANT),
            "longest waits of warps",
        ],
        plotly=_Script(get_plotlyjs()),
        program=_Script((PAGE / "report.js").read_text(encoding="utf-8")),
        data=_json(_data(runs, entries, _picker(recommended, by_point, entries))),
        runs=runs,
        command=command,
        entries=entries,
        outcomes=_outcomes(entries),
        superseded=len(entries) - len(current),
        missing=_missing(runs, entries, drawn, no_variants, scorecard),
        ceilings=_ceilings(runs),
        comparisons=_comparisons(recommended),
        fits=fits.fit_all(entry.point for entry in current),
        time_text=time_text,
        devices=list(dict.fromkeys(run.device for run in runs)),
        verdicts={verdict.value: shown for verdict, shown in VERDICTS.items()},
        number_text=number_text,
        size_text=size_text,
        share_text=share_text,
        excess=recommend.excess,
        highest_share=recommend.HIGHEST_SHARE,
        exceeding=[
            e for e in entries if e.point.ranked and recommend.excess(e.point.ceiling_share)
        ],
        figures=drawn,
        figure_groups=_figure_groups(drawn),
        absent=absent,
        scorecard=scorecard,
        entry_of=lambda point: by_place[point["file"], point["index"]],
        entry_with=lambda point: by_point[id(point.raw)],
        variants=_sections(variants, entries),
        no_descriptions=no_variants,
        environment=_environment(runs),
        read_shapes=_read_shapes(runs),
    )


def regenerated(evaluations: Sequence[Evaluation]) -> list[Figure]:
    """The figures and tables as the page shows them."""
    pictures = figures.in_parallel(regenerate.svg_panels, [(each,) for each in evaluations])
    return [
        Figure(
            each.experiment.id,
            each.experiment.title,
            [Panel(svg) for svg in svgs],
            grids.grids(each),
            [*grids.notes(each), *grids.provenance(each, regenerate.redraw_command(each))],
        )
        for each, svgs in zip(evaluations, pictures, strict=True)
    ]


def _figure_groups(drawn: Sequence[Figure]) -> list[tuple[str, list[Figure]]]:
    """The figures in their order by the publication that they are of, under what heads them."""
    publications = {table.id.partition("-")[0] for table in published.load_all().values()}

    def group(figure: Figure) -> str:
        publication = figure.id.partition("-")[0]
        return publication if publication in publications else "All sources together"

    return [(title, list(own)) for title, own in itertools.groupby(drawn, group)]


def _entries(runs: Sequence[Results], chosen: Iterable[Measured]) -> list[Entry]:
    """Every point, numbered over the runs; those that are chosen count."""
    current = {id(each.point.raw) for each in chosen}
    points = [(run, point) for run in runs for point in run.points]
    return [
        Entry(index, run, point, id(point.raw) in current)
        for index, (run, point) in enumerate(points)
    ]


def _outcomes(entries: Iterable[Entry]) -> Mapping[str, int]:
    return dict(Counter(entry.point.outcome for entry in entries).most_common())


def _missing(
    runs: Sequence[Results],
    entries: Sequence[Entry],
    drawn: Sequence[Figure],
    no_variants: str | None,
    scorecard: Mapping[str, Any] | None,
) -> list[str]:
    """A sentence for each thing that this report lacks."""
    sentences = [f"{run.shortfall}." for run in runs if run.shortfall]
    sentences += [f"{run.name} has no points." for run in runs if not run.points]
    if all(run.environment["gpu"] is None for run in runs):
        sentences.append("GPU measurements: these runs had no GPU, so only the CPU was timed.")
    without_time = [entry for entry in entries if not entry.point.ranked]
    if entries and len(without_time) == len(entries):
        sentences.append("Times: no point has a verified one.")
    if not drawn:
        sentences.append("Figures of the publications: no run has points for one.")
    if no_variants is not None:
        sentences.append(f"Descriptions of the variants: {no_variants}.")
    if scorecard is None:
        sentences.append("The claims scorecard.")
    return sentences


@dataclass(frozen=True)
class Ceilings:
    """The limits of one backend that one run measured."""

    run: Results
    backend: str
    read_gb_per_s: float | None
    copy_gb_per_s: float | None
    empty_launch: str
    noise: str


def _ceilings(runs: Sequence[Results]) -> list[Ceilings]:
    limits = []
    for run in runs:
        noise = run.document["noise_floor"]["relative"]
        for backend, ceiling in run.document["ceilings"].items():
            launch_ns = ceiling["empty_launch_ns"]
            limits.append(
                Ceilings(
                    run,
                    backend,
                    max((entry["gb_per_s"] for entry in ceiling["read"]), default=None),
                    ceiling["copy"]["gb_per_s"] if ceiling["copy"] else None,
                    time_text(launch_ns) if launch_ns else "–",
                    "not measured" if noise is None else f"{100 * noise:.2g} %",
                )
            )
    return limits


@dataclass(frozen=True)
class Comparison:
    """What is recommended for one problem, by size."""

    title: str
    first: bool  # of its operation, which is shown open
    buckets: bool
    sizes: Sequence[Recommendation]


def _comparisons(recommended: Mapping[Problem, Sequence[Recommendation]]) -> list[Comparison]:
    made = []
    opened: set[str] = set()
    for problem in _in_order(recommended):
        what = [problem.operation, problem.type, *([] if problem.op == "none" else [problem.op])]
        what += [problem.scan] if problem.scan else []
        inputs = [f"{problem.distribution} values"]
        inputs += [f"{problem.labels} labels"] if problem.labels else []
        sizes = recommended[problem]
        made.append(
            Comparison(
                f"{' '.join(what)}, {', '.join(inputs)}, {problem.backend}, {problem.mode}",
                problem.operation not in opened,
                any(each.size.buckets is not None for each in sizes),
                sizes,
            )
        )
        opened.add(problem.operation)
    return made


def _in_order(recommended: Mapping[Problem, Sequence[Recommendation]]) -> list[Problem]:
    """What was measured most comes first of each operation: it is what the runs were about."""
    operations = list(dict.fromkeys(problem.operation for problem in recommended))
    return sorted(
        recommended,
        key=lambda problem: (
            operations.index(problem.operation),
            -sum(len(each.ranked) for each in recommended[problem]),
            TYPE_ORDER.index(problem.type),
        ),
    )


def _picker(
    recommended: Mapping[Problem, Sequence[Recommendation]],
    by_point: Mapping[int, Entry],
    entries: Sequence[Entry],
) -> dict[str, Any]:
    """What the page picks from: each problem's sizes with the points measured there.

    Points are by their place in the page's data. A variant's style is that of its family.
    """
    families = sorted({entry.point.family for entry in entries})

    def place(measured: Measured | None) -> int | None:
        return None if measured is None else by_point[id(measured.point.raw)].index

    def missing(absent: Absent) -> dict[str, Any]:
        return {"variant": absent.variant, "nearest": place(absent.nearest)}

    def at_size(each: Recommendation) -> dict[str, Any]:
        return {
            "n": each.size.n,
            "buckets": each.size.buckets,
            "ranked": [place(one) for one in each.ranked],
            "library": place(each.library),
            "tie": each.is_tie,
            "absent": [missing(one) for one in each.absent],
        }

    ordered = _in_order(recommended)
    return {
        "fields": list(Problem._fields),
        "families": {
            family: [style.colour, style.marker, style.dashes]
            for family, style in zip(families, styles.of_lines(families), strict=True)
        },
        "problems": [
            {**problem._asdict(), "sizes": [at_size(each) for each in recommended[problem]]}
            for problem in ordered
        ],
    }


@dataclass(frozen=True)
class VariantSection:
    """One variant: the driver's description of it, and its points."""

    id: str
    title: str
    facts: Mapping[str, str]
    description: str | None
    params: Sequence[Mapping[str, Any]]
    entries: Sequence[Entry] = field(repr=False)

    @property
    def family(self) -> str:
        return self.id.split("/", 1)[0]

    @property
    def outcomes(self) -> Mapping[str, int]:
        return _outcomes(self.entries)

    @cached_property
    def worst_ulp(self) -> Entry | None:
        return self._largest(lambda entry: entry.verification.get("error_ulp") or 0.0)

    @cached_property
    def nearest_bound(self) -> Entry | None:
        return self._largest(lambda entry: entry.share_of_bound)

    def _largest(self, error: Any) -> Entry | None:
        """The verified point with the largest error; None where all were exact."""
        found = max((each for each in self.entries if each.point.ranked), key=error, default=None)
        return found if found is not None and error(found) > 0 else None

    @property
    def counted(self) -> list[Entry]:
        """What a GPU counted of each problem's largest point, as the run has it that counts."""
        largest: dict[tuple[recommend.Problem, str], Entry] = {}
        for each in self.entries:
            if not each.current or not each.counted:
                continue
            of = largest.setdefault((recommend.Problem.of(each.point), each.settings), each)
            if (each.point.n, each.point.buckets or 0) > (of.point.n, of.point.buckets or 0):
                largest[recommend.Problem.of(each.point), each.settings] = each
        return list(largest.values())

    @property
    def deterministic(self) -> list[Entry]:
        return [each for each in self.entries if each.verification.get("deterministic") is True]

    @property
    def indeterminate(self) -> list[Entry]:
        return [each for each in self.entries if each.verification.get("deterministic") is False]

    @property
    def reasons(self) -> Mapping[str, list[Entry]]:
        """The points that are not ranked, by the reason."""
        found: dict[str, list[Entry]] = {}
        for entry in self.entries:
            if not entry.point.ranked:
                reason = GOT.sub("", entry.point.reason or entry.point.outcome)
                found.setdefault(reason, []).append(entry)
        return found


def _sections(variants: Variants, entries: Iterable[Entry]) -> list[VariantSection]:
    """One for each variant, in the driver's order, and then those that it does not know."""
    measured: dict[str, list[Entry]] = {}
    for entry in entries:
        measured.setdefault(entry.point.variant, []).append(entry)
    sections = []
    for name in dict.fromkeys([*variants, *measured]):
        said = variants.get(name, {})
        raw = measured[name][0].point.raw if name in measured else {}
        known = {"source": raw.get("paper")} | raw | said
        sections.append(
            VariantSection(
                name,
                str(known.get("title", "")),
                {fact: _listed(known[fact]) for fact in FACTS if known.get(fact)},
                said.get("description"),
                said.get("params", []),
                measured.get(name, []),
            )
        )
    return sections


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _environment(runs: Sequence[Results]) -> dict[str, list[str]]:
    """Each field's value in every run."""
    columns = [_flat({**run.environment, "file sha256": run.sha256}) for run in runs]
    names = dict.fromkeys(name for column in columns for name in column)
    return {
        _fact_title(name): [_fact_text(name, column.get(name)) for column in columns]
        for name in names
    }


# A unit as the names of fields end with it, or nearly.
IN_NAMES = {
    "bytes": "bytes",
    "bits": "bits",
    "MHz": "mhz",
    "GB/s": "gb_per_s",
    "ns": "ns",
    "W": "w",
}


def _fact_title(name: str) -> str:
    """`gpu: sm clock max, MHz` of `gpu.sm_clock_mhz_max`."""
    unit = UNITS.get(name.rpartition(".")[2])
    if unit is not None:
        name = f"{name.replace(f'_{IN_NAMES[unit]}', '', 1)}, {unit}"
    return name.replace("_", " ").replace(".", ": ")


def _fact_text(name: str, value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and name.rpartition(".")[2] in UNITS:
        return f"{value:,.15g}"
    return str(value)


@dataclass(frozen=True)
class ReadShapes:
    run: Results
    backend: str
    rows: list[dict[str, Any]]


def _read_shapes(runs: Sequence[Results]) -> list[ReadShapes]:
    return [
        ReadShapes(
            run,
            backend,
            [
                {
                    "bytes": f"{entry['bytes']:,}",
                    "shape": entry["shape"],
                    "median": time_text(entry["median_ns"]),
                    "gb_per_s": entry["gb_per_s"],
                }
                for entry in ceiling["read"]
            ],
        )
        for run in runs
        for backend, ceiling in run.document["ceilings"].items()
    ]


# ---- the data block ----------------------------------------------------------------------------


def _counted(point: Point) -> str:
    """What a GPU counted of the point, in a line; empty where nothing was."""
    said = []
    for name, unit in HOVERED_COUNTS.items():
        measured = MEASURES[name].of(point)
        if measured is not None:
            said.append(f"{number_text(measured[1])} {unit}")
    return f"counted: {', '.join(said)} per input" if said else ""


def _data(
    runs: Sequence[Results], entries: Sequence[Entry], picker: Mapping[str, Any]
) -> dict[str, Any]:
    sizes = {entry.point.n for entry in entries} | {entry.point.buckets or 0 for entry in entries}
    records = [_flat(entry.point.raw) for entry in entries]
    paths = dict.fromkeys(path for record in records for path in record)
    derived: dict[str, list[Any]] = {
        "run": [runs.index(entry.run) for entry in entries],
        "current": [entry.current for entry in entries],
        "right": [entry.point.is_right for entry in entries],
        "outcome": [entry.point.outcome for entry in entries],
        "params": [entry.point.settings for entry in entries],
        "form": [entry.point.form for entry in entries],
        "size": [entry.point.size for entry in entries],
        "distribution": [str(entry.point.distribution) for entry in entries],
        "counted": [_counted(entry.point) for entry in entries],
        "labels": [entry.point.labels and str(entry.point.labels) for entry in entries],
    }
    return {
        "count": len(entries),
        "picker": picker,
        "highest_share": recommend.HIGHEST_SHARE,
        "runs": [run.name for run in runs],
        "fields": {
            name: {"title": shown.title, "unit": shown.unit, "heading": shown.heading}
            for name, shown in FIELDS.items()
        },
        "time_scales": list(TIME_SCALES.items()),
        "sizes": {size: size_text(size) for size in sorted(sizes)},
        "styles": styles.for_the_page(),
        "modes": charts.MODES,
        "dimensions": charts.DIMENSIONS,
        "measures": [
            {
                "field": measure.field,
                "scale": _column([measure.scale(entry.point) for entry in entries]),
                "falls": measure.falls,
                "text": measure.text,
                "modes": measure.modes,
            }
            for measure in charts.MEASURES
        ],
        "charts": _charts(entries),
        "record": {path: _column([record.get(path) for record in records]) for path in paths},
        "derived": {name: _column(values) for name, values in derived.items()},
    }


def _charts(entries: Sequence[Entry]) -> dict[str, list[dict[str, Any]]]:
    """Those of all points that count under an empty name, and those of each variant."""
    families = sorted({entry.point.family for entry in entries})
    sections: dict[str, dict[int, Point]] = {"": {}}
    for entry in entries:
        if entry.current:
            for section in ("", entry.point.variant):
                sections.setdefault(section, {})[entry.index] = entry.point
    return {
        section: [_rounded(chart.document()) for chart in charts.charts(points, families)]
        for section, points in sections.items()
    }


def _flat(raw: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested fields under dotted paths; samples stay in the results file."""
    flat: dict[str, Any] = {}
    for name, value in raw.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        elif name != "samples_ns":
            flat[prefix + name] = " ".join(map(str, value)) if isinstance(value, list) else value
    return flat


def _rounded(values: Any) -> Any:
    """The same with as many digits of each number as were measured."""
    if isinstance(values, dict):
        return {name: _rounded(value) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return [_rounded(value) for value in values]
    return float(f"{values:.{SIGNIFICANT_DIGITS}g}") if isinstance(values, float) else values


def _column(values: Sequence[Any]) -> dict[str, Any]:
    """One value, or places in the list of different values, or every value: what is shortest."""
    rounded = _rounded(values)
    # the type is part of the key, as 1, 1.0 and True are equal in Python
    places: dict[tuple[type, Any], int] = {}
    index = [places.setdefault((type(value), value), len(places)) for value in rounded]
    different = [value for _, value in places]
    if len(different) == 1:
        return {"constant": different[0]}
    if 2 * len(different) < len(rounded):
        return {"values": different, "index": index}
    return {"values": rounded}


def _json(data: object) -> Markup:
    """For a script element, which ends at the first `</script`."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))


@dataclass(frozen=True)
class _Script:
    """A program of the page; its content security policy runs no other."""

    text: Markup
    sha256: str

    def __init__(self, source: str) -> None:
        # a browser hashes what its parser made of the text
        text = source.replace("\r\n", "\n").replace("\r", "\n")
        assert "</script" not in text.lower()
        assert "<!--" not in text
        object.__setattr__(self, "text", Markup(text))
        digest = sha256(text.encode()).digest()
        object.__setattr__(self, "sha256", base64.b64encode(digest).decode())

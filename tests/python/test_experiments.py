"""What the experiments show: the data drawn, the tables' cells, and what is said to be missing."""

import csv
import dataclasses
import io
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import made_up
import pytest
from made_up import Json, known_wrong, point, points_of, unmeasured
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from reduce_bench_report import (
    evaluate,
    experiments,
    grids,
    paths,
    plots,
    published,
    styles,
)
from reduce_bench_report.evaluate import Absence, Evaluation
from reduce_bench_report.experiments import (
    EXPERIMENTS,
    Experiment,
    Published,
    PublishedColumn,
    PublishedRanges,
)
from reduce_bench_report.loader import Results, load
from reduce_bench_report.measures import MEASURES, TIME_NS

ROOT = Path(__file__).parents[2]
PAPERS = sorted(path.relative_to(ROOT) for path in (ROOT / "configs" / "papers").glob("*.json"))
CONFIGS = [
    *PAPERS,
    *(
        Path("configs") / f"{name}.json"
        for name in ("keyed", "harris-why", "counted", "energy", "frameworks")
    ),
]
BUCKETS = [16, 64, 256]
ENERGY = {
    "joules_per_call": 0.1,
    "pj_per_byte": 90.0,
    "calls": 9,
    "window_ms": 1100.0,
    "unavailable": None,
}

Ask = Callable[..., Experiment]
Shown = Callable[..., Evaluation]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """An experiment on a configuration of one sweep; keywords of either."""
    monkeypatch.setattr(paths, "SHIPPED", tmp_path)
    fields = {field.name for field in dataclasses.fields(Experiment)}

    def made(**changes: object) -> Experiment:
        sweep = {
            "operation": "multireduce",
            "variants": ["a/x", "b/y"],
            "n": [1024],
            "buckets": BUCKETS,
        } | {key: value for key, value in changes.items() if key not in fields}
        document = {"schema": 1, "sweeps": [sweep]}
        (tmp_path / "config.json").write_text(json.dumps(document), encoding="utf-8")
        own = {"kind": "figure", "x": "buckets", "y": ("ns_per_input",)} | {
            key: value for key, value in changes.items() if key in fields
        }
        return Experiment("some-T1", "Some title", "some, Table 1", "config.json", **own)

    return made


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Results]:
    def written(points: list[Json], name: str = "r.json", **changes: object) -> Results:
        document = made_up.results(points) | changes
        return load(made_up.write(document, tmp_path / name))

    return written


def keyed(variant: str, buckets: int, median_ns: float = 1024.0, **changes: object) -> Json:
    facts = {"operation": "multireduce", "buckets": buckets, "labels": {"name": "uniform"}}
    return point(variant, 1024, median_ns, **(facts | changes))


def shown(
    experiment: Experiment, *runs: Results, tables: tuple[published.Table, ...] = ()
) -> Evaluation:
    made = evaluate.evaluate(experiment, runs, {table.id: table for table in tables})
    assert isinstance(made, Evaluation)
    return made


def absent(experiment: Experiment, *runs: Results) -> str:
    made = evaluate.evaluate(experiment, runs, {})
    assert isinstance(made, Absence)
    return made.reason


def lines(axes: Axes) -> dict[str, tuple[list[float], list[float]]]:
    """x and y of every measured series."""
    return {
        str(container.get_label()): (
            [float(x) for x in container[0].get_xdata()],
            [float(y) for y in container[0].get_ydata()],
        )
        for container in axes.containers
        if isinstance(container, ErrorbarContainer)
    }


def crosses(axes: Axes) -> list[float]:
    return [float(line.get_xdata()[0]) for line in axes.lines if line.get_gid() == "no-result"]


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def said_below(figure: Figure) -> str:
    return figure.legends[0].get_title().get_text().replace("\n", " ")


# the registry


def test_every_configuration_of_a_paper_has_an_experiment() -> None:
    asked = {Path(each.config) for each in EXPERIMENTS.values() if each.config}
    drawn = {path for path in PAPERS if not path.stem.endswith("-claims")}
    assert drawn <= asked


def test_ids_are_unique_and_measures_known() -> None:
    assert len(EXPERIMENTS) == len(experiments.ALL)
    for experiment in EXPERIMENTS.values():
        assert set(experiment.y) <= set(MEASURES), experiment.id
        assert experiment.y or experiment.lacks, experiment.id
        if "speed_up" in experiment.y:
            assert experiment.base, experiment.id


def test_published_tables_have_the_columns_that_experiments_read() -> None:
    tables = published.load_all()
    units = {
        "us": "µs",
        "ns_per_input": "ns per input",
        "gb_per_s": "GB/s",
        "peak_share": "%",
        "tlb_miss_share": "%",
    }
    seen = 0
    for experiment in EXPERIMENTS.values():
        table = experiment.published and tables.get(experiment.published.table)
        if not experiment.published or not table:
            continue
        seen += 1
        table.column(experiment.published.x)
        for column in experiment.published.columns:
            unit = units.get(column.measure, column.measure if column.measure in TIME_NS else None)
            assert table.unit(column.column) == unit, (experiment.id, column)
    assert seen


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A run of all that the papers' configurations ask for."""
    path = tmp_path_factory.mktemp("everything") / "r.json"
    sweeps = [
        sweep
        for config in CONFIGS
        for sweep in json.loads((ROOT / config).read_text(encoding="utf-8"))["sweeps"]
    ]
    points = [each | {"energy": ENERGY} for each in points_of(*CONFIGS)]
    document = made_up.results(points) | {"config": {"schema": 1, "sweeps": sweeps}}
    configs = {each.config for each in EXPERIMENTS.values() if each.config and each.simulated}
    made_up.save_simulations(path, [made_up.simulated(p, 3.0, 2.0) for p in points_of(*configs)])
    return load(made_up.write(document, path))


@dataclasses.dataclass(frozen=True)
class OfEverything:
    """What an experiment makes of a run of everything."""

    made: Evaluation | Absence
    figure: Figure | None


@pytest.fixture(scope="module", params=EXPERIMENTS)
def of_everything(request: pytest.FixtureRequest, everything: Results) -> OfEverything:
    made = evaluate.evaluate(EXPERIMENTS[request.param], [everything], published.load_all())
    return OfEverything(made, plots.draw(made) if isinstance(made, Evaluation) else None)


def test_runs_of_all_configurations_are_all_that_an_experiment_needs(
    of_everything: OfEverything,
) -> None:
    made, experiment = of_everything.made, of_everything.made.experiment
    if isinstance(made, Absence):
        assert (
            experiment.lacks
            or made.reason.endswith(" asks for no such points yet")
            or experiment.config not in map(str, CONFIGS)
        )
        return
    assert made.missing == []
    for panel in made.panels:
        for series in panel.series:
            assert not series.gaps
            for x in series.points:
                assert panel.value(series, x, experiment.y[0]) is not None
    assert of_everything.figure and of_everything.figure.axes
    for text in grids.FORMATS.values():
        # LaTeX has it in a comment, whose lines are wrapped
        assert experiment.source in text(made, "Redraw: command").replace("\n%   ", " ")


# what is drawn


def test_lines_hold_the_medians_by_x(ask: Ask, run: Callable[..., Results]) -> None:
    points = [keyed("a/x", m, 1024.0 * m) for m in (256, 16, 64)]
    points += [keyed("b/y", m, 2048.0) for m in BUCKETS]
    (axes,) = plots.draw(shown(ask(), run(points))).axes
    assert lines(axes) == {
        "a/x": ([16, 64, 256], [16, 64, 256]),
        "b/y": ([16, 64, 256], [2, 2, 2]),
    }


def test_whiskers_span_the_quartiles(ask: Ask, run: Callable[..., Results]) -> None:
    (axes,) = plots.draw(shown(ask(), run([keyed("a/x", 16, 1024.0)]))).axes
    container = axes.containers[0]
    assert isinstance(container, ErrorbarContainer)
    (segment,) = [each for each in container[2][0].get_segments() if len(each)]
    assert [y for _, y in segment] == pytest.approx([0.95, 1.1])


def test_unverified_and_missing_points_break_the_line_and_are_marked(
    ask: Ask, run: Callable[..., Results]
) -> None:
    facts = {"operation": "multireduce", "labels": {"name": "uniform"}}
    points = [
        keyed("a/x", 16),
        known_wrong("a/x", 1024, 5.0, buckets=64, **facts),
        keyed("a/x", 256),
        keyed("b/y", 16),
        unmeasured("b/y", 1024, "skipped", "does not fit", buckets=256, **facts),
    ]
    made = shown(ask(), run(points))
    figure = plots.draw(made)
    drawn = lines(figure.axes[0])
    assert drawn["a/x"][0] == [16, 64, 256]
    assert [math.isnan(y) for y in drawn["a/x"][1]] == [False, True, False]
    assert drawn["b/y"][0] == [16, 64, 256]  # 64 was asked for and is in no run
    assert [math.isnan(y) for y in drawn["b/y"][1]] == [False, True, True]
    assert sorted(crosses(figure.axes[0])) == [64, 64, 256]
    (axes,) = figure.axes
    own = [line for line in axes.lines if line.get_gid() == "no-result"]
    outcomes = {"missing", "skipped", "wrong (known)"}
    assert {str(line.get_label()).removeprefix("_") for line in own} == outcomes
    assert len({line.get_marker() for line in own}) == 3  # one for each
    assert outcomes <= set(legend(figure))
    styles = plots._styles(made.panels)
    beside = [line.get_marker() for line in axes.lines if line.get_gid() == "no-result-of"]
    assert beside == [styles[name]["marker"] for name in ("a/x", "b/y", "b/y")]
    assert "Missing: 1 of 3 points of b/y at buckets = 64" in said_below(figure)
    assert made.missing == ["1 of 3 points of b/y at buckets = 64"]
    text = grids.markdown(made, "Redraw: command")
    assert "| 64 | wrong (known) | missing |" in text
    assert "| 256 | 1 | skipped |" in text
    assert "a/x at m = 64: wrong (known) (races, see errata)." in text
    assert "b/y at m = 256: skipped (does not fit)." in text
    assert "Missing: 1 of 3 points of b/y at buckets = 64; run config.json." in text


def test_series_are_told_apart_without_colour(ask: Ask, run: Callable[..., Results]) -> None:
    names = [f"a/v{index:02}" for index in range(20)]
    made = shown(ask(variants=names), run([keyed(name, 16) for name in names]))
    styles = plots._styles(made.panels)
    assert len({(style["marker"], style["linestyle"]) for style in styles.values()}) == 20


def test_parameters_make_series_in_ascending_order(ask: Ask, run: Callable[..., Results]) -> None:
    experiment = ask(variants=["a/x"], params={"sets": [8, 16, 2]})
    points = [
        keyed("a/x", m, params={"sets": sets, "block": "64"})
        for sets in ("8", "16", "2")
        for m in BUCKETS
    ]
    made = shown(experiment, run(points))
    assert [series.label for series in made.panels[0].series] == ["sets=2", "sets=8", "sets=16"]
    assert made.constants["variant"] == "a/x"


def test_a_parameter_left_out_is_at_its_default(ask: Ask, run: Callable[..., Results]) -> None:
    experiment = ask(variants=["a/x"])
    path = paths.SHIPPED / "config.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    extra = {"buckets": [16], "params": {"form": ["as-published"]}}
    document["sweeps"].append(document["sweeps"][0] | extra)
    path.write_text(json.dumps(document), encoding="utf-8")
    points = [keyed("a/x", m, params={"form": "corrected"}) for m in (16, 64)]
    points.append(keyed("a/x", 16, params={"form": "as-published"}))
    default, other = shown(experiment, run(points)).panels[0].series
    assert (default.gaps, other.gaps) == ({"256"}, frozenset())


def test_lengths_of_runs_are_an_axis(ask: Ask, run: Callable[..., Results]) -> None:
    runs = [{"name": "runs", "length": length} for length in (1, 1 << 10, 1 << 20)]
    experiment = ask(variants=["a/x"], x="length", buckets=[16], labels=runs)
    points = [keyed("a/x", 16, labels=each) for each in (runs[0], runs[2])]
    made = shown(experiment, run(points))
    assert made.panels[0].xs == ["1", "1024", "1048576"]
    x, y = lines(plots.draw(made).axes[0])["a/x"]
    assert (x, [math.isnan(value) for value in y]) == ([1, 1 << 10, 1 << 20], [False, True, False])


def test_no_verified_point_at_all(ask: Ask, run: Callable[..., Results]) -> None:
    facts = {"operation": "multireduce", "labels": {"name": "uniform"}, "buckets": 16}
    for log in ("", "xy"):
        experiment = ask(
            variants=["a/x"], buckets=[16], y=("ns", "speed_up"), base={"variant": "a/x"}, log=log
        )
        made = shown(experiment, run([unmeasured("a/x", 1024, "failed", "crashed", **facts)]))
        assert [crosses(axes) for axes in plots.draw(made).axes] == [[16], [16]]
        assert "| 16 | failed | failed |" in grids.markdown(made, "Redraw: command")


def test_a_subplot_without_any_value_says_why(ask: Ask, run: Callable[..., Results]) -> None:
    experiment = ask(y=("ns_per_input", "speed_up"), base={"variant": "b/y"}, log="xy")
    made = shown(experiment, run([keyed("a/x", m) for m in BUCKETS]))
    figure = plots.draw(made)
    assert [axes.get_ylabel() for axes in figure.axes] == ["median time per input, ns"]
    assert "Left out: no speed-up: no time of b/y" in said_below(figure)
    (speed_ups,) = plots.draw(shown(dataclasses.replace(experiment, y=("speed_up",)),
                                    run([keyed("a/x", m) for m in BUCKETS]))).axes  # fmt: skip
    assert [each.get_text() for each in speed_ups.texts] == ["no speed-up:\nno time of b/y"]
    assert len(speed_ups.get_yticks()) == 0  # no number that nothing gave


def test_a_panel_that_is_missing_is_named(ask: Ask, run: Callable[..., Results]) -> None:
    experiment = ask(variants=["a/x"], labels=["uniform", "degenerate"], panels=("labels",))
    made = shown(experiment, run([keyed("a/x", 16)]))
    assert made.missing == ["5 of 6 points of a/x (none at buckets = 64, 256; labels = degenerate)"]
    assert "labels = degenerate" in said_below(plots.draw(made))


@pytest.mark.parametrize("measures", [("ns",), ("ns", "speed_up")])
def test_what_is_said_below_a_figure_is_within_it(
    ask: Ask, run: Callable[..., Results], measures: Sequence[str]
) -> None:
    """Also where the sentence is of wide characters, as capitals are."""
    made = shown(ask(y=measures, base={"variant": "a/x"}), run([keyed("a/x", m) for m in BUCKETS]))
    wide = [f"points at buckets = {m} on NVIDIA H100 80GB HBM3" for m in range(100, 140)]
    figure = plots.draw(dataclasses.replace(made, missing=wide))
    said = figure.legends[0].get_title().get_window_extent()
    assert "NVIDIA H100" in figure.legends[0].get_title().get_text()
    assert said.x0 >= 0 and said.x1 <= figure.bbox.width


def test_panels_and_labels_split_what_differs(ask: Ask, run: Callable[..., Results]) -> None:
    labels = ["uniform", "degenerate"]
    points = [keyed("a/x", 16, labels={"name": name}) for name in labels]
    experiment = ask(variants=["a/x"], labels=labels)
    assert [s.label for s in shown(experiment, run(points)).panels[0].series] == labels
    apart = shown(dataclasses.replace(experiment, panels=("labels",)), run(points))
    assert [panel.title for panel in apart.panels] == labels
    titles = [axes.get_title() for axes in plots.draw(apart).axes]
    assert titles == labels
    assert plots.draw(apart).get_figwidth() == plots.DOUBLE_IN
    assert plots.draw(shown(experiment, run(points))).get_figwidth() == plots.SINGLE_IN


def test_figure_and_caption_say_what_was_measured(ask: Ask, run: Callable[..., Results]) -> None:
    """The axes on which all points agree, too, and a panel's facts in the caption."""
    types = ["i32", "f32"]
    points = [
        keyed(name, m, type=type, labels={"name": "degenerate"})
        for name in ("a/x", "b/y")
        for m in BUCKETS
        for type in types
    ]
    shared = "Measured: multireduce, cuda, n = 2^10, sum, degenerate labels, uniform values"
    for asked, after in ((types[:1], ", i32."), (types, ". Panels: i32; f32.")):
        made = shown(ask(type=asked, labels=["degenerate"], panels=("type",)), run(points))
        assert grids.measured_text(made) == shared + after
        assert shared in said_below(plots.draw(made))
        assert "Measured" not in said_below(plots.draw(made, titled=False))


def test_scales_and_axes(ask: Ask, run: Callable[..., Results]) -> None:
    results = run([keyed("a/x", m) for m in BUCKETS])
    linear = plots.draw(shown(ask(variants=["a/x"]), results)).axes[0]
    assert (linear.get_xscale(), linear.get_yscale(), linear.get_ylim()[0]) == (
        "linear",
        "linear",
        0,
    )
    log = plots.draw(shown(ask(variants=["a/x"], log="xy"), results)).axes[0]
    assert (log.get_xscale(), log.get_yscale()) == ("log", "log")
    assert log.get_xlabel() == "m, buckets"
    assert log.get_ylabel() == "median time per input, ns"


def test_the_ceiling_is_the_share_of_each_median(ask: Ask, run: Callable[..., Results]) -> None:
    points = [keyed("a/x", m, 1024.0 * m, ceiling_share=0.5) for m in BUCKETS]
    (axes,) = plots.draw(shown(ask(variants=["a/x"]), run(points))).axes
    (ceiling,) = [line for line in axes.lines if line.get_gid() == "ceiling"]
    assert list(ceiling.get_ydata()) == [8, 32, 128]
    assert ceiling.get_label() == "read ceiling"
    none = [keyed("a/x", m, ceiling_share=None) for m in BUCKETS]
    (axes,) = plots.draw(shown(ask(variants=["a/x"]), run(none, "none.json"))).axes
    assert [line for line in axes.lines if line.get_gid() == "ceiling"] == []


def test_categories_stand_apart_and_are_not_joined(ask: Ask, run: Callable[..., Results]) -> None:
    labels = ["uniform", "degenerate"]
    experiment = ask(x="labels", labels=labels, buckets=[16])
    points = [keyed(v, 16, labels={"name": name}) for v in ("a/x", "b/y") for name in labels]
    (axes,) = plots.draw(shown(experiment, run(points))).axes
    drawn = lines(axes)
    assert drawn["a/x"][0][0] < 0 < drawn["b/y"][0][0] < drawn["a/x"][0][1] < 1
    assert {c[0].get_linestyle() for c in axes.containers if isinstance(c, ErrorbarContainer)} == {
        "None"
    }
    assert [text.get_text() for text in axes.get_xticklabels()] == labels


# ratios


def test_speed_ups_are_over_the_base_at_the_same_x(ask: Ask, run: Callable[..., Results]) -> None:
    experiment = ask(y=("speed_up",), base={"variant": "a/x"})
    points = [keyed("a/x", m, 100.0 * m) for m in BUCKETS] + [
        keyed("b/y", m, 50.0) for m in BUCKETS
    ]
    (panel,) = shown(experiment, run(points)).panels
    base, other = panel.series
    assert [panel.value(base, x, "speed_up") for x in panel.xs] == [(1, 1, 1)] * 3
    assert [panel.value(other, x, "speed_up") for x in panel.xs] == [
        pytest.approx((0.95 / 1.1 * m * 2, m * 2, 1.1 / 0.95 * m * 2)) for m in BUCKETS
    ]


def test_the_ceiling_of_speed_ups_is_that_of_the_input_read_alone(
    ask: Ask, run: Callable[..., Results]
) -> None:
    experiment = ask(y=("speed_up",), base={"variant": "a/x"}, backends=["cpu", "cuda"])
    # reading the input alone takes 10 ns on the GPU, 20 ns on the CPU
    points = [keyed("a/x", m, 100.0 * m, backend="cpu", ceiling_share=0.2 / m) for m in BUCKETS]
    points += [keyed("b/y", m, 40.0, ceiling_share=0.25) for m in BUCKETS[1:]]
    (axes,) = plots.draw(shown(experiment, run(points))).axes
    ceilings = {line.get_label(): line for line in axes.lines if line.get_gid() == "ceiling"}
    assert set(ceilings) == {"read ceiling (cpu)", "read ceiling (cuda)"}
    for backend, at in (
        ("cpu", {m: 100 * m / 20 for m in BUCKETS}),
        ("cuda", {m: 100 * m / 10 for m in BUCKETS[1:]}),  # where one was measured
    ):
        line = ceilings[f"read ceiling ({backend})"]
        assert list(line.get_xdata()) == list(at)
        assert list(line.get_ydata()) == pytest.approx(list(at.values()))
    without_base = run([made for made in points if made["variant"] != "a/x"], "other.json")
    (axes,) = plots.draw(shown(experiment, without_base)).axes
    assert [line for line in axes.lines if line.get_gid() == "ceiling"] == []


def test_a_plane_has_a_marker_for_each_variant_below_its_roofs(everything: Results) -> None:
    made = evaluate.evaluate(EXPERIMENTS["roofline"], [everything], published.load_all())
    assert isinstance(made, Evaluation)
    assert made.roofs is not None
    assert made.roofs.bytes_per_ns == made_up.CEILING_GB_PER_S
    (axes,) = plots.draw(made).axes
    (panel,) = made.panels
    markers = {line.get_label(): line for line in axes.lines if line.get_gid() != "roofs"}
    assert {*markers} == {x.split("/")[0] for x in panel.xs}
    assert sum(len(line.get_xdata()) for line in markers.values()) == len(panel.xs)
    # made-up counts are all n, and a point of 1000 ns has n / 1000 instructions in a ns
    assert set(markers["harris"].get_xdata()) == {0.5}
    assert set(markers["harris"].get_ydata()) == {67108864 / 1000}
    (roof,) = (line for line in axes.lines if line.get_gid() == "roofs")
    low, crossing, high = zip(roof.get_xdata(), roof.get_ydata(), strict=True)
    assert low[1] == pytest.approx(low[0] * made.roofs.bytes_per_ns)
    assert crossing[1] == high[1] == made.roofs.instructions_per_ns


def test_each_of_few_variants_of_a_plane_has_a_marker_of_its_own(
    run: Callable[..., Results],
) -> None:
    names = ["harris/7", "cub/reduce"]
    points = [
        point(name, 1 << 28, 1e6 * place, energy=ENERGY)
        for place, name in enumerate(names, start=1)
    ]
    (axes,) = plots.draw(shown(EXPERIMENTS["energy"], run(points))).axes
    assert [line.get_label() for line in axes.lines] == names
    unmeasured = [each | {"energy": None} for each in points]
    assert absent(EXPERIMENTS["energy"], run(unmeasured)).endswith("run configs/energy.json")


def test_a_plane_without_any_count_says_why(run: Callable[..., Results]) -> None:
    forbidden = {"all": {"count": None, "unavailable": "counting is forbidden"}}
    names = ["harris/7", "cub/reduce"]
    untried = [point(name, 1 << 26, counters=None) for name in names]
    tried = [each | {"counters": forbidden} for each in untried]
    # the other run has as many points, of which it was not asked to count anything
    runs = [run(untried, "full.json"), run(tried, "counted.json")]
    reason = absent(EXPERIMENTS["roofline"], *runs)
    assert reason.startswith("no point has a value (counting is forbidden); ")
    assert reason.endswith(": run configs/counted.json")
    reason = absent(EXPERIMENTS["roofline"], runs[0])
    assert reason.startswith("every point of harris/*, ")
    still = ENERGY | {"joules_per_call": None, "pj_per_byte": None, "unavailable": "no counter"}
    points = [p | {"energy": still} for p in points_of("configs/energy.json")]
    assert absent(EXPERIMENTS["energy"], run(points)) == "no point has a value (no counter)"


def test_reading_has_a_time_and_no_counts(everything: Results) -> None:
    made = evaluate.evaluate(EXPERIMENTS["harris-why"], [everything], published.load_all())
    assert isinstance(made, Evaluation)
    (panel,) = made.panels
    assert panel.ceilings("us")
    for measure in EXPERIMENTS["harris-why"].y[1:]:
        assert panel.ceilings(measure) == {}


@pytest.mark.parametrize("name", ["jradi-F4", "report7-F1", "eilers-F4.24", "eilers-F4.25"])
def test_each_panel_of_speed_ups_has_its_ceiling(name: str, everything: Results) -> None:
    made = evaluate.evaluate(EXPERIMENTS[name], [everything], published.load_all())
    assert isinstance(made, Evaluation)
    assert made.panels
    for panel in made.panels:
        on = panel.facts.get("backend", "cuda")
        assert set(panel.ceilings("speed_up")[on]) == {
            x
            for series in panel.series
            for x, each in series.points.items()
            if each.backend == on and panel.value(series, x, "speed_up")
        }


def test_a_base_without_a_time_gives_no_ratio(ask: Ask, run: Callable[..., Results]) -> None:
    experiment = ask(y=("speed_up",), base={"variant": "a/x"})
    facts = {"operation": "multireduce", "labels": {"name": "uniform"}, "buckets": 16}
    points = [known_wrong("a/x", 1024, 5.0, **facts), keyed("b/y", 16)]
    (panel,) = shown(experiment, run(points)).panels
    assert panel.value(panel.series[1], "16", "speed_up") is None


def test_a_base_without_the_parameter_serves_every_x(ask: Ask, run: Callable[..., Results]) -> None:
    experiment = ask(
        x="F",
        y=("ns_per_input", "speed_up"),
        x_of={"a/x": "1"},
        base={"variant": "a/x"},
        buckets=[16],
        params={"F": [1, 2]},
    )
    points = [keyed("a/x", 16, 100.0)]
    points += [keyed("b/y", 16, 100.0 / factor, params={"F": str(factor)}) for factor in (1, 2)]
    (panel,) = shown(experiment, run(points)).panels
    assert panel.xs == ["1", "2"]
    values = [panel.value(panel.series[1], x, "speed_up") for x in panel.xs]
    assert [value and value[1] for value in values] == [1, 2]


def test_steps_are_over_the_row_before(ask: Ask, run: Callable[..., Results]) -> None:
    experiment, table_of_steps = steps(ask)
    points = [keyed("c/z", 16, 10.0), keyed("a/x", 16, 100.0), keyed("b/y", 16, 50.0)]
    (panel,) = shown(experiment, run(points), tables=(table_of_steps,)).panels
    assert panel.xs == ["a/x", "b/y", "c/z"]  # as printed, whatever came first
    assert step_values(panel) == ([None, 2, 5], [None, 2.5, None])


def test_a_step_over_a_row_without_a_point_has_no_value(
    ask: Ask, run: Callable[..., Results]
) -> None:
    experiment, table_of_steps = steps(ask)
    made = shown(
        experiment,
        run([keyed("c/z", 16, 10.0)], "first.json"),
        run([keyed("a/x", 16, 100.0)], "second.json"),
        tables=(table_of_steps,),
    )
    (panel,) = made.panels
    assert panel.xs == ["a/x", "b/y", "c/z"]
    assert step_values(panel) == ([None, None, None], [None, 2.5, None])
    assert "| b/y | - | missing | 2.5 |" in grids.markdown(made, "Redraw: command")


def steps(ask: Ask) -> tuple[Experiment, published.Table]:
    """Three rows; the publication prints one step, and the times of all."""
    columns = (("kernel", None), ("step", None), ("time", "ms"))
    printed = table(
        columns=tuple(published.Column(*column) for column in columns),
        rows=((1, None, 10.0), (2, 2.5, 4.0), (3, None, 1.0)),
    )
    experiment = ask(
        x="variant",
        y=("step_speed_up",),
        variants=["a/x", "b/y", "c/z"],
        buckets=[16],
        published=Published(
            "some-T1",
            x="kernel",
            x_values={"1": "a/x", "2": "b/y", "3": "c/z"},
            columns=[PublishedColumn("step", "step_speed_up"), PublishedColumn("time", "ms")],
        ),
    )
    return experiment, printed


def step_values(panel: evaluate.Panel) -> tuple[list[float | None], list[float | None]]:
    """Measured and published."""
    measured = [panel.value(panel.series[0], x, "step_speed_up") for x in panel.xs]
    return (
        [value and value[1] for value in measured],
        [panel.published_value(panel.published[0], x, "step_speed_up") for x in panel.xs],
    )


# the best parameters, the worst labels


def test_the_best_parameters_are_those_whose_slowest_labels_are_fastest(
    ask: Ask, run: Callable[..., Results]
) -> None:
    labels = ["uniform", "degenerate"]
    experiment = ask(
        variants=["a/x"], buckets=[16], labels=labels, params={"sets": [1, 2, 4]}, best="params"
    )
    times = {"1": (10.0, 400.0), "2": (200.0, 300.0), "4": (5.0, None)}
    points = []
    for sets, both in times.items():
        for name, median_ns in zip(labels, both, strict=True):
            facts = {"labels": {"name": name}, "params": {"sets": sets}}
            points.append(
                keyed("a/x", 16, median_ns, **facts)
                if median_ns
                else unmeasured(
                    "a/x", 1024, "failed", "crashed", operation="multireduce", buckets=16, **facts
                )
            )
    made = shown(experiment, run(points))
    assert made.chosen == {("a/x", "16"): "sets=2"}
    (panel,) = made.panels
    assert [panel.value(s, "16", "ns") for s in panel.series] == [
        pytest.approx((0.95 * ns, ns, 1.1 * ns)) for ns in (200.0, 300.0)
    ]
    assert "| 16 | sets=2 | 0.1953 | 0.293 |" in grids.markdown(made, "Redraw: command")
    worst = shown(dataclasses.replace(experiment, worst=("labels",)), run(points))
    (series,) = worst.panels[0].series
    assert worst.panels[0].value(series, "16", "ns") == pytest.approx((285, 300, 330))


def test_parameters_that_lack_a_point_are_not_the_best(
    ask: Ask, run: Callable[..., Results]
) -> None:
    labels = ["uniform", "degenerate"]
    experiment = ask(
        variants=["a/x"], buckets=[16], labels=labels, params={"sets": [1, 2]}, best="params"
    )
    points = [keyed("a/x", 16, 1.0, params={"sets": "1"})]
    points += [
        keyed("a/x", 16, 500.0, labels={"name": name}, params={"sets": "2"}) for name in labels
    ]
    assert shown(experiment, run(points)).chosen == {("a/x", "16"): "sets=2"}


def test_the_best_form_of_a_family_is_named_at_each_x(
    ask: Ask, run: Callable[..., Results]
) -> None:
    variants = ["a/few", "a/many", "a/host", "b/y", "c/z"]
    experiment = ask(variants=variants, params={"sets": [1, 2]}, best="family")
    few, many = {"sets": "1"}, {"sets": "2"}
    skipped = {"operation": "multireduce", "labels": {"name": "uniform"}, "buckets": 256}
    points = [
        keyed("a/few", 16, 100.0, params=few),
        keyed("a/few", 16, 50.0, params=many),
        keyed("a/few", 64, 900.0, params=few),
        unmeasured("a/few", 1024, "skipped", "at most 64 buckets", **skipped),
        keyed("a/many", 16, 800.0),
        keyed("a/many", 64, 800.0),
        keyed("a/many", 256, 800.0),
        keyed("a/host", 16, 1.0, finish="host"),
        keyed("b/y", 16, 7.0),
        keyed("b/y", 256, 7.0),
        *(known_wrong("c/z", 1024, 1.0, **(skipped | {"buckets": m})) for m in BUCKETS),
    ]
    made = shown(experiment, run(points))
    (panel,) = made.panels
    times = {
        series.label: [
            value and value[1] for value in (panel.value(series, x, "ns") for x in panel.xs)
        ]
        for series in panel.series
    }
    assert times == {
        "a": [50, 800, 800],
        "a (host)": [1, None, None],
        "b": [7, None, 7],
        "c": [None, None, None],
    }
    assert made.chosen["a", "16"] == "a/few sets=2"
    assert made.chosen["a", "256"] == "a/many"
    # none of the family has a point where some are asked for
    assert [sorted(series.gaps) for series in panel.series] == [[], ["256", "64"], ["64"], []]
    text = grids.markdown(made, "Redraw: command")
    assert "| m | a: fastest variant | median time per input, ns |" in text
    assert "| 16 | a/few sets=2 | 0.04883 |" in text


def test_a_family_has_a_gap_where_only_a_slower_form_was_asked_for(
    ask: Ask, run: Callable[..., Results]
) -> None:
    experiment = ask(variants=["a/fast"], buckets=[16], best="family")
    path = paths.SHIPPED / "config.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["sweeps"].append(document["sweeps"][0] | {"variants": ["a/slow"], "buckets": BUCKETS})
    path.write_text(json.dumps(document), encoding="utf-8")
    points = [keyed("a/fast", 16, 1.0), keyed("a/slow", 16, 9.0), keyed("a/slow", 256, 9.0)]
    (series,) = shown(experiment, run(points)).panels[0].series
    assert series.gaps == {"64"}


# published values


def table(**changes: object) -> published.Table:
    made = published.Table(
        paper="some",
        paper_title="Someone, Something (2000)",
        id="some-T1",
        source="section 1, Table 1",
        hardware=published.Hardware("Some card", 100.0, None, None, "made up"),
        conditions={},
        columns=tuple(
            published.Column(*column) for column in (("log2 m", None), ("one", "ms"), ("two", "ms"))
        ),
        rows=((4, 8.0, 4.0), (6, 9.0, 3.0), (8, None, 1.0), (9, 7.0, 7.0)),
        note="A doubt.",
    )
    return dataclasses.replace(made, **changes)


PUBLISHED = Published(
    "some-T1",
    x="log2 m",
    x_is_log2=True,
    columns=[
        PublishedColumn("one", "ms", {"variant": "a/x"}),
        PublishedColumn("two", "ms", {"variant": "b/y"}),
    ],
)


def overlaid(axes: Axes) -> dict[str, tuple[list[float], list[float]]]:
    return {
        str(line.get_label()): (list(line.get_xdata()), list(line.get_ydata()))
        for line in axes.lines
        if line.get_gid() == "published"
    }


def test_published_times_become_ratios_and_are_never_drawn_as_times(
    ask: Ask, run: Callable[..., Results]
) -> None:
    experiment = ask(y=("ms", "speed_up"), base={"variant": "a/x"}, published=PUBLISHED)
    points = [keyed(v, m) for v in ("a/x", "b/y") for m in BUCKETS]
    made = shown(experiment, run(points), tables=(table(),))
    time, ratio = plots.draw(made).axes
    assert overlaid(time) == {}
    assert overlaid(ratio) == {"b/y, published (Some card)": ([16, 64], [2, 3])}
    assert ratio.get_ylabel() == "speed-up over a/x"
    rows = [r for r in grids.markdown(made, "Redraw: command").splitlines() if r.startswith("| 64")]
    assert rows == ["| 64 | 0.001024 | 9 | 1 | 1 | 0.001024 | 3 | 1 | 3 |"]
    assert "section 1, Table 1, on Some card (100 GB/s by the datasheet)" in " ".join(
        grids.notes(made)
    )


def test_stated_ranges_are_drawn_where_the_axis_is_their_ratio(
    ask: Ask, run: Callable[..., Results]
) -> None:
    columns = (published.Column("what", None), published.Column("speed-up", None))
    stated = table(columns=columns, rows=(("least", 3), ("most", 12), ("best", 18)))
    rows = {"all": ("least", "most"), "one": ("best", "best")}
    experiment = ask(
        y=("ms", "speed_up"),
        base={"variant": "a/x"},
        ranges=PublishedRanges("some-T1", "speed-up", "speed_up", rows),
    )
    points = [keyed(variant, m) for variant in ("a/x", "b/y") for m in BUCKETS]
    figure = plots.draw(shown(experiment, run(points), tables=(stated,)))
    times, ratios = figure.axes
    assert overlaid(times) == {}
    (band,) = [each for each in ratios.patches if each.get_gid() == "published"]
    assert (band.get_y(), band.get_y() + band.get_height()) == (3, 12)
    (line,) = [each for each in ratios.lines if each.get_gid() == "published"]
    assert list(line.get_ydata()) == [18, 18]
    assert not ratios.texts  # under no curve
    said = "Published (Some card): all 3 to 12 (band), one 18 (dotted)"
    assert said in said_below(figure)


def test_stated_ranges_are_in_the_published_tables(ask: Ask) -> None:
    tables = published.load_all()
    ranges = {
        each.id: evaluate._ranges(each.ranges, tables[each.ranges.table])
        for each in EXPERIMENTS.values()
        if each.ranges
    }
    assert ranges == {
        "eilers-F4.24": {"ordered": (3, 12)},
        "eilers-F4.25": {"commutative": (4, 17), "shared-bank": (18, 18)},
    }


def test_times_are_over_that_of_the_first_row_of_their_own_series(
    ask: Ask, run: Callable[..., Results]
) -> None:
    experiment = ask(y=("ms", "time_ratio"), base={"buckets": "16"}, published=PUBLISHED)
    times = {"a/x": (100.0, 300.0), "b/y": (10.0, 5.0)}
    points = [keyed(v, m, ns) for v in times for m, ns in zip(BUCKETS, times[v], strict=False)]
    made = shown(experiment, run(points), tables=(table(),))
    (panel,) = made.panels
    assert [panel.value(each, "64", "time_ratio") for each in panel.series] == [
        pytest.approx((0.95 / 1.1 * ratio, ratio, 1.1 / 0.95 * ratio)) for ratio in (3, 0.5)
    ]
    rows = [r for r in grids.markdown(made, "Redraw: command").splitlines() if r.startswith("| m")]
    assert "a/x: published time over that at m = 16" in rows[0]
    (row,) = [r for r in grids.markdown(made, "").splitlines() if r.startswith("| 64")]
    assert row == "| 64 | 0.0003 | 9 | 3 | 1.125 | 5 ns | 3 | 0.5 | 0.75 |"
    for id in ("eilers-T4.1", "eilers-T4.2", "eilers-T4.3"):
        assert EXPERIMENTS[id].y == ("ns_per_input", "time_ratio")


def test_wide_tables_are_split(ask: Ask, run: Callable[..., Results]) -> None:
    variants = [f"a/v{number:02}" for number in range(20)]
    experiment = ask(variants=variants)
    made = shown(experiment, run([keyed(v, m) for v in variants for m in BUCKETS]))
    split = grids.grids(made)
    assert [len(grid.headings) - 1 for grid in split] == [9, 9, 2]
    assert [name for grid in split for name in grid.headings[1:]] == variants
    assert all([row[0] for row in grid.rows] == ["16", "64", "256"] for grid in split)


def test_published_markers_are_those_of_the_series_that_measure_the_same(
    ask: Ask, run: Callable[..., Results]
) -> None:
    swapped = dataclasses.replace(PUBLISHED, columns=PUBLISHED.columns[::-1])
    variants = ["c/w", "a/x", "b/y"]
    experiment = ask(variants=variants, y=("speed_up",), base={"variant": "a/x"}, published=swapped)
    points = [keyed(v, m) for v in variants for m in BUCKETS]
    made = shown(experiment, run(points), tables=(table(),))
    (axes,) = plots.draw(made).axes
    (line,) = [line for line in axes.lines if line.get_gid() == "published"]
    assert str(line.get_label()).startswith("b/y")
    assert line.get_marker() == plots._styles(made.panels)["b/y"]["marker"]
    assert line.get_markerfacecolor() == "white"
    gone = shown(experiment, run([p for p in points if p["variant"] != "b/y"], "less.json"),
                 tables=(table(),))  # fmt: skip
    (line,) = [line for line in plots.draw(gone).axes[0].lines if line.get_gid() == "published"]
    assert line.get_marker() not in {each.matplotlib for each in styles.MARKERS}


def test_a_figure_says_that_published_times_are_not_drawn(
    ask: Ask, run: Callable[..., Results]
) -> None:
    said = "Published times stand in the table and are not drawn."
    results = run([keyed(v, m) for v in ("a/x", "b/y") for m in BUCKETS])
    times = ask(y=("ms",), base={"variant": "a/x"}, published=PUBLISHED)
    assert said in grids.notes(shown(times, results, tables=(table(),)))
    ratios = dataclasses.replace(times, y=("speed_up",))
    assert said not in grids.notes(shown(ratios, results, tables=(table(),)))
    alone = dataclasses.replace(times, kind="table")
    assert said not in grids.notes(shown(alone, results, tables=(table(),)))


def test_per_cent_are_shares(ask: Ask, run: Callable[..., Results]) -> None:
    columns = (published.Column("log2 m", None), published.Column("peak", "%"))
    of_peak = Published(
        "some-T1", x="log2 m", x_is_log2=True, columns=[PublishedColumn("peak", "peak_share")]
    )
    printed = table(columns=columns, rows=((4, 72.0),))
    experiment = ask(variants=["a/x"], y=("peak_share",), published=of_peak)
    (axes,) = plots.draw(shown(experiment, run([keyed("a/x", 16)]), tables=(printed,))).axes
    assert overlaid(axes) == {"published (Some card)": ([16], [0.72])}


def test_jradis_table_has_a_part_for_each_backend_compared_within_itself(
    run: Callable[..., Results],
) -> None:
    points = points_of(Path("configs/papers/jradi-portability.json"))
    times = {"cuda": (3000.0, 1000.0), "opencl": (4000.0, 2000.0)}
    for each in points:
        two_stage, unrolled = times[each["backend"]]
        is_base = each["variant"] == "catanzaro/two-stage"
        each["timing"] = {"cold": made_up.summary(two_stage if is_base else unrolled)}
    of_t2 = [each for each in points if each["params"]["blocks_per_sm"] == "auto"]
    made = shown(EXPERIMENTS["jradi-T2"], run(of_t2))
    assert "OpenCL of Imaginary OpenCL" in grids.markdown(made, "Redraw: command")
    assert {
        panel.title: {
            value[1]
            for series in panel.series
            if "8" in series.points and (value := panel.value(series, "8", "speed_up"))
        }
        for panel in made.panels
    } == {"cuda, i32": {3.0}, "cuda, f32": {3.0}, "opencl, i32": {2.0}, "opencl, f32": {2.0}}


def test_opencl_against_cuda_by_factor_and_size(run: Callable[..., Results]) -> None:
    points = points_of(Path("configs/papers/jradi-portability.json"))
    for each in points:
        factor = int(each["params"].get("F", 1))
        ns = 1000.0 * factor * (1.25 if each["backend"] == "opencl" else 1)
        each["timing"] = {"cold": made_up.summary(ns)}
    made = shown(EXPERIMENTS["jradi-portability"], run(points))
    assert [panel.title for panel in made.panels] == [
        f"n = {n}, {element}" for n in ("5,533,214", "2^27") for element in ("i32", "f32")
    ]
    assert not made.missing
    for panel in made.panels:
        assert {
            (series.facts["backend"], x): ratio[1]
            for series in panel.series
            for x in panel.xs
            if (ratio := panel.value(series, x, "time_ratio"))
        } == {
            (backend, x): ratio
            for backend, ratio in (("cuda", 1.0), ("opencl", 1.25))
            for x in panel.xs
        }


def test_a_printed_ratio_goes_before_arithmetic() -> None:
    series = evaluate.PublishedSeries(
        "p", {}, 100.0, {"gb_per_s": {"1": 50.0}, "speed_up": {"1": 7.0}}
    )
    panel = evaluate.Panel(EXPERIMENTS["jradi-T2"], {}, ["1"], [], [series])
    assert panel.published_value(series, "1", "speed_up") == 7
    assert panel.published_value(series, "1", "peak_share") == 0.5
    assert panel.published_value(series, "2", "peak_share") is None


def test_what_a_source_says_in_words_stands_below_the_table(
    ask: Ask, run: Callable[..., Results]
) -> None:
    text = grids.markdown(
        shown(ask(), run([keyed("a/x", 16)]), tables=(table(),)), "Redraw: command"
    )
    assert "The source says:\n\n| log2 m | one, ms | two, ms |" in text


# which points


def test_points_of_other_configurations_are_left_out(ask: Ask, run: Callable[..., Results]) -> None:
    own = keyed("a/x", 16)
    others = [
        keyed("c/z", 16),
        keyed("a/x", 32),
        keyed("a/x", 16, type="f32"),
        keyed("a/x", 16, op="max"),
        keyed("a/x", 16, labels={"name": "zipf", "exponent": 1.2}),
        keyed("a/x", 16, primary_mode="hot"),
        keyed("a/x", 16, params={"sets": "4"}),
        keyed("a/x", 16, distribution={"name": "ones"}),
        point("a/x", 1024),
    ]
    experiment = ask(variants=["a/x"], params={"sets": [2]})
    made = shown(experiment, run([*others, own]))
    (series,) = made.panels[0].series
    assert [p.raw for p in series.points.values()] == [load(made.runs[0].path).points[-1].raw]


def test_points_of_another_mode_are_left_out(ask: Ask, run: Callable[..., Results]) -> None:
    points = [keyed("a/x", 16, primary_mode="hot")]
    assert absent(ask(variants=["a/x"]), run(points)) == "every point of a/x: run config.json"
    hot = ask(variants=["a/x"], measurement={"modes": ["hot", "cold"]})
    assert shown(hot, run(points)).panels[0].xs == ["16", "64", "256"]


def test_zipped_parameters_vary_together(ask: Ask, run: Callable[..., Results]) -> None:
    experiment = ask(
        variants=["a/x"], buckets=[16], params={"a": [1, 2], "b": [3, 4]}, zip=[["a", "b"]]
    )
    both = [("1", "3"), ("1", "4")]
    points = [keyed("a/x", 16, params={"a": a, "b": b}) for a, b in both]
    made = shown(experiment, run(points))
    assert [series.facts["b"] for series in made.panels[0].series] == ["3"]
    assert made.missing == ["1 of 2 points of a/x at a = 2; b = 4"]


def test_one_run_gives_the_points_wherever_it_can(ask: Ask, run: Callable[..., Results]) -> None:
    most = run([keyed("a/x", m, 100.0) for m in BUCKETS], "most.json")
    less = run([keyed("a/x", 16, 999.0), keyed("b/y", 16, 50.0)], "less.json")
    other = run([keyed("c/z", 16)], "other.json")
    made = shown(ask(), less, other, most)
    assert [run.path.name for run in made.runs] == ["most.json", "less.json"]
    value = made.panels[0].value(made.panels[0].series[0], "16", "ns")
    assert value and value[1] == 100
    assert "several runs" in " ".join(grids.notes(made))


def test_points_from_before_a_parameter_are_those_of_its_one_value(
    ask: Ask, run: Callable[..., Results]
) -> None:
    before = run([keyed("a/x", m, 100.0, params={"sets": "2"}) for m in BUCKETS], "before.json")
    both = [{"sets": "2", "padding": padding} for padding in ("on", "off")]
    later = [keyed("a/x", 16, 999.0, params=params) for params in both]
    sweep = {"variants": ["a/x"], "params": {"sets": [2], "padding": ["on"]}}
    made = shown(ask(**sweep), run(later, "later.json"), before)
    (series,) = made.panels[0].series
    assert made.missing == []
    assert made.panels[0].value(series, "16", "ns") == made.panels[0].value(series, "64", "ns")
    sweep["params"] = {"sets": [2], "padding": ["on", "off"]}
    made = shown(ask(**sweep), run(later, "later.json"), before)
    assert len(made.panels[0].series) == 3  # which of two values it had is not known


def test_an_absent_experiment_names_variants_and_configuration(
    ask: Ask, run: Callable[..., Results]
) -> None:
    assert absent(ask(), run([])) == "every point of a/x, b/y: run config.json"
    made = shown(
        ask(variants=["a/x"], labels=["sorted"]), run([keyed("a/x", 16, labels={"name": "sorted"})])
    )
    assert made.missing == ["2 of 3 points of a/x at buckets = 64, 256"]
    assert absent(ask(where={"variant": ["b/y"]}), run([])) == "every point of b/y: run config.json"
    assert (
        absent(ask(where={"fetch": ["slow"]}), run([])) == "config.json asks for no such points yet"
    )
    missing = dataclasses.replace(ask(), config="configs/papers/none.json")
    assert absent(missing, run([])) == "this revision has no configs/papers/none.json yet"


def test_a_missing_part_of_a_variant_is_told_from_the_part_that_is_there(
    ask: Ask, run: Callable[..., Results]
) -> None:
    experiment = ask(kind="table", variants=["a/x"], buckets=[{"pow2": [0, 19]}])
    path = paths.SHIPPED / "config.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["sweeps"].append(document["sweeps"][0] | {"labels": ["sorted"]})
    path.write_text(json.dumps(document), encoding="utf-8")
    made = shown(experiment, run([keyed("a/x", 16)]))
    assert made.missing == [
        "19 of 20 points of a/x at buckets = 1, 2, 4, 8 ... 2^19 (19 values)",
        "every point of a/x at labels = sorted",
    ]


def test_older_results_without_labels(ask: Ask, run: Callable[..., Results]) -> None:
    experiment = ask(operation="reduce", variants=["a/x"], buckets=[16])
    sweep = {"variants": ["a/x"], "n": [1024]}
    path = paths.SHIPPED / "config.json"
    path.write_text(json.dumps({"schema": 1, "sweeps": [sweep]}), encoding="utf-8")
    old = point("a/x", 1024)
    assert "labels" not in old
    made = shown(dataclasses.replace(experiment, x="n", y=("us",)), run([old]))
    assert made.panels[0].xs == ["1024"]
    assert "labels" not in made.constants


def test_an_interrupted_run_is_told(ask: Ask, run: Callable[..., Results]) -> None:
    made = shown(ask(), run([keyed("a/x", 16)], interrupted=True))
    (source, _) = grids.provenance(made, "Redraw: command")
    assert source.endswith(", interrupted.")


# files


def test_host_finishing_variants_are_marked(ask: Ask, run: Callable[..., Results]) -> None:
    made = shown(ask(), run([keyed("a/x", 16, finish="host"), keyed("b/y", 16)]))
    assert [series.label for series in made.panels[0].series] == ["a/x (host)", "b/y"]
    assert "(host): timed until the result is on the host." in grids.notes(made)


def test_latex_escapes_and_csv_holds_every_value(ask: Ask, run: Callable[..., Results]) -> None:
    experiment = ask(
        variants=["a/x"], params={"sort_bits": [2, 4]}, y=("ns_per_input", "ceiling_share")
    )
    facts = [{"params": {"sort_bits": bits}} for bits in ("2", "4")]
    made = shown(experiment, run([keyed("a/x", 16, **each) for each in facts]))
    tex = grids.latex(made, "Redraw: command")
    assert r"sort\_bits=2: share of read ceiling" in tex
    assert grids._latex_text("m = 2^20 & 5 %") == r"m = $2^{20}$ \& 5 \%"
    assert r"102.4\%" not in tex and r"\%" in tex
    text = grids.csv_text(made, "Redraw: command")
    assert text.startswith("# some, Table 1. ")
    assert "# Redraw: command\n" in text
    rows = list(csv.DictReader(line for line in io.StringIO(text) if not line.startswith("#")))
    measured = [row for row in rows if row["outcome"] == "ok" and row["measure"] == "ns_per_input"]
    assert [(row["series"], row["x"], float(row["value"])) for row in measured] == [
        ("sort_bits=2", "16", 1.0),
        ("sort_bits=4", "16", 1.0),
    ]
    assert [float(measured[0][key]) for key in ("low", "high")] == pytest.approx([0.95, 1.1])
    assert sum(row["outcome"] == "missing" for row in rows) == 8


def test_hostile_reasons_break_no_table(ask: Ask, run: Callable[..., Results]) -> None:
    facts = {"operation": "multireduce", "labels": {"name": "uniform"}, "buckets": 16}
    reason = "first\r\nsecond\u2028third <img src=x onerror=hacked()> & more"
    wrong = unmeasured("a/x", 1024, "failed", reason, **facts)
    made = shown(ask(variants=["a/x"]), run([wrong]))
    text = grids.csv_text(made, "Redraw: command")
    rows = [line for line in text.splitlines() if not line.startswith("#")]
    assert rows[0].split(",")[0] == "experiment"
    assert all(row.startswith("some-T1,") for row in rows[1:])
    assert "first second third <img" in text
    markdown = grids.markdown(made, "Redraw: command")
    assert "<" not in markdown
    assert "first second third &lt;img src=x onerror=hacked()> &amp; more" in markdown


def test_a_table_too_wide_is_one_for_each_series(ask: Ask, run: Callable[..., Results]) -> None:
    points = [keyed(v, m) for v in ("a/x", "b/y") for m in BUCKETS]
    wide = ask(y=("ns", "us", "ms"))
    assert [grid.title for grid in grids.grids(shown(wide, run(points)))] == ["a/x", "b/y"]
    assert len(grids.grids(shown(ask(y=("ns", "us")), run(points)))) == 1


# the thesis's CPU chapter


def cpu(buckets: int, **changes: object) -> Json:
    facts = {
        "operation": "multireduce",
        "backend": "cpu",
        "buckets": buckets,
        "labels": {"name": "uniform"},
        "params": {"fetch": "free", "pages": "small"},
    }
    return point("cpu/multireduce", 1 << 26, **(facts | changes))


def test_tlb_misses_are_shown_as_a_share_or_as_unavailable(run: Callable[..., Results]) -> None:
    counted = made_up.counters(dtlb_loads=1000, dtlb_load_misses=250)
    results = run([cpu(1 << 16, counters=counted), cpu(1 << 18, counters=made_up.counters())])
    text = grids.markdown(
        shown(EXPERIMENTS["eilers-T2.1"], results, tables=(published.load_all()["eilers-T2.1"],)),
        "Redraw",
    )
    assert "25.0%" in text
    assert "14.2%" in text  # published, 2^20
    assert "unavailable (no such counter)" in text


def test_a_table_without_a_measured_value_is_left_out(run: Callable[..., Results]) -> None:
    uncounted = [cpu(1 << bits, counters=made_up.counters()) for bits in (16, 18)]
    reason = absent(EXPERIMENTS["eilers-T2.1"], run(uncounted))
    assert reason.startswith("no point has a value (no such counter); 4 of 6 points of cpu/")
    assert reason.endswith(": run configs/papers/eilers-F2.2.json")


def test_a_point_without_the_huge_pages_that_it_asks_for_is_not_ranked(
    run: Callable[..., Results],
) -> None:
    granted = {1 << 24: 0, 1 << 25: 2 << 20, 1 << 26: None, 1 << 27: 4 << 20}
    points = run(
        [
            cpu(m, params={"pages": "huge"}, pages={"bytes": 4 << 20, "huge_bytes": huge})
            for m, huge in granted.items()
        ]
    ).points
    assert [point.outcome for point in points] == ["no huge pages"] * 3 + ["ok"]
    assert [point.ranked for point in points] == [False] * 3 + [True]


# figures that can be read


def test_families_keep_their_looks_over_all_figures(of_everything: OfEverything) -> None:
    made, experiment = of_everything.made, of_everything.made.experiment
    if isinstance(made, Absence) or experiment.kind != "figure" or experiment.x == "variant":
        return
    looks = plots._styles(made.panels)
    for panel in made.panels:
        for series in panel.series:
            family = next(iter(series.points.values())).family
            hue, _ = styles.FAMILIES.get(family, (None, None))
            if hue is not None:
                shade = styles.COLOURS.index(looks[series.label]["color"])
                assert shade // styles.SHADES == hue, (experiment.id, series.label)
    assert of_everything.figure
    lines_of = [c for axes in of_everything.figure.axes for c in axes.containers]
    if lines_of and all(x.isdecimal() for panel in made.panels for x in panel.xs):
        for axes in of_everything.figure.axes:
            assert len([c for c in axes.containers if isinstance(c, ErrorbarContainer)]) <= 7


def test_many_lines_are_split_and_share_their_axis(ask: Ask, run: Callable[..., Results]) -> None:
    names = [f"a/v{index:02}" for index in range(13)]
    points = [keyed(name, m, 2.0**index) for index, name in enumerate(names) for m in BUCKETS]
    made = shown(ask(variants=names, log="xy"), run(points))
    figure = plots.draw(made)
    assert [len(lines(axes)) for axes in figure.axes] == [6, 7]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    apart = plots.draw_apart(made)
    assert [len(each.axes) for each in apart] == [1, 1]
    assert {each.get_figwidth() for each in apart} == {plots.SINGLE_IN}
    assert all(not each.get_suptitle() for each in apart)


def test_a_line_of_one_point_is_seen_beside_the_others(
    ask: Ask, run: Callable[..., Results]
) -> None:
    points = [keyed("a/x", 16), *(keyed("b/y", m) for m in BUCKETS)]
    (axes,) = plots.draw(shown(ask(), run(points))).axes
    (other,) = [c[0] for c in axes.containers if c.get_label() == "b/y"]
    (one,) = [c[0] for c in axes.containers if c.get_label() == "a/x"]
    assert other.get_markersize() <= one.get_markersize()


def test_variants_are_bars_beside_their_names(ask: Ask, run: Callable[..., Results]) -> None:
    experiment = ask(x="variant", buckets=[16])
    (axes,) = plots.draw(shown(experiment, run([keyed("a/x", 16, 2048.0), keyed("b/y", 16)]))).axes
    assert [each.get_text() for each in axes.get_yticklabels()] == ["a/x", "b/y"]
    bars = [each for each in axes.patches if isinstance(each, Rectangle)]
    assert [bar.get_width() for bar in bars if bar.get_width()] == [2, 1]


def test_a_figure_that_is_mostly_missing_is_left_out(ask: Ask, run: Callable[..., Results]) -> None:
    experiment = ask(variants=["a/x"], buckets=[2**bits for bits in range(1, 9)])
    reason = absent(experiment, run([keyed("a/x", 2), keyed("a/x", 4)]))
    assert reason.startswith("6 of 8 points of a/x")
    assert reason.endswith("run config.json")


def test_long_and_short_times_have_their_own_unit() -> None:
    assert grids.number(49350.0, "us") == "49.35 ms"
    assert grids.number(493.5, "us") == "493.5"
    assert grids.number(123456.0, "gb_per_s") == "123,456"


def test_what_a_gpu_counts_is_told_for_each_input(tmp_path: Path) -> None:
    counts = made_up.gpu_counters(
        1000,
        instructions_issued=2500,
        dram_read_bytes=4000,
        dram_written_bytes=500,
        thread_instructions=16_000,
        instructions_executed=1000,
    )
    document = made_up.results([point("harris/0", 1000, counters=counts)])
    (shown_point,) = load(made_up.write(document, tmp_path / "r.json")).points
    value = {name: MEASURES[name].of(shown_point) for name in EXPERIMENTS["harris-why"].y}
    assert value["instructions_per_input"] == (2.5, 2.5, 2.5)
    assert value["device_bytes_per_input"] == (4.5, 4.5, 4.5)
    assert value["lanes_per_instruction"] == (16.0, 16.0, 16.0)
    assert value["occupancy_share"] == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("counters", "reason"),
    [
        (None, "the run counted nothing"),
        ({"all": {"count": None, "unavailable": "forbidden"}}, "forbidden"),
    ],
)
def test_why_a_gpu_counted_nothing_is_told(
    tmp_path: Path, counters: made_up.Json | None, reason: str
) -> None:
    document = made_up.results([point("harris/0", 1000, counters=counters)])
    (shown_point,) = load(made_up.write(document, tmp_path / "r.json")).points
    for name in EXPERIMENTS["harris-why"].y[1:]:
        assert MEASURES[name].of(shown_point) is None
        assert MEASURES[name].unavailable(shown_point) == reason


def test_the_wall_time_is_that_of_its_mode(tmp_path: Path) -> None:
    timing = {"cold": made_up.summary(1000), "wall": made_up.summary(20_000)}
    made = [point("torch/reduce", 1000, timing=timing), point("cub/reduce", 1000)]
    both, cold = load(made_up.write(made_up.results(made), tmp_path / "r.json")).points
    assert MEASURES["us"].of(both) == pytest.approx((0.95, 1, 1.1))
    assert MEASURES["wall_us"].of(both) == pytest.approx((19, 20, 22))
    assert MEASURES["wall_us"].unavailable(both) is None
    assert MEASURES["wall_us"].of(cold) is None
    assert MEASURES["wall_us"].unavailable(cold) == "the run did not time it in the mode wall"

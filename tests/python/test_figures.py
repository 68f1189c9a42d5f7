"""What the sweeps over n show: one form of each family, data, gaps, crosses, ceilings."""

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path

import made_up
import numpy as np
import pytest
from made_up import CEILING_GB_PER_S, Json, known_wrong, point, unmeasured, write
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from reduce_bench_report import configuration, figures, grids, plots, regenerate
from reduce_bench_report.evaluate import Evaluation, evaluate
from reduce_bench_report.experiments import EXPERIMENTS, SWEEPS
from reduce_bench_report.loader import ELEMENT_BYTES, InputError, Results, load

SIZES = [1024, 2048, 4096]
OF_FAMILIES = (
    "Each line is the variant of its family that is fastest at the largest size at which the "
    "family was timed. At smaller sizes another variant of the family may be faster"
)

Swept = Callable[..., Results]


@pytest.fixture
def swept(tmp_path: Path) -> Swept:
    """Results of a run that was asked for these points."""

    def written(points: list[Json], name: str = "r.json", **changes: object) -> Results:
        asked = {key: sorted({p[key] for p in points}) for key in ("variant", "n", "type", "op")}
        sweep = {"variants": asked.pop("variant"), **asked}
        config = {"schema": 1, "sweeps": [sweep]}
        gpu = any(p["backend"] == "cuda" for p in points)
        document = made_up.results(points, gpu=gpu) | {"config": config} | changes
        return load(write(document, tmp_path / name))

    return written


def line(variant: str, times: list[float], **changes: object) -> list[Json]:
    return [point(variant, n, time, **changes) for n, time in zip(SIZES, times, strict=True)]


def shown(results: Results, name: str = "reduce-gbs") -> Evaluation:
    made = evaluate(EXPERIMENTS[name], [results], {})
    assert isinstance(made, Evaluation), made
    return made


def drawn(results: Results, name: str = "reduce-gbs") -> Figure:
    return plots.draw(shown(results, name))


def labels(results: Results) -> list[list[str]]:
    return [[series.label for series in panel.series] for panel in shown(results).panels]


def line_of(axes: Axes, label: str) -> tuple[list[float], list[float]]:
    container = next(each for each in axes.containers if each.get_label() == label)
    drawn = container[0]
    assert isinstance(drawn, Line2D)
    return list(np.asarray(drawn.get_xdata())), list(np.asarray(drawn.get_ydata()))


def crosses(axes: Axes) -> list[tuple[float, float]]:
    found = [each for each in axes.lines if each.get_gid() == "no-result"]
    return sorted((each.get_xdata()[0], each.get_ydata()[0]) for each in found)


# which form stands for a family


def test_the_fastest_at_the_largest_size_represents(swept: Swept) -> None:
    results = swept([*line("harris/a", [10, 20, 50]), *line("harris/b", [20, 30, 40])])
    assert labels(results) == [["harris/b"]]


def test_wrong_and_known_wrong_never_represent(swept: Swept) -> None:
    points = line("harris/good", [40, 40, 40])
    for n in SIZES:
        points.append(known_wrong("harris/racy", n, 1.0))
        points.append(point("harris/lucky", n, 1.0, known_wrong=True))
        points.append(unmeasured("harris/bad", n, "wrong", "differs"))
    assert labels(swept(points)) == [["harris/good"]]


def test_a_form_that_reaches_further_represents(swept: Swept) -> None:
    short = [*line("harris/small", [1, 1, 1])[:2]]
    short.append(unmeasured("harris/small", 4096, "skipped", "too large"))
    assert labels(swept([*short, *line("harris/large", [99, 99, 99])])) == [["harris/large"]]


def test_one_that_finishes_on_the_host_is_no_rival(swept: Swept) -> None:
    points = [*line("a/x", [5, 5, 5]), *line("a/y", [1, 1, 1], finish="host")]
    assert labels(swept(points)) == [["a/x", "a/y (host)"]]


def test_a_family_without_a_time_is_crosses(swept: Swept) -> None:
    points = [*line("a/x", [9, 9, 9]), *(known_wrong("racy/x", n, 1.0) for n in SIZES)]
    axes, *_ = drawn(swept(points)).axes
    assert [n for n, _ in crosses(axes)] == SIZES
    assert all(math.isnan(y) for y in line_of(axes, "racy/x")[1])


def test_a_representative_is_of_one_set_of_parameters(swept: Swept) -> None:
    slow = line("a/x", [1, 1, 10], params={"block": "128"})
    fast = line("a/x", [5, 5, 5], params={"block": "256"})
    (series,) = shown(swept([*slow, *fast])).panels[0].series
    assert [p.params for p in series.points.values()] == [(("block", "256"),)] * 3


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        (["a/x", "a/y", "b/x", "cpu/x"], f"{OF_FAMILIES}. Measured: "),
        (["cpu/x", "cpu/y"], "Each line is a variant. Measured: "),
        (
            ["a/x", "a/y", "cpu/x", "cpu/y"],
            f"{OF_FAMILIES}. Each variant of cpu has a line of its own. Measured: ",
        ),
    ],
)
def test_the_caption_says_whether_a_line_is_a_family_or_a_variant(
    swept: Swept, variants: list[str], said: str
) -> None:
    made = shown(swept([p for each in variants for p in line(each, [5, 5, 5], backend="cpu")]))
    assert grids.notes(made)[0].startswith(said)


# which points share a panel


def test_only_comparable_points_share_a_panel(swept: Swept) -> None:
    times: list[float] = [9, 9, 9]
    points = [
        *line("a/x", times),
        *line("a/x", times, type="f64"),
        *line("a/x", times, op="min"),
        *line("a/x", times, distribution={"name": "cancelling", "condition": 1e6}),
        *line("a/x", times, backend="cpu"),
        *line("a/x", times, primary_mode="hot"),
    ]
    points += line("b/x", times, operation="histogram", labels={"name": "uniform"}, buckets=4)
    sweep = {"variants": ["a/x"], "n": SIZES, "type": ["i32", "f64"], "op": ["sum", "min"]}
    sweep["distribution"] = ["uniform", {"name": "cancelling", "condition": 1e6}]
    hot = sweep | {"measurement": {"modes": ["hot"]}}
    made = shown(swept(points, config={"schema": 1, "sweeps": [sweep, hot]}))
    assert [panel.title for panel in made.panels] == [
        "cuda, i32, sum, uniform, cold",
        "cuda, f64, sum, uniform, cold",
        "cuda, i32, min, uniform, cold",
        "cuda, i32, sum, cancelling(condition=1e+06), cold",
        "cpu, i32, sum, uniform, cold",
        "cuda, i32, sum, uniform, hot",
    ]


def test_two_sizes_make_no_line(swept: Swept) -> None:
    points = [*line("a/x", [9, 9, 9]), *line("a/x", [9, 9, 9], type="f32")[:2]]
    assert [panel.title for panel in shown(swept(points)).panels] == [
        "cuda, i32, sum, uniform, cold"
    ]
    made = evaluate(EXPERIMENTS["reduce-gbs"], [swept(points[:2])], {})
    assert not isinstance(made, Evaluation)
    assert made.reason == "no reduce has points at 3 or more n"


def test_a_run_that_does_not_say_what_it_was_asked_for(swept: Swept) -> None:
    sweep = {"variants": ["a/x"], "n": [{"pow2": "all"}]}
    config = {"schema": 1, "sweeps": [sweep]}
    made = evaluate(EXPERIMENTS["reduce-gbs"], [swept(line("a/x", [9, 9, 9]), config=config)], {})
    assert not isinstance(made, Evaluation)
    assert "r.json' breaks its schema at /sweeps/0/n" in made.reason


def test_points_of_several_runs_make_no_line(swept: Swept) -> None:
    few = swept(line("a/x", [9, 9, 9]), "few.json")
    many = swept([*line("a/x", [7, 7, 7]), *line("b/x", [7, 7, 7])], "many.json")
    made = evaluate(EXPERIMENTS["reduce-time"], [few, many], {})
    assert isinstance(made, Evaluation)
    assert [run.path.name for run in made.runs] == ["many.json"]


# what is drawn


def test_lines_hold_the_medians(swept: Swept) -> None:
    results = swept(line("a/x", [20, 40, 80])[::-1])
    rates = [4 * n / time for n, time in zip(SIZES, [20, 40, 80], strict=True)]
    expected = {
        "reduce-gbs": rates,
        "reduce-share": [rate / CEILING_GB_PER_S for rate in rates],
        "reduce-time": [0.02, 0.04, 0.08],
    }
    assert list(expected) == [sweep.id for sweep in SWEEPS]
    for name, values in expected.items():
        axes, *_ = drawn(results, name).axes
        x, y = line_of(axes, "a/x")
        assert x == SIZES
        assert y == pytest.approx(values)
        assert axes.get_xscale() == "log"
        scales = [each.get_yscale() for each in drawn(results, name).axes]
        assert scales == (["log"] if name == "reduce-time" else ["linear", "log"])


def test_two_subplots_of_the_same_values_name_their_scales(swept: Swept) -> None:
    results = swept(line("a/x", [20, 40, 80]))
    titles = [axes.get_title() for axes in drawn(results, "reduce-share").axes]
    of_panel = "cuda, i32, sum, uniform, cold"
    assert titles == [f"linear scale\n{of_panel}", f"logarithmic scale\n{of_panel}"]
    assert [axes.get_title() for axes in drawn(results, "reduce-time").axes] == [of_panel]


def test_missing_points_break_the_line_and_leave_crosses(swept: Swept) -> None:
    points = [
        point("a/x", 512, 10.0),
        point("a/x", 1024, 20.0),
        unmeasured("a/x", 2048, "skipped", "needs an even number of tiles"),
        known_wrong("a/x", 4096, 40.0),
        point("a/x", 8192, 80.0),
        point("b/y", 1024, 20.0),
        unmeasured("b/y", 2048, "failed", "crashed"),
    ]
    made = shown(swept(points))  # which was asked for b/y at every size
    axes, *_ = plots.draw(made).axes
    x, y = line_of(axes, "a/x")
    assert x == [512, 1024, 2048, 4096, 8192]
    assert [math.isnan(value) for value in y] == [False, False, True, True, False]
    at = crosses(axes)
    assert [n for n, _ in at] == [512, 2048, 2048, 4096, 4096, 8192]
    assert len(set(at)) == len(at)  # two at one n stand apart
    assert all(height < 0.1 for _, height in at)
    about = regenerate.about(made, "Redraw: command")
    assert "a/x at n = 2^11: skipped (needs an even number of tiles)." in about
    assert "a/x at n = 2^12: wrong (known) (races, see errata)." in about
    assert "b/y at n = 2^11: failed (crashed)." in about
    assert "b/y at n = 512, 2^12, 2^13: missing." in about


def test_a_run_says_itself_which_points_it_lacks(swept: Swept) -> None:
    measured = [point(variant, n) for variant in ("a/x", "b/y") for n in (512, 1024, 2048)]
    run = swept(measured[:-1], interrupted=True)
    lacking = {**measured[-1], "index": 5}
    planned = {"points": 6, "sweeps": [list(range(6))], "missing": [lacking]}
    told = dataclasses.replace(run, document=run.document | {"planned": planned})
    assert "b/y at n = 2^11: missing." in regenerate.about(shown(told), "Redraw: command")
    every = dataclasses.replace(
        told, document=told.document | {"planned": planned | {"missing": []}}
    )
    assert "missing" not in regenerate.about(shown(every), "Redraw: command")


@pytest.mark.parametrize(
    ("sweeps", "message"),
    [
        ([[0, 1], [2]], "is 1 in 'config', but 2 in 'planned'; run it again"),
        ([[0, 1]], "the missing point 2 of 'planned' is in no sweep; run it again"),
    ],
)
def test_a_run_that_was_altered_does_not_say_what_it_lacks(
    swept: Swept, sweeps: list[list[int]], message: str
) -> None:
    measured = [point("a/x", n) for n in SIZES]
    run = swept(measured[:-1], interrupted=True)
    planned = {"points": 3, "sweeps": sweeps, "missing": [{**measured[-1], "index": 2}]}
    told = dataclasses.replace(run, document=run.document | {"planned": planned})
    with pytest.raises(InputError, match=message):
        configuration.asked_of(told)


@pytest.mark.parametrize("name", ["i32", "f64"])
def test_the_ceiling_reads_the_inputs_alone(swept: Swept, name: str) -> None:
    # one that moves twice the bytes shows twice the GB/s, below the same ceiling
    twice = {"bytes": None, "gb_per_s": 8.0, "ceiling_share": 0.001, "type": name}
    size = ELEMENT_BYTES[name]
    times = [n * size / 4.0 for n in SIZES]
    axes, *_ = drawn(swept(line("a/x", times, **twice))).axes
    (ceiling,) = [each for each in axes.lines if each.get_gid() == "ceiling"]
    assert list(ceiling.get_ydata()) == pytest.approx([CEILING_GB_PER_S] * 3)
    assert line_of(axes, "a/x")[1] == [8.0] * 3


def test_empty_input_is_left_off_the_log_axis(swept: Swept) -> None:
    points = [point("a/x", 0, items_per_s=None, ceiling_share=0.5), *line("a/x", [9, 9, 9])]
    for sweep in SWEEPS:
        axes, *_ = drawn(swept(points), sweep.id).axes
        assert axes.get_xscale() == "log"
        assert line_of(axes, "a/x")[0] == SIZES


def test_ticks_are_powers_of_two_where_there_are_some(swept: Swept) -> None:
    points = [*line("a/x", [9, 9, 9]), point("a/x", 1500, 9.0)]
    figure = drawn(swept(points))
    assert [each.get_text() for each in figure.axes[0].get_xticklabels()] == ["2¹⁰", "2¹¹", "2¹²"]


@pytest.mark.parametrize(
    ("times", "numbers"),
    [([3e3, 8e3, 3e4], ["5 µs", "10 µs", "20 µs"]), ([3e3, 8e3, 3e6], ["10 µs", "100 µs", "1 ms"])],
)
def test_a_log_axis_has_numbers(swept: Swept, times: list[float], numbers: list[str]) -> None:
    figure = drawn(swept(line("a/x", times, ceiling_share=None)), "reduce-time")
    (axes,) = figure.axes
    assert numbers_of(figure, axes) == numbers


def test_a_log_axis_of_shares_is_in_per_cent(swept: Swept) -> None:
    figure = drawn(swept(line("a/x", [3e3, 8e3, 3e4])), "reduce-share")
    _, logarithmic = figure.axes
    numbers = numbers_of(figure, logarithmic)
    assert numbers and all(number.endswith("%") for number in numbers), numbers


def numbers_of(figure: Figure, axes: Axes) -> list[str]:
    """The texts beside the y axis, in the order of their places."""
    figure.draw_without_rendering()
    low, high = axes.get_ylim()
    axis = axes.yaxis
    shown = sorted(
        (place, text)
        for minor in (False, True)
        for place, text in zip(
            axis.get_ticklocs(minor=minor),
            [label.get_text() for label in axis.get_ticklabels(minor=minor)],
            strict=True,
        )
        if text and low <= place <= high
    )
    labels = [*axis.get_ticklabels(), *axis.get_ticklabels(minor=True)]
    assert len({label.get_fontsize() for label in labels}) == 1
    return [text for _, text in shown]


def test_results_without_ceilings(swept: Swept) -> None:
    points = line("a/x", [9, 9, 9], ceiling_share=None, peak_share=None)
    results = swept(points, ceilings={})
    assert all(math.isnan(y) for y in line_of(drawn(results, "reduce-share").axes[0], "a/x")[1])
    axes, *_ = drawn(results).axes
    assert [each for each in axes.lines if each.get_gid() == "ceiling"] == []


def test_cpu_results(swept: Swept) -> None:
    made = shown(swept(line("cpu/serial", [9, 9, 9], backend="cpu")))
    about = regenerate.about(made, "Redraw: command")
    assert "Imaginary CPU" in about
    assert "driver" not in about


def test_what_a_file_says_of_itself(swept: Swept) -> None:
    results = swept(line("a/x", [9, 9, 9]), interrupted=True)
    made = shown(results)
    text = regenerate.about(made, regenerate.redraw_command(made, ["--where", "type=i32"]))
    for part in ("NVIDIA Imaginary 1", "driver 580.65.06", "0123456789", "2026-01-31"):
        assert part in text
    assert f"sha256 {results.sha256[:12]}, interrupted" in text
    assert f"--results {results.path} --only reduce-gbs --where type=i32" in text


def test_clip_paths_are_named_by_their_order_and_not_by_a_hash() -> None:
    drawing = (
        '<path clip-path="url(#p{0})"/><g clip-path="url(#p{1})"/><use xlink:href="#m{0}"/>'
        '<clipPath id="p{1}"><rect/></clipPath><clipPath id="p{0}"><rect/></clipPath>'
    )
    drawn = [
        figures.number_clip_paths(drawing.format(*hashes).replace(f"#m{hashes[0]}", "#m1"))
        for hashes in (("2111f3bbac", "07"), ("9c28bdcbaa", "f3"))
    ]
    assert drawn[0] == drawn[1]
    assert 'path clip-path="url(#clip2)"' in drawn[0]
    assert '<clipPath id="clip1">' in drawn[0]
    assert "#m1" in drawn[0]


def test_saved_figures_are_reproducible(swept: Swept, tmp_path: Path) -> None:
    made = shown(swept(line("a/x", [9, 9, 9], params={"math": "$1$"})))
    contents = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        written = regenerate.save_all([made], folder, ["svg", "png", "pdf"])
        assert [path.name for path in written] == [
            f"reduce-gbs.{extension}" for extension in ("md", "csv", "tex", "svg", "png", "pdf")
        ]
        contents.append([path.read_bytes() for path in written])
    assert contents[0] == contents[1]
    assert contents[0][3].startswith(b"<?xml")
    assert contents[0][4].startswith(b"\x89PNG")

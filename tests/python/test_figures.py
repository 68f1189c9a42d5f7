"""What the figures really draw: data, gaps, crosses, ceilings, caption."""

import math
from pathlib import Path

import numpy as np
import pytest
from conftest import Loaded
from made_up import CEILING_GB_PER_S, known_wrong, point, results, unmeasured, write
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from reduce_bench_report import figures
from reduce_bench_report.loader import Results, load
from reduce_bench_report.select import panels


def drawn(name: str, made: Results) -> Figure:
    return figures.draw(name, panels(made.points), made, "Redraw: command")


def line_of(axes: Axes, label: str) -> Line2D:
    container = next(each for each in axes.containers if each.get_label() == label)
    line = container[0]
    assert isinstance(line, Line2D)
    return line


def data(line: Line2D) -> tuple[list[float], list[float]]:
    return list(np.asarray(line.get_xdata())), list(np.asarray(line.get_ydata()))


def crosses(axes: Axes) -> list[tuple[float, float]]:
    return [
        (data(line)[0][0], data(line)[1][0]) for line in axes.lines if line.get_gid() == "no-result"
    ]


def caption(figure: Figure) -> str:
    text = figure.get_supxlabel()
    assert isinstance(text, str)
    return " ".join(text.split())


def test_lines_hold_the_medians(loaded: Loaded) -> None:
    made = loaded([point("a/x", 4096, 40.0), point("a/x", 1024, 20.0)])
    expected = {
        "reduce-gbs": [1024 * 4 / 20, 4096 * 4 / 40],
        "reduce-share": [1024 * 4 / 20 / CEILING_GB_PER_S, 4096 * 4 / 40 / CEILING_GB_PER_S],
        "reduce-time": [20, 40],
    }
    assert list(expected) == list(figures.FIGURES)
    for name, values in expected.items():
        x, y = data(line_of(drawn(name, made).axes[0], "a/x"))
        assert x == [1024, 4096]
        assert y == pytest.approx(values)


def test_whiskers_span_the_quartiles(loaded: Loaded) -> None:
    made = loaded([point("a/x", 1024, 20.0)])
    for name, low, high in (
        ("reduce-time", 0.95 * 20, 1.1 * 20),
        ("reduce-gbs", 4096 / (1.1 * 20), 4096 / (0.95 * 20)),
    ):
        container = drawn(name, made).axes[0].containers[0]
        (segment,) = container[2][0].get_segments()
        assert [y for _, y in segment] == pytest.approx([low, high])


def test_missing_points_break_the_line_and_leave_crosses(loaded: Loaded) -> None:
    made = loaded(
        [
            point("a/x", 1024, 20.0),
            unmeasured("a/x", 2048, "skipped", "needs an even number of tiles"),
            known_wrong("a/x", 4096, 40.0),
            point("a/x", 8192, 80.0),
            point("b/y", 1024, 20.0),
            unmeasured("b/y", 2048, "failed", "crashed"),
        ]
    )
    figure = drawn("reduce-gbs", made)
    axes = figure.axes[0]
    x, y = data(line_of(axes, "a/x"))
    assert x == [1024, 2048, 4096, 8192]
    assert [math.isnan(value) for value in y] == [False, True, True, False]
    at = sorted(crosses(axes))
    assert [n for n, _ in at] == [2048, 2048, 4096]
    assert len(set(at)) == 3  # two at one n stand apart
    assert all(height < 0.1 for _, height in at)
    text = caption(figure)
    assert "a/x at n = 2^11: skipped (needs an even number of tiles)" in text
    assert "a/x at n = 2^12: wrong (known) (races, see errata)" in text
    assert "b/y at n = 2^11: failed (crashed)" in text


def test_family_without_a_time_is_named(loaded: Loaded) -> None:
    made = loaded([point("a/x", 8), known_wrong("racy/x", 8, 1.0)])
    figure = drawn("reduce-gbs", made)
    assert [container.get_label() for container in figure.axes[0].containers] == ["a/x"]
    assert "racy: no line, every point is wrong (known)" in caption(figure)


def test_no_ranked_point_at_all(loaded: Loaded) -> None:
    made = loaded([unmeasured("a/x", 1024, "failed", "crashed")])
    for name in figures.FIGURES:
        assert "a: no line, every point is failed" in caption(drawn(name, made))


def test_empty_input_is_left_off_the_log_axis(loaded: Loaded) -> None:
    made = loaded([point("a/x", 0, items_per_s=None), point("a/x", 16)])
    assert data(line_of(drawn("reduce-time", made).axes[0], "a/x"))[0] == [16]


def test_axes_scales(loaded: Loaded) -> None:
    made = loaded([point("a/x", 1024)])
    for name, scale in (
        ("reduce-gbs", "linear"),
        ("reduce-share", "linear"),
        ("reduce-time", "log"),
    ):
        axes = drawn(name, made).axes[0]
        assert axes.get_xscale() == "log"
        assert axes.get_yscale() == scale
        low, high = axes.get_xlim()
        assert low < 1024 < high


def test_ceiling_is_the_best_shape_of_each_size(loaded: Loaded) -> None:
    made = loaded([point("a/x", 1 << 20, type="f64")])
    axes = drawn("reduce-gbs", made).axes[0]
    ceiling = next(line for line in axes.lines if line.get_label() == "read ceiling")
    x, y = data(ceiling)
    assert x == [(1 << bits) / 8 for bits in (22, 26, 30)]
    assert y == pytest.approx([share * CEILING_GB_PER_S for share in (0.25, 0.8, 1.0)])
    assert any(line.get_label() == "datasheet peak" for line in axes.lines)


@pytest.mark.parametrize(("name", "size"), [("u8", 1), ("u32", 4)])
def test_ceiling_of_counted_types(loaded: Loaded, name: str, size: int) -> None:
    sizes = [point("a/x", n, type=name, op="none", operation="histogram") for n in (8, 16, 32)]
    axes = drawn("reduce-gbs", loaded(sizes)).axes[0]
    ceiling = next(line for line in axes.lines if line.get_label() == "read ceiling")
    assert data(ceiling)[0] == [(1 << bits) / size for bits in (22, 26, 30)]


def test_one_subplot_for_each_type(loaded: Loaded) -> None:
    made = loaded([point("a/x", 8, type=name) for name in ("f64", "i32", "f32")])
    titles = [axes.get_title() for axes in drawn("reduce-gbs", made).axes if axes.axison]
    assert [title.split()[0] for title in titles] == ["i32", "f32", "f64"]


def test_families_differ_without_colour(loaded: Loaded) -> None:
    names = [f"f{index:02}/x" for index in range(20)]
    made = loaded([point(name, 1024) for name in names])
    axes = drawn("reduce-gbs", made).axes[0]
    lines = [line_of(axes, name) for name in names]
    assert len({(line.get_marker(), line.get_linestyle()) for line in lines}) == len(names)


def test_a_family_looks_the_same_in_any_selection(loaded: Loaded) -> None:
    made = loaded([point("a/x", 8), point("b/x", 8), point("b/x", 8, type="f32")])
    whole = drawn("reduce-gbs", made)
    part = figures.draw(
        "reduce-gbs", panels(p for p in made.points if p.type == "f32"), made, "Redraw: command"
    )
    assert line_of(whole.axes[1], "b/x").get_color() == line_of(part.axes[0], "b/x").get_color()


def test_caption_says_where_the_numbers_come_from(loaded: Loaded) -> None:
    made = loaded([point("a/x", 8)])
    text = caption(drawn("reduce-gbs", made))
    for part in ("NVIDIA Imaginary 1", "driver 580.65.06", "0123456789", "2026-01-31", "Redraw:"):
        assert part in text
    assert made.sha256[:12] in text
    assert "interrupted" not in text


def test_caption_tells_of_an_interrupted_run(tmp_path: Path) -> None:
    document = results([point("a/x", 8)]) | {"interrupted": True}
    made = load(write(document, tmp_path / "r.json"))
    assert f"sha256 {made.sha256[:12]}, interrupted" in caption(drawn("reduce-gbs", made))


def test_cpu_results(loaded: Loaded) -> None:
    made = loaded([point("cpu/serial", 1024, backend="cpu")], gpu=False)
    for name in figures.FIGURES:
        figure = drawn(name, made)
        assert "Imaginary CPU" in caption(figure)
        assert "driver" not in caption(figure)
        labels = {line.get_label() for line in figure.axes[0].lines}
        assert labels.isdisjoint({"datasheet peak", "empty launch"})


def test_results_without_ceilings(tmp_path: Path) -> None:
    document = results([point("a/x", 8, ceiling_share=None, peak_share=None)]) | {"ceilings": {}}
    made = load(write(document, tmp_path / "r.json"))
    _, y = data(line_of(drawn("reduce-share", made).axes[0], "a/x"))
    assert math.isnan(y[0])
    assert data(line_of(drawn("reduce-gbs", made).axes[0], "a/x"))[1] == [32 / 1000]


def test_saved_figures_are_reproducible(loaded: Loaded, tmp_path: Path) -> None:
    made = loaded([point("a/x", 8)])
    contents = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        written = figures.save_all(panels(made.points), made, folder, ["svg", "png"], "Redraw: $1$")
        assert [path.name for path in written] == [
            f"{name}.{extension}" for name in figures.FIGURES for extension in ("svg", "png")
        ]
        contents.append([path.read_bytes() for path in written])
    assert contents[0] == contents[1]
    assert contents[0][0].startswith(b"<?xml")
    assert contents[0][1].startswith(b"\x89PNG")

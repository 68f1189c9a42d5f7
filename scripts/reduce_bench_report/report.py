"""One self-contained HTML page of a run: environment, ceilings, ranking, figures, every point."""

import html
from collections.abc import Iterable, Sequence

from reduce_bench_report import figures
from reduce_bench_report.loader import Point, Results
from reduce_bench_report.select import Line, Panel, size_text, time_text

RANKS_SHOWN = 5

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 90rem; margin: 2rem auto; padding: 0 1rem;
       color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; font-size: 13px; margin: .5rem 0 1.5rem; }
caption { text-align: left; color: #555; padding-bottom: .3rem; }
th, td { border-bottom: 1px solid #ddd; padding: .2rem .6rem; text-align: left;
         vertical-align: top; }
thead th { border-bottom: 2px solid #888; position: sticky; top: 0; background: #fff; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.bad td { color: #8a3200; }
svg { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
"""


def page(panels: Sequence[Panel], results: Results, redraw_command: str) -> str:
    interrupted = (
        "<p><strong>The run was interrupted: points are missing.</strong></p>"
        if results.document["interrupted"]
        else ""
    )
    sections = [
        ("Environment", _environment(results)),
        ("Ceilings", _ceilings(results)),
        ("Ranking", _ranking(panels)),
        ("Figures", _figures(panels, results, redraw_command)),
        ("All points", _points(point for panel in panels for point in _in_order(panel))),
    ]
    title = f"reduce-bench: {_text(results.device)}"
    body = "\n".join(f"<h2>{heading}</h2>\n{content}" for heading, content in sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f"<p>{_text(results.provenance)}</p>\n{interrupted}{body}\n</body>\n</html>\n"
    )


def _text(value: object) -> str:
    return html.escape(str(value))


def _table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    caption: str = "",
    numeric: Iterable[str] = (),
    bad_rows: Iterable[int] = (),
) -> str:
    numeric_columns = {headings.index(name) for name in numeric}
    bad = set(bad_rows)
    lines = []
    for index, row in enumerate(rows):
        cells = "".join(
            f'<td class="number">{_text(cell)}</td>'
            if column in numeric_columns
            else f"<td>{_text(cell)}</td>"
            for column, cell in enumerate(row)
        )
        lines.append(f'<tr class="bad">{cells}</tr>' if index in bad else f"<tr>{cells}</tr>")
    head = "".join(f'<th scope="col">{_text(heading)}</th>' for heading in headings)
    return (
        f'<div class="wide"><table><caption>{_text(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody></table></div>"
    )


def _environment(results: Results) -> str:
    rows: list[tuple[str, object]] = []
    for key, value in results.environment.items():
        name = key.replace("_", " ")
        if isinstance(value, dict):
            rows += [(f"{name}: {inner.replace('_', ' ')}", each) for inner, each in value.items()]
        elif isinstance(value, list):
            rows.append((name, " ".join(map(str, value))))
        else:
            rows.append((name, value))
    shown = [(name, "none" if value is None else value) for name, value in rows]
    noise = results.document["noise_floor"]["relative"]
    shown.append(("A/A noise floor", "not measured" if noise is None else f"{noise:.2%}"))
    return _table(["what", "value"], shown)


def _ceilings(results: Results) -> str:
    parts = []
    for backend, ceiling in results.document["ceilings"].items():
        rows = [
            ("read", f"{entry['bytes']:,}", entry["shape"], time_text(entry["median_ns"]),
             f"{entry['gb_per_s']:.4g}")
            for entry in ceiling["read"]
        ]  # fmt: skip
        copy = ceiling["copy"]
        if copy:
            rows.append(
                ("copy", f"{copy['bytes']:,}", "", time_text(copy["median_ns"]),
                 f"{copy['gb_per_s']:.4g}")
            )  # fmt: skip
        if ceiling["empty_launch_ns"]:
            rows.append(("empty launch", "", "", time_text(ceiling["empty_launch_ns"]), ""))
        parts.append(
            _table(
                ["what", "bytes", "shape", "median", "GB/s"],
                rows,
                caption=f"{backend}, measured in this run",
                numeric=["bytes", "median", "GB/s"],
            )
        )
    return "\n".join(parts) or "<p>None measured.</p>"


def ranking(panel: Panel, n: int) -> list[tuple[Line, Point]]:
    """The ranked points of one size, fastest first."""
    at_n = [
        (line, point)
        for line in panel.lines
        for point in line.points
        if point.n == n and point.ranked
    ]
    return sorted(at_n, key=lambda pair: pair[1].time_ns())


def _ranking(panels: Sequence[Panel]) -> str:
    parts = []
    for panel in panels:
        rows = []
        for n in panel.sizes:
            ranked = [
                f"{line.label}: {time_text(point.time_ns())}"
                + ("" if point.ceiling_share is None else f" ({point.ceiling_share:.0%})")
                for line, point in ranking(panel, n)[:RANKS_SHOWN]
            ]
            rows.append([size_text(n), *ranked, *[""] * (RANKS_SHOWN - len(ranked))])
        parts.append(
            _table(
                ["n", *(str(rank) for rank in range(1, RANKS_SHOWN + 1))],
                rows,
                caption=f"{panel.title}: fastest by median, with the share of the read ceiling",
                numeric=["n"],
            )
        )
    return "\n".join(parts) + (
        "<p>Variants documented as wrong and points without a verified result are never ranked. "
        "(host): timed until the result is on the host.</p>"
    )


def _figures(panels: Sequence[Panel], results: Results, redraw_command: str) -> str:
    return "\n".join(
        f"<figure>{figures.svg_element(figures.draw(name, panels, results, redraw_command))}"
        "</figure>"
        for name in figures.FIGURES
    )


def _in_order(panel: Panel) -> list[Point]:
    return [point for line in panel.lines for point in line.points]


def _points(points: Iterable[Point]) -> str:
    headings = [
        "variant", "params", "backend", "n", "type", "op", "distribution", "mode", "finish",
        "status", "median", "p25", "p75", "samples", "GB/s", "share", "error, ulp", "reason",
    ]  # fmt: skip
    rows: list[list[object]] = []
    bad_rows = []
    for index, point in enumerate(points):
        timing = point.timing.get(point.mode)
        verification = point.raw["verification"]
        error_ulp = verification["error_ulp"] if verification else None
        if not point.ranked:
            bad_rows.append(index)
        rows.append(
            [
                point.variant,
                " ".join(f"{name}={value}" for name, value in point.params),
                point.backend,
                f"{point.n:,}",
                point.type,
                point.op,
                point.distribution,
                point.mode,
                point.finish,
                point.outcome,
                time_text(timing["median_ns"]) if timing else "",
                time_text(timing["p25_ns"]) if timing else "",
                time_text(timing["p75_ns"]) if timing else "",
                timing["samples"] if timing else "",
                "" if point.gb_per_s is None else f"{point.gb_per_s:.4g}",
                "" if point.ceiling_share is None else f"{point.ceiling_share:.1%}",
                "" if error_ulp is None else f"{error_ulp:g}",
                point.reason or "",
            ]
        )
    return _table(
        headings,
        rows,
        numeric=["n", "median", "p25", "p75", "samples", "GB/s", "share", "error, ulp"],
        bad_rows=bad_rows,
    )

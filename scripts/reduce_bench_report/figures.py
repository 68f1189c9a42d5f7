"""Writes figures as files, the same bytes for the same input."""

import io
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from reduce_bench_report import interrupts

FORMATS = ("svg", "png", "pdf")
DATES = {"svg": "Date", "pdf": "CreationDate"}  # left out, so that files can be compared

Drawn = TypeVar("Drawn")


def fix_layout(figure: Figure) -> None:
    """Lays the figure out once, so that every format has the same layout."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    figure.set_layout_engine("none")


def save(
    figure: Figure, target: Path | BinaryIO, extension: str, about: str = "", dpi: int = 150
) -> None:
    """Writes the figure with `about` in its metadata; the same input gives the same bytes."""
    metadata: dict[str, str | None] = {}
    if about:
        metadata["Subject" if extension == "pdf" else "Description"] = about
    if extension in DATES:
        metadata[DATES[extension]] = None
    with matplotlib.rc_context({"svg.hashsalt": "reduce-bench", "pdf.fonttype": 42}):
        if extension == "svg":
            drawn = io.BytesIO()
            # savefig would draw it once more before, for the layout, which is fixed
            FigureCanvasSVG(figure).print_svg(drawn, metadata=metadata)  # type: ignore[no-untyped-call]
            write(target, number_clip_paths(drawn.getvalue().decode()).encode())
        else:
            figure.savefig(target, format=extension, dpi=dpi, metadata=metadata)


def write(target: Path | BinaryIO, data: bytes) -> None:
    if isinstance(target, Path):
        target.write_bytes(data)
    else:
        target.write(data)


def number_clip_paths(svg: str) -> str:
    """The drawing with its clip paths named in their order, as `clip1`.

    Matplotlib names them by a hash of their unrounded coordinates, whose last bits depend on the
    processor that draws.
    """
    names: dict[str, str] = {}
    for found in re.findall(r'<clipPath id="(\w+)"', svg):
        names.setdefault(found, f"clip{len(names) + 1}")
    return re.sub(
        r'(?<=<clipPath id=")\w+|(?<=clip-path="url\(#)\w+', lambda name: names[name[0]], svg
    )


def svg_element(figure: Figure) -> str:
    """The figure as an SVG element to stand in an HTML page."""
    buffer = io.BytesIO()
    save(figure, buffer, "svg")
    text = buffer.getvalue().decode()
    return text[text.index("<svg") :]


def in_parallel(
    draw_one: Callable[..., Drawn], arguments: Sequence[tuple[Any, ...]]
) -> list[Drawn]:
    """The results of the calls, in order, on all cores: drawing takes a second a figure."""
    if len(arguments) < 2:
        return [draw_one(*each) for each in arguments]
    workers = min(len(arguments), os.cpu_count() or 1)
    with ProcessPoolExecutor(workers, initializer=interrupts.ignore) as pool:
        with interrupts.put_off():
            running = [pool.submit(draw_one, *each) for each in arguments]
        try:
            return [each.result() for each in running]
        except BaseException:
            pool.shutdown(cancel_futures=True)  # or it would draw all of them first
            raise

"""Makes figures into files, the same bytes for the same input."""

import io
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

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


def drawn(figure: Figure, extension: str, about: str = "", dpi: int = 150) -> bytes:
    """A file of the figure with `about` in its metadata; the same input gives the same bytes."""
    metadata: dict[str, str | None] = {}
    if about:
        metadata["Subject" if extension == "pdf" else "Description"] = about
    if extension in DATES:
        metadata[DATES[extension]] = None
    file = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "reduce-bench", "pdf.fonttype": 42}):
        if extension == "svg":
            # savefig would draw it once more before, for the layout, which is fixed
            FigureCanvasSVG(figure).print_svg(file, metadata=metadata)  # type: ignore[no-untyped-call]
            return number_clip_paths(file.getvalue().decode()).encode()
        figure.savefig(file, format=extension, dpi=dpi, metadata=metadata)
    return file.getvalue()


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
    text = drawn(figure, "svg").decode()
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

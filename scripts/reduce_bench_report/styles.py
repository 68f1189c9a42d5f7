"""How lines and points look: in the figures, which Matplotlib draws, and on the page of `report`.

Whoever draws takes a look from here and decides nothing of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# Okabe and Ito's palette without yellow, which is too faint on white. The cycle lengths are
# coprime, so that lines that share a colour differ in marker and dashes.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")


@dataclass(frozen=True)
class Marker:
    """One marker by its name in each library, and as a character for legends."""

    matplotlib: str
    plotly: str
    glyph: str


@dataclass(frozen=True)
class Dashes:
    """One line style by its name in each library, and as `stroke-dasharray` of SVG."""

    matplotlib: str
    plotly: str
    svg: str


MARKERS = (
    Marker("o", "circle", "●"),
    Marker("s", "square", "■"),
    Marker("^", "triangle-up", "▲"),
    Marker("D", "diamond", "◆"),
    Marker("v", "triangle-down", "▼"),
    Marker("P", "cross", "✚"),
    Marker("X", "x", "✖"),
    Marker("<", "triangle-left", "◀"),
    Marker(">", "triangle-right", "▶"),
    Marker("p", "pentagon", "⬟"),
    Marker("*", "star", "★"),
)
DASHES = (
    Dashes("-", "solid", ""),
    Dashes("--", "dash", "7 3"),
    Dashes("-.", "dashdot", "7 3 2 3"),
    Dashes(":", "dot", "2 3"),
)

# why a point has no verified time; none of MARKERS
OUTCOMES = {
    "missing": Marker("|", "line-ns", "|"),
    "skipped": Marker("_", "line-ew", "–"),
    "wrong": Marker("x", "x-thin", "×"),
    "wrong (known)": Marker("1", "y-down", "Y"),
    "failed": Marker("+", "cross-thin", "+"),
    "timeout": Marker("2", "asterisk", "*"),
}
OTHER_OUTCOME = Marker("3", "y-left", "≺")
NO_SERIES = "h"  # Matplotlib's marker of what is published and was not measured; none of MARKERS


def outcome_marker(outcome: str) -> Marker:
    return OUTCOMES.get(outcome, OTHER_OUTCOME)


@dataclass(frozen=True)
class Style:
    """Places in COLOURS, MARKERS and DASHES."""

    colour: int
    marker: int
    dashes: int


def cycled(index: int, *, dashed: bool = True) -> Style:
    """The look of the `index`-th line of a drawing."""
    return Style(index % len(COLOURS), index % len(MARKERS), index % len(DASHES) if dashed else 0)


def of_families(families: Sequence[str], of_lines: Sequence[str]) -> list[Style]:
    """The look of each line, of whose families `of_lines` has the names.

    A family keeps its colour in every chart, by its place among all `families`; its second line
    has another marker and other dashes. A family that is alone in a chart needs no colour of its
    own, so its lines differ in colour.
    """
    if len(set(of_lines)) == 1:
        return [cycled(place) for place in range(len(of_lines))]
    styles = []
    for place, family in enumerate(of_lines):
        index = families.index(family)
        nth = of_lines[:place].count(family)
        styles.append(
            Style(
                index % len(COLOURS),
                (index + 5 * nth) % len(MARKERS),
                (index + nth) % len(DASHES),
            )
        )
    return styles


def for_the_page() -> dict[str, Any]:
    """What report.js draws with: a line's style is three places in these lists."""
    return {
        "colours": COLOURS,
        "markers": [(each.plotly, each.glyph) for each in MARKERS],
        "dashes": [(each.plotly, each.svg) for each in DASHES],
        "outcomes": {name: (each.plotly, each.glyph) for name, each in OUTCOMES.items()},
        "other_outcome": (OTHER_OUTCOME.plotly, OTHER_OUTCOME.glyph),
    }

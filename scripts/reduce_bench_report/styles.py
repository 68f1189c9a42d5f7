"""How lines and points look: in the figures, which Matplotlib draws, and on the page of `report`.

Whoever draws takes a look from here and decides nothing of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# A hue for each family that can meet others in a figure: Okabe and Ito's palette without yellow,
# which is too faint on white, and seven of Tol's that stay apart from it for colour-blind readers.
HUES = (
    "#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#882255",
    "#332288", "#999933", "#8C510A", "#44AA99", "#AA4499", "#661100",
)  # fmt: skip
SHADES = 4  # of a hue, for the lines of one family


def _shades(hue: str) -> list[str]:
    """The hue, darker, lighter, and darker still; of black, which has nothing darker, greys."""
    towards = ((0, 0), (0, 0.3), (255, 0.45), (0, 0.55))
    if hue == "#000000":
        towards = ((0, 0), (255, 0.45), (255, 0.65), (255, 0.25))
    channels = [int(hue[place : place + 2], 16) for place in (1, 3, 5)]
    return [
        "#" + "".join(f"{round(each + share * (end - each)):02X}" for each in channels)
        for end, share in towards
    ]


COLOURS = tuple(shade for hue in HUES for shade in _shades(hue))  # SHADES of each hue in a row


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
    Marker("8", "octagon", "⬣"),
    Marker("d", "diamond-tall", "♦"),
    Marker("H", "hexagon2", "⬢"),
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


# The places in HUES and MARKERS of each family: the same in every figure and chart, no two alike.
# Families of one operation differ in both; those of reduce alone reuse hues of keyed operations.
FAMILIES = {
    "onepass": (0, 10),
    "cub": (1, 0),
    "thrust": (3, 2),
    "cpu": (9, 9),
    "eilers": (2, 1),
    "partition": (4, 3),
    "peers": (11, 11),
    "nccl": (12, 12),
    "mpi": (13, 13),
    "twopass": (6, 8),
    "atomic": (5, 4),
    "sheffler": (5, 5),
    "gpu": (7, 6),
    "podlozhnyuk": (6, 7),
    "nugteren": (8, 8),
    "brown": (10, 5),
    "he": (5, 0),
    "shams": (3, 6),
    "blelloch": (8, 2),
    "harris": (2, 5),
    "luitjens": (4, 1),
    "catanzaro": (5, 3),
    "jradi": (6, 4),
    "report7": (7, 7),
    "amp": (8, 6),
    "epita": (10, 8),
    "torch": (2, 7),
    "cupy": (3, 8),
    "jax": (6, 1),
    "triton": (7, 2),
    "numba": (9, 5),
    "numpy": (10, 1),
    "library": (7, 9),
}


def of_lines(families: Sequence[str], *, dashed: bool = True) -> list[Style]:
    """The look of each line of a drawing, of whose families `families` has the names.

    The lines of a family share its hue and differ in shade, marker and dashes. Families that
    FAMILIES does not know follow one another by name.
    """
    unknown = sorted({*families} - FAMILIES.keys())
    looks = []
    for place, family in enumerate(families):
        number = unknown.index(family) if family in unknown else 0
        hue, marker = FAMILIES.get(family, (number % len(HUES), number % len(MARKERS)))
        nth = families[:place].count(family)
        looks.append(
            Style(
                hue * SHADES + nth % SHADES,
                (marker + 3 * nth) % len(MARKERS),
                nth % len(DASHES) if dashed else 0,
            )
        )
    return looks


def for_the_page() -> dict[str, Any]:
    """What report.js draws with: a line's style is three places in these lists."""
    return {
        "colours": COLOURS,
        "markers": [(each.plotly, each.glyph) for each in MARKERS],
        "dashes": [(each.plotly, each.svg) for each in DASHES],
        "outcomes": {name: (each.plotly, each.glyph) for name, each in OUTCOMES.items()},
        "other_outcome": (OTHER_OUTCOME.plotly, OTHER_OUTCOME.glyph),
    }

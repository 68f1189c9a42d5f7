"""The registry of claims (`claims.json`), the limits of their checks, arithmetic on its numbers."""

import ast
import functools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from reduce_bench_report.loader import InputError, checked_json
from reduce_bench_report.paths import CLAIMS, CLAIMS_SCHEMA
from reduce_bench_report.published import Table, load_all

Json = dict[str, Any]
Value = int | float | str


class Outcome(Enum):
    """What became of a case or of a check."""

    HOLDS = "holds"
    PART = "holds in part"
    OPEN = "open: the interval straddles a limit"
    FAILS = "fails"
    MISSING = "no points"


@dataclass(frozen=True)
class Interval:
    """A number with the interval in which it may lie."""

    low: float
    value: float
    high: float


@dataclass(frozen=True)
class Limits:
    """The range in which a number must lie; between the ends of `part` the claim holds in part."""

    low: float
    high: float
    part: tuple[float, float] | None = None

    def outcome(self, measured: Interval) -> Outcome:
        if self.low <= measured.low and measured.high <= self.high:
            return Outcome.HOLDS
        if measured.high >= self.low and measured.low <= self.high:
            return Outcome.OPEN
        if self.part and self.part[0] <= measured.low and measured.high <= self.part[1]:
            return Outcome.PART
        return Outcome.FAILS

    def __str__(self) -> str:
        if self.low == -math.inf:
            return f"at most {self.high:.4g}"
        if self.high == math.inf:
            return f"at least {self.low:.4g}"
        return f"{self.low:.4g} to {self.high:.4g}"


@dataclass(frozen=True)
class Registry:
    tolerances: dict[str, Json]
    regimes: dict[str, str]
    causes: dict[str, Json]
    departures: dict[str, list[Json]]  # by variant
    claims: tuple[Json, ...]
    tables: dict[str, Table]

    def cell(self, reference: Sequence[Value]) -> float:
        table_id, row_key, column = reference
        if table_id not in self.tables:
            raise InputError(f"a claim refers to table '{table_id}', which is not transcribed")
        table = self.tables[str(table_id)]
        for key, cell in zip(
            table.column(table.columns[0].name), table.column(str(column)), strict=True
        ):
            if key == row_key and isinstance(cell, int | float):
                return float(cell)
        raise InputError(
            f"published table '{table_id}' has no number '{column}' in row '{row_key}'"
        )

    def number(self, raw: Any) -> float:
        """A number, a published cell, a named tolerance, or the ratio of two of these."""
        if isinstance(raw, str):
            return float(self.tolerances[raw]["value"])
        if isinstance(raw, list):
            return self.cell(raw)
        if isinstance(raw, dict):
            above, below = raw["ratio"]
            return self.number(above) / self.number(below)
        return float(raw)

    def limits(self, check: Json) -> Limits:
        if "about" in check:
            return self._about(self.number(check["about"]), check.get("within"))
        low, part = -math.inf, None
        if "at_least" in check:
            low = self.number(check["at_least"])
            # a tolerance is a factor from 1 upwards; as a lower limit it is the same downwards
            if check["at_least"] in ("same", "flat"):
                low = 1 / low
            # half of the gain, as of `about`: above 1, so that no loss is a part of a gain
            elif low > 1 and check["kind"] == "ratio" and "at_most" not in check:
                part = (1 + (low - 1) / 2, math.inf)
        high = self.number(check["at_most"]) if "at_most" in check else math.inf
        return Limits(low, high, part)

    def _about(self, target: float, within: float | None) -> Limits:
        if within is not None:
            return Limits(target / (1 + within), target * (1 + within))
        factor, same = self.number("about"), self.number("same")
        gain = target - 1
        # times within the tolerance "same" count as equal, but never a loss as a small gain
        low = min(1 + gain / factor, max(1, target / same))
        high = max(1 + gain * factor, target * same)
        return Limits(low, high, (1 + gain / 2, 1 + gain * 2))


@functools.cache
def load_registry(path: Path = CLAIMS) -> Registry:
    document = checked_json(path, CLAIMS_SCHEMA, "registry of claims")
    return Registry(
        document["tolerances"],
        document["regimes"],
        document["causes"],
        document["departures"],
        tuple(document["claims"]),
        load_all(),
    )


# Arithmetic on published numbers

OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
FUNCTIONS: dict[str, Callable[[float], float]] = {"floor": math.floor, "ceil": math.ceil}


def calculate(formula: str, inputs: dict[str, float]) -> float:
    """The value of a formula of + - * / **, floor and ceil over named inputs."""

    def value(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.Name(id=name) if name in inputs:
                return inputs[name]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](value(left), value(right))
            case ast.Call(func=ast.Name(id=name), args=[argument]) if name in FUNCTIONS:
                return FUNCTIONS[name](value(argument))
        raise InputError(f"a claim's formula '{formula}' has '{ast.unparse(node)}' in it")

    return value(ast.parse(formula, mode="eval").body)

"""What a point is, apart from what was measured of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from reduce_bench_report.texts import size_text

# what can tell points apart beside their parameters
AXES = (
    "variant", "family", "operation", "backend", "n", "buckets", "type", "op", "distribution",
    "labels", "length", "mode", "finish",
)  # fmt: skip
# Not an axis, since points do not know theirs: the fact that tells panels of several devices apart.
DEVICE = "device"
NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Distribution:
    """A distribution of values or labels with its parameters, sorted by name."""

    name: str
    params: tuple[tuple[str, float | str], ...]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Self:
        """From its form in JSON, such as `{"name": "runs", "length": 4}`."""
        params = {key: value for key, value in raw.items() if key != "name"}
        return cls(raw["name"], tuple(sorted(params.items())))

    def __str__(self) -> str:
        """`runs(length=4)`, as one names it in `--where`."""
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(f'{key}={_number(value)}' for key, value in self.params)})"


def _number(value: float | str) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class PointIdentity:
    """What pairs a point with the same point of another run: where it lies in a plan.

    `n` counts elements and `buckets` the labels' range, None where the operation has no labels.
    `params` are the variant's parameters, sorted by name. `mode` is the one that the plan asks for.
    """

    variant: str
    params: tuple[tuple[str, str], ...]
    operation: str
    backend: str
    n: int
    buckets: int | None
    type: str
    op: str
    distribution: Distribution
    labels: Distribution | None
    seed: int
    mode: str

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> "PointIdentity":
        """From a point's record in a results document."""
        labels = raw.get("labels")  # absent in files from before operations had labels
        return PointIdentity(
            variant=raw["variant"],
            params=tuple(sorted(raw["params"].items())),
            operation=raw["operation"],
            backend=raw["backend"],
            n=raw["n"],
            buckets=raw["buckets"],
            type=raw["type"],
            op=raw["op"],
            distribution=Distribution.of(raw["distribution"]),
            labels=None if labels is None else Distribution.of(labels),
            seed=raw["seed"],
            mode=raw["primary_mode"],
        )

    @property
    def family(self) -> str:
        return self.variant.split("/", 1)[0]

    @property
    def is_of_library(self) -> bool:
        """Whether it is a function of docs/library.md, which launches kernels that are variants."""
        return self.family == "library"

    @property
    def is_of_one_device(self) -> bool:
        """Whether its inputs lie on one device."""
        return self.axis("devices") in (None, "1")

    @property
    def length(self) -> int | None:
        """Of the runs of equal labels, in elements."""
        length = dict(self.labels.params).get("length") if self.labels else None
        return None if length is None else int(length)

    def axis(self, name: str) -> int | str | None:
        """The value at an axis or a parameter; None where it has no such thing."""
        return self._at_axes.get(name)

    @cached_property
    def _at_axes(self) -> Mapping[str, int | str | None]:
        values: dict[str, int | str | None] = {**dict(self.params)}
        for name in AXES:
            value = getattr(self, name, None)
            values[name] = value if value is None or isinstance(value, int) else str(value)
        return values

    def axis_text(self, name: str) -> str:
        """The same as text, empty where it has no such axis or parameter."""
        value = self.axis(name)
        return "" if value is None else str(value)

    @property
    def settings(self) -> str:
        """The parameters: `block=128 form=corrected`."""
        return " ".join(f"{name}={value}" for name, value in self.params)

    @property
    def form(self) -> str:
        """The variant with its parameters: `harris/3 block=128`."""
        return " ".join(filter(None, [self.variant, self.settings]))

    @property
    def size(self) -> str:
        """`2^20`, or `2^20, 256 buckets`."""
        if self.buckets is None:
            return size_text(self.n)
        unit = "bucket" if self.buckets == 1 else "buckets"
        return f"{size_text(self.n)}, {size_text(self.buckets)} {unit}"

    @property
    def order(self) -> tuple[tuple[tuple[bool, int, str], ...], int, int]:
        """Sorts by variant and parameters, whose numbers count by value, and then by size."""
        return natural(self.form), self.n, self.buckets or 0


def natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """Sorts texts so that `harris/10` follows `harris/9`."""
    return tuple(
        (part.isdecimal(), int(part) if part.isdecimal() else 0, part)
        for part in NUMBER.split(text)
    )


def fact_text(key: str, value: str) -> str:
    if key == DEVICE:
        return value
    if key in ("n", "buckets"):
        return f"{'m' if key == 'buckets' else key} = {size_text(int(value))}"
    if key in AXES:
        return value
    return f"{key}={value}"


def x_text(key: str, x: str) -> str:
    return size_text(int(x)) if key in ("n", "buckets", "length") else x

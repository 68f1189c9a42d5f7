"""Declared against counted bytes: what a variant says that it must move, and what a GPU moved.

Only cold points of 2^26 inputs or more, whose declared bytes are twice the L2 or more, are
compared: of less, the L2 keeps what the variant writes, and nothing reaches device memory.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reduce_bench_report.loader import Point, Results

LEAST_N = 1 << 26
TOLERANCE = 0.1  # counted bytes that differ by more from the declared ones are marked
SECTOR_BYTES = 32  # in which L2 is asked for
DEVICE_READ, DEVICE_WRITTEN = "dram_read_bytes", "dram_written_bytes"
FLUSH_WRITTEN = "flush_written_bytes"
OF_L2 = ("l2_read_sectors", "l2_written_sectors", "l2_atomic_sectors")


@dataclass(frozen=True)
class Traffic:
    """In bytes of one call; `l2` is what was asked of L2 by loads, stores and atomics."""

    point: Point
    run: Results
    declared_read: int
    declared_written: int
    read: int
    written: int
    l2: int

    @property
    def ratio(self) -> float:
        """Counted over declared bytes of device memory."""
        return (self.read + self.written) / (self.declared_read + self.declared_written)

    @property
    def deviation(self) -> float:
        return abs(self.ratio - 1)

    @property
    def is_off(self) -> bool:
        return self.deviation > TOLERANCE


def counts(point: Point) -> Mapping[str, int]:
    """What a GPU counted of a point, by name; what it could not count is not there."""
    counters = point.raw.get("counters") or {}
    return {name: each["count"] for name, each in counters.items() if each["count"] is not None}


def device_bytes(point: Point) -> tuple[int, int] | None:
    """Read from and written to device memory by a call, without what the overwriting of L2 before
    it left to be written; None where they were not counted."""
    counted = counts(point)
    if not {DEVICE_READ, DEVICE_WRITTEN, FLUSH_WRITTEN} <= counted.keys():
        return None
    written = max(0, counted[DEVICE_WRITTEN] - counted[FLUSH_WRITTEN])
    return counted[DEVICE_READ], written


def compared(runs: Iterable[Results]) -> list[Traffic]:
    """Of each variant and problem that the runs counted, as the newest of them counted it; by
    operation, then by variant."""
    found: dict[tuple[object, ...], Traffic] = {}
    for run in sorted(runs, key=lambda run: str(run.environment["date_utc"]), reverse=True):
        for point in run.points:
            traffic = _traffic_of(point, run)
            if traffic is not None:
                found.setdefault((point.identity,), traffic)
    return sorted(found.values(), key=lambda each: (each.point.operation, each.point.order))


def _traffic_of(point: Point, run: Results) -> Traffic | None:
    moved, counted, gpu = device_bytes(point), counts(point), run.environment["gpu"]
    if not point.ranked or point.mode != "cold" or moved is None or gpu is None:
        return None
    if point.n < LEAST_N or not point.bytes or point.bytes < 2 * gpu["l2_bytes"]:
        return None
    if not set(OF_L2) <= counted.keys():
        return None
    return Traffic(
        point,
        run,
        point.raw["bytes_read"],
        point.raw["bytes_written"],
        *moved,
        SECTOR_BYTES * sum(counted[name] for name in OF_L2),
    )

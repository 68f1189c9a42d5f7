"""What more GPUs than were measured would take: a prediction from one and two, never a measurement.

A sum takes what one GPU takes for its share, and then the time to combine, which is fitted: the
median over all sizes of what two GPUs took beyond one with half of the elements. A table takes a
latency, that of the smallest, and what moving it took on two: with k GPUs every one moves
2 (k - 1) / k of a table in and out. Over memory of peers, more words travel beside each other; NCCL
passes them on, so every GPU beyond two adds a word's way. Between nodes nothing was measured: there
the latency and the bandwidth of a network are assumed.
"""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from reduce_bench_report.loader import ELEMENT_BYTES, Point, Results

NETWORK_NS = 5000.0  # assumed: a message from GPU to GPU through two adapters
NETWORK_BYTES_PER_NS = 50.0  # assumed: an adapter of 400 Gb/s for each GPU


@dataclass(frozen=True)
class Machine:
    devices: int
    nodes: int

    @property
    def title(self) -> str:
        if self.nodes == 1:
            return f"{self.devices} GPUs"
        return f"{self.devices} GPUs on {self.nodes} nodes"


MACHINES = (Machine(4, 1), Machine(8, 1), Machine(8, 2))


def predicted(
    points: Mapping[str, Point], local: Mapping[int, Point], run: Results
) -> dict[Machine, dict[str, float]]:
    """In ns by x, for a series on two GPUs; `local` has one GPU's times of the operation by n.
    Empty for another series. Peers reach no other node."""
    timed = {x: point for x, point in points.items() if point.ranked}
    if not timed or any(point.axis("devices") != "2" for point in timed.values()):
        return {}
    between = (run.document["ceilings"].get("cuda") or {}).get("between_devices")
    if not between:
        return {}
    example = next(iter(timed.values()))
    passes_on = example.family == "nccl"
    found: dict[Machine, dict[str, float]] = {}
    for machine in MACHINES:
        if machine.nodes > 1 and not passes_on:
            continue
        further_ns = (machine.devices - 2) * between["word_ns"] if passes_on else 0.0
        further_ns += (machine.nodes - 1) * NETWORK_NS
        if example.operation == "reduce":
            values = _of_sums(timed, local, machine, further_ns)
        else:
            values = _of_tables(timed, machine, further_ns)
        if values:
            found[machine] = values
    return found


def _of_sums(
    timed: Mapping[str, Point], local: Mapping[int, Point], machine: Machine, further_ns: float
) -> dict[str, float]:
    beyond = [
        point.time_ns() - local[point.n // 2].time_ns()
        for point in timed.values()
        if point.n // 2 in local
    ]
    if not beyond:
        return {}
    combine_ns = max(statistics.median(beyond), 0.0) + further_ns
    return {
        x: local[point.n // machine.devices].time_ns() + combine_ns
        for x, point in timed.items()
        if point.n // machine.devices in local
    }


def _table_bytes(point: Point) -> int:
    return (point.buckets or 0) * ELEMENT_BYTES[point.type]


def _of_tables(timed: Mapping[str, Point], machine: Machine, further_ns: float) -> dict[str, float]:
    latency_ns = min(point.time_ns() for point in timed.values())
    share = 2 * (machine.devices - 1) / machine.devices  # 1 with two GPUs
    values = {}
    for x, point in timed.items():
        moving_ns = share * (point.time_ns() - latency_ns)
        if machine.nodes > 1:  # a node's adapters each carry a part of what leaves and enters it
            between_bytes = 2 * (machine.nodes - 1) / machine.nodes * _table_bytes(point)
            adapters = machine.devices / machine.nodes
            moving_ns = max(moving_ns, between_bytes / (adapters * NETWORK_BYTES_PER_NS))
        values[x] = latency_ns + further_ns + moving_ns
    return values

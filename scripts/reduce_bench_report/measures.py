"""What an experiment can show of a point, with its title and unit."""

from collections.abc import Callable
from dataclasses import dataclass

from reduce_bench_report.experiments import Experiment
from reduce_bench_report.identity import fact_text
from reduce_bench_report.loader import FIELDS, Field, Point
from reduce_bench_report.texts import TIME_SCALES

# the 25th percentile, the median and the 75th
Quartiles = tuple[float, float, float]

TIME_NS = {unit.replace("µ", "u"): scale_ns for unit, scale_ns in TIME_SCALES.items()} | {
    "wall_us": TIME_SCALES["µs"]
}
RATIOS = (
    "speed_up",
    "efficiency",
    "step_speed_up",
    "time_ratio",
    "ceiling_share",
    "peak_share",
    "tlb_miss_share",
)
ISSUED = "instructions_issued"
OF_DEVICE_MEMORY = ("dram_read_bytes", "dram_written_bytes")
ALL_COUNTERS = "all"  # the counter that says why none counts
SIMULATED_MEASURE = "ns_per_input"
NOT_COUNTED, NO_ENERGY = "the run counted nothing", "the run measured no energy"
NOT_TRIED = (NOT_COUNTED, NO_ENERGY)  # what runs that were not asked for it lack


@dataclass(frozen=True)
class Measure(Field):
    of: Callable[[Point], Quartiles | None]
    unavailable: Callable[[Point], str | None] = lambda point: None  # why a timed point has none
    timed: bool = True  # whether it follows from the time, so that reading has one, too


def quartiles_ns(point: Point) -> Quartiles:
    return point.time_ns("p25_ns"), point.time_ns(), point.time_ns("p75_ns")


def _time(unit_ns: float) -> Callable[[Point], Quartiles | None]:
    def of(point: Point) -> Quartiles | None:
        low, middle, high = quartiles_ns(point)
        return low / unit_ns, middle / unit_ns, high / unit_ns

    return of


def _wall(point: Point) -> Quartiles | None:
    """In µs, by the host's clock."""
    wall = point.timing.get("wall")
    if wall is None:
        return None
    low, middle, high = (wall[name] / 1e3 for name in ("p25_ns", "median_ns", "p75_ns"))
    return low, middle, high


def _not_on_the_wall(point: Point) -> str | None:
    return None if "wall" in point.timing else "the run did not time it in the mode wall"


def _per_input(point: Point) -> Quartiles | None:
    return _time(point.n)(point) if point.n else None


def _inverse(key: str) -> Callable[[Point], Quartiles | None]:
    def of(point: Point) -> Quartiles | None:
        middle = point.raw[key]
        if middle is None:
            return None
        low, median, high = quartiles_ns(point)
        # In this order no rounding puts a quartile on the other side of the middle.
        return middle * (median / high), middle, middle * (median / low)

    return of


def _tlb_miss_share(point: Point) -> Quartiles | None:
    counters = point.raw.get("counters")
    if not counters or _tlb_unavailable(point) or not counters["dtlb_loads"]["count"]:
        return None
    share = counters["dtlb_load_misses"]["count"] / counters["dtlb_loads"]["count"]
    return share, share, share


def _tlb_unavailable(point: Point) -> str | None:
    counters = point.raw.get("counters")
    if not counters:
        return NOT_COUNTED
    reasons = (counters[name]["unavailable"] for name in ("dtlb_loads", "dtlb_load_misses"))
    return next((reason for reason in reasons if reason), None)


def _count(point: Point, *names: str) -> float | None:
    """The sum of what counters counted; None where one of them counted nothing."""
    counters = point.raw.get("counters") or {}
    counts = [counters.get(name, {}).get("count") for name in names]
    return None if None in counts else float(sum(counts))


def _uncounted(*names: str) -> Callable[[Point], str | None]:
    def why(point: Point) -> str | None:
        counters = point.raw.get("counters")
        if not counters:
            return NOT_COUNTED
        reasons = (counters.get(name, {}).get("unavailable") for name in (ALL_COUNTERS, *names))
        return next((reason for reason in reasons if reason), None)

    return why


def _per_input_counted(what: str, *names: str) -> Measure:
    """What a GPU counted, over the number of inputs."""

    def of(point: Point) -> Quartiles | None:
        count = _count(point, *names)
        if count is None or not point.n:
            return None
        return (count / point.n,) * 3

    return Measure(f"{what} per input", None, of, _uncounted(*names), timed=False)


def _quotient_counted(what: str, above: str, below: str) -> Measure:
    def of(point: Point) -> Quartiles | None:
        dividend, divisor = _count(point, above), _count(point, below)
        if dividend is None or not divisor:
            return None
        return (dividend / divisor,) * 3

    return Measure(what, None, of, _uncounted(above, below), timed=False)


def _instructions_per_ns(point: Point) -> Quartiles | None:
    issued = _count(point, ISSUED)
    if issued is None:
        return None
    low, middle, high = quartiles_ns(point)
    return issued / high, issued / middle, issued / low


def _instructions_per_byte(point: Point) -> Quartiles | None:
    issued, moved = _count(point, ISSUED), _count(point, *OF_DEVICE_MEMORY)
    return (issued / moved,) * 3 if issued is not None and moved else None


def _energy(key: str) -> Measure:
    def of(point: Point) -> Quartiles | None:
        value = (point.raw.get("energy") or {}).get(key)
        return None if value is None else (float(value),) * 3

    def why(point: Point) -> str | None:
        energy = point.raw.get("energy")
        return energy["unavailable"] if energy else NO_ENERGY

    return Measure(FIELDS[key].title, FIELDS[key].unit, of, why, timed=False)


def _needs_others(point: Point) -> Quartiles | None:
    return None


def _recorded(key: str, of: Callable[[Point], Quartiles | None]) -> Measure:
    """A field of the results, with the schema's title and unit."""
    return Measure(FIELDS[key].title, FIELDS[key].unit, of)


def _scaled_time(unit: str) -> Measure:
    return Measure(FIELDS["median_ns"].title, unit, _time(TIME_SCALES[unit]))


MEASURES = {
    "ns": _scaled_time("ns"),
    "us": _scaled_time("µs"),
    "ms": _scaled_time("ms"),
    "wall_us": Measure("median wall time of a call", "µs", _wall, _not_on_the_wall, timed=False),
    "ns_per_input": _recorded("ns_per_item", _per_input),
    "gb_per_s": _recorded("gb_per_s", _inverse("gb_per_s")),
    "ceiling_share": _recorded("ceiling_share", _inverse("ceiling_share")),
    "peak_share": _recorded("peak_share", _inverse("peak_share")),
    "speed_up": Measure("speed-up", None, _needs_others),
    "efficiency": Measure("speed-up for each GPU", None, _needs_others),
    "tlb_miss_share": Measure(
        "TLB misses over loads", None, _tlb_miss_share, _tlb_unavailable, timed=False
    ),
    "instructions_per_input": _per_input_counted("instructions of a warp", ISSUED),
    "device_bytes_per_input": _per_input_counted("bytes of device memory", *OF_DEVICE_MEMORY),
    "wavefronts_per_input": _per_input_counted(
        "wavefronts of shared memory", "shared_load_wavefronts", "shared_store_wavefronts"
    ),
    "conflicts_per_input": _per_input_counted("bank conflicts", "bank_conflicts"),
    "lanes_per_instruction": _quotient_counted(
        "lanes that take part in an instruction", "thread_instructions", "instructions_executed"
    ),
    "occupancy_share": _quotient_counted("occupancy", "warp_cycles", "warp_slot_cycles"),
    "instructions_per_byte": Measure(
        "instructions of a warp over bytes of device memory",
        None,
        _instructions_per_byte,
        _uncounted(ISSUED, *OF_DEVICE_MEMORY),
        timed=False,
    ),
    "instructions_per_ns": Measure(
        "instructions of a warp",
        "per ns",
        _instructions_per_ns,
        _uncounted(ISSUED),
    ),
    "joules_per_call": _energy("joules_per_call"),
    "pj_per_byte": _energy("pj_per_byte"),
    "step_speed_up": Measure("step speed-up", None, _needs_others),
    "time_ratio": Measure("time over the base's", None, _needs_others),
}


def heading(experiment: Experiment, measure: str) -> str:
    if measure == "time_ratio":
        at = " ".join(fact_text(key, value) for key, value in experiment.base.items())
        return f"time over that at {at}"
    return MEASURES[measure].heading

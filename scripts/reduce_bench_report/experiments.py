"""The tables and figures as data: which points each shows, and how.

They are those of the publications and overviews of our own. An experiment has the points that its
configuration asks for, or the part of them that `where` keeps. Points that differ by variant,
parameter or axis, other than `x` and `panels`, lie on different series. evaluate.py finds the
values, plots.py draws and grids.py tabulates them, all experiments alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Facts = Mapping[str, str]


@dataclass(frozen=True)
class PublishedColumn:
    """A column of a published table: the `measure` of the points that `facts` describe."""

    column: str
    measure: str
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True)
class Published:
    """How to read a published table: which column has x, and what the other columns measured."""

    table: str
    x: str  # the column with x
    columns: Sequence[PublishedColumn]
    x_values: Mapping[str, str] = field(default_factory=dict)  # as printed -> as in the results
    x_is_log2: bool = False


@dataclass(frozen=True)
class PublishedRanges:
    """A ratio that a source states in words: `rows` has, for each name, the table's row with the
    least and the one with the greatest value."""

    table: str
    column: str
    measure: str
    rows: Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Experiment:
    """One table or figure.

    Without a configuration, it shows all that one run was asked for.

    `x` and `panels` name an axis (identity.AXES) or a parameter. `base` describes the point that
    ratios are over; where it names an x, each series has its own.

    `best` keeps one of several series:
    * "params": at each x, the parameters with which a variant is fastest.
    * "family": at each x, the variant and parameters with which a family is fastest. In both, where
      points also differ by another axis, such as labels, the slowest of them counts.
    * "form": for all x, the variant and parameters with which a family is fastest at the largest x.

    `worst` then keeps, at each x, the slowest point over these axes. `simulated` also shows what
    cache-sim predicts, in ns per input, `predicted` what more GPUs would take by a model of one and
    two. `plane` draws a marker for each variant, by the first
    measure of `y` from left to right and by the second upwards; `roofs` adds the most that device
    memory and the issue of instructions allow there.
    """

    id: str
    title: str
    source: str
    config: str | None
    kind: Literal["table", "figure"]
    x: str
    y: Sequence[str]  # of evaluate.MEASURES, in the order in which they are drawn
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    x_of: Facts = field(default_factory=dict)  # x of a variant that has no such parameter
    x_label: str | None = None
    panels: Sequence[str] = ()
    least_x: int = 1  # panels with fewer values of x are left out
    base: Facts = field(default_factory=dict)
    best: Literal["", "params", "family", "form"] = ""
    worst: Sequence[str] = ()
    simulated: bool = False
    predicted: bool = False
    plane: bool = False
    roofs: bool = False
    log: Literal["", "x", "y", "xy"] = ""
    log_too: bool = False  # a second subplot of each has a logarithmic y axis
    published: Published | None = None
    ranges: PublishedRanges | None = None
    lacks: str | None = None  # why no results file can have it

    @property
    def order(self) -> Sequence[str]:
        """The variants of a table by variant, in the publication's order of rows. A step's speed-up
        is over the row before."""
        if self.x != "variant" or self.published is None:
            return ()
        return list(self.published.x_values.values())


RANDOM = {"labels": "uniform"}
ZIPF = "zipf(exponent=1)"
DEGENERATE = {"labels": "degenerate"}
CPU_LOOP = {"variant": "cpu/sequential"}
JRADI = {"variant": "jradi/unrolled"}
FRAMEWORKS = "configs/frameworks.json"
# what a line or a row is where `best` is "form", to follow "Each line is"
FAMILY_S_FORM = (
    "the variant of its family that is fastest at the largest size at which the family was timed. "
    "At smaller sizes another variant of the family may be faster"
)
BY_FACTOR = {"catanzaro/two-stage": "1"}  # the publication's F = 1
JRADI_T2 = Published(
    "jradi-T2",
    x="F",
    columns=[
        PublishedColumn("time", "ms", JRADI),
        PublishedColumn("speed-up", "speed_up", JRADI),
        PublishedColumn("bandwidth", "gb_per_s", JRADI),
        PublishedColumn("share of peak", "peak_share", JRADI),
    ],
)
REPORT7_T1 = Published(
    "report7-T1",
    x="log2 n",
    x_is_log2=True,
    columns=[
        PublishedColumn("CPU", "us", CPU_LOOP),
        PublishedColumn("naive", "us", {"variant": "report7/naive-atomic"}),
        PublishedColumn("reduction", "us", {"variant": "report7/shared-tree"}),
    ],
)


def _over_the_cpu(**rows: tuple[str, str]) -> PublishedRanges:
    named = {name.replace("_", "-"): ends for name, ends in rows.items()}
    return PublishedRanges("eilers-F4.24", "speed-up", "speed_up", named)


def _sweep(id: str, title: str, measure: str, log: Literal["x", "xy"]) -> Experiment:
    """A measure against n, of all that a run has measured."""
    return Experiment(
        id,
        title,
        f"Each line is {FAMILY_S_FORM}",
        None,
        kind="figure",
        x="n",
        y=(measure,),
        where={"operation": ["reduce"]},
        panels=("backend", "type", "op", "distribution", "mode"),
        least_x=3,
        best="form",
        log=log,
        log_too="y" not in log,
    )


def _overview(
    id: str, title: str, operation: str, config: str, worst: Sequence[str] = ()
) -> Experiment:
    """Time against the buckets, of everything that a publication's last figure compares."""
    return Experiment(
        id,
        title,
        "Each line is the family's fastest variant at each number of buckets",
        config,
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        best="family",
        worst=worst,
        where={"operation": [operation]},
        log="xy",
    )


def _of(operation: str, type: str, op: str) -> dict[str, Sequence[str]]:
    return {"operation": [operation], "type": [type], "op": [op]}


def _i32(operation: str, op: str) -> dict[str, Sequence[str]]:
    return _of(operation, "i32", op)


def _keyed(
    id: str, what: str, where: Mapping[str, Sequence[str]], panels: Sequence[str] = ()
) -> Experiment:
    """Times of 2^26 inputs by the number of buckets: this project's variants and libraries."""
    return Experiment(
        id,
        f"{what} on its slowest labels",
        "Each time is that of the variant's slowest label distribution",
        "configs/keyed.json",
        kind="table",
        x="buckets",
        y=("us",),
        where={"n": ["67108864"], **where},
        panels=panels,
        best="params",
        worst=("labels",),
    )


def _by_labels(
    id: str,
    title: str,
    variants: Sequence[str],
    where: Mapping[str, Sequence[str]],
    *,
    exponents: Sequence[int],
    labels: Sequence[str] = ("uniform", ZIPF, "sorted", "runs(length=64)", "degenerate"),
    panels: Sequence[str] = (),
) -> Experiment:
    """Times of 2^26 inputs by the number of buckets, 2^exponent, and by the labels."""
    return Experiment(
        id,
        title,
        "With cold caches",
        "configs/keyed.json",
        kind="table",
        x="buckets",
        y=("us",),
        where={
            "n": ["67108864"],
            "variant": variants,
            "buckets": [str(1 << each) for each in exponents],
            "labels": labels,
            **where,
        },
        panels=panels,
    )


KEYED = (
    _keyed("keyed-multireduce", "Multireduce", _i32("multireduce", "sum")),
    _keyed("keyed-ordered", "Multireduce in order", _i32("multireduce", "right")),
    _keyed("keyed-multiscan", "Multiscan", _i32("multiscan", "sum")),
    _keyed("keyed-histogram", "Histogram", {"operation": ["histogram"]}, panels=("type",)),
)
KERNELS = (
    _by_labels(
        "partition-multireduce",
        "partition/multireduce by kind of labels",
        ["partition/multireduce"],
        _i32("multireduce", "sum"),
        exponents=range(16, 25),
    ),
    _by_labels(
        "partition-multireduce-wide",
        "Multireduce of 8 bytes, by partitions and others",
        ["partition/multireduce", "atomic/global", "cub/sort-reduce-by-key"],
        {"operation": ["multireduce"], "op": ["sum"], "type": ["i64", "f64"]},
        exponents=(20, 23),
        labels=("uniform", ZIPF),
        panels=("type",),
    ),
    _by_labels(
        "partition-histogram",
        "Histograms by kind of labels, by partitions and others",
        ["partition/histogram", "atomic/histogram", "cub/histogram", "cub/sort-run-length"],
        _of("histogram", "u32", "none"),
        exponents=(16, 18, 20, 22, 24),
        panels=("variant",),
    ),
)
DEVICES = (
    Experiment(
        "devices-reduce",
        "One array over two GPUs, against one",
        "Peer memory, and NCCL after CUB; speed-up over onepass/reduce on one GPU",
        "configs/devices.json",
        kind="figure",
        x="n",
        y=("speed_up", "efficiency"),
        where={"operation": ["reduce"]},
        panels=("mode",),
        base={"variant": "onepass/reduce"},
        log="x",
    ),
    Experiment(
        "devices-weak",
        "2^30 elements on each GPU",
        "Peer memory, and NCCL after CUB; efficiency over onepass/reduce on one GPU",
        "configs/devices-weak.json",
        kind="figure",
        x="devices",
        y=("us", "efficiency"),
        where={"variant": ["onepass/reduce", "peers/reduce", "nccl/reduce"]},
        x_of={"onepass/reduce": "1"},
        x_label="GPUs",
        panels=("mode",),
        base={"variant": "onepass/reduce"},
        worst=("n",),
    ),
    Experiment(
        "devices-predicted",
        "One array over more GPUs than two, predicted",
        "From the times on one and two GPUs; the network between nodes is assumed",
        "configs/devices.json",
        kind="figure",
        x="n",
        y=("speed_up",),
        where={"variant": ["onepass/reduce", "peers/reduce", "nccl/reduce"]},
        panels=("mode",),
        base={"variant": "onepass/reduce"},
        predicted=True,
        log="x",
    ),
    Experiment(
        "tables-predicted",
        "One table on more GPUs than two, predicted",
        "From the times on two GPUs; the network between nodes is assumed",
        "configs/devices.json",
        kind="figure",
        x="buckets",
        y=("us",),
        where={"variant": ["peers/multireduce", "nccl/multireduce"]},
        panels=("mode",),
        predicted=True,
        log="xy",
    ),
    Experiment(
        "devices-tables",
        "One table on two GPUs, combined on both",
        "After 2^16 inputs into buckets; peer memory against NCCL",
        "configs/devices.json",
        kind="figure",
        x="buckets",
        y=("us",),
        where={"variant": ["peers/multireduce", "nccl/multireduce"]},
        panels=("mode",),
        log="xy",
    ),
)
SWEEPS = (
    _sweep("reduce-gbs", "Bandwidth against input size", "gb_per_s", "x"),
    _sweep("reduce-share", "Share of the read ceiling against input size", "ceiling_share", "x"),
    _sweep("reduce-time", "Time against input size", "us", "xy"),
)

ALL: Sequence[Experiment] = (
    *SWEEPS,
    *KEYED,
    *KERNELS,
    *DEVICES,
    _overview(
        "multireduce-time",
        "Multireduce against buckets",
        "multireduce",
        "configs/papers/eilers-F4.25.json",
    ),
    _overview(
        "multiscan-time",
        "Multiscan against buckets, on its slowest labels",
        "multiscan",
        "configs/papers/eilers-F5.9.json",
        worst=("labels",),
    ),
    Experiment(
        "harris-why",
        "What Harris's kernels 0 to 6, and an eighth, make the GPU do",
        "Counts of one call; time beside them",
        "configs/harris-why.json",
        kind="figure",
        x="variant",
        y=(
            "us",
            "instructions_per_input",
            "lanes_per_instruction",
            "wavefronts_per_input",
            "conflicts_per_input",
            "device_bytes_per_input",
            "occupancy_share",
        ),
    ),
    Experiment(
        "roofline",
        "What bounds each reduction: instructions issued against bytes of device memory",
        "Each marker is a variant",
        "configs/counted.json",
        kind="figure",
        x="variant",
        y=("instructions_per_byte", "instructions_per_ns"),
        where={"operation": ["reduce"], "n": ["67108864"], "type": ["i32"]},
        plane=True,
        roofs=True,
        log="xy",
    ),
    Experiment(
        "energy",
        "Energy of a reduction against its time",
        "Energy of the board, with what it takes at rest",
        "configs/energy.json",
        kind="figure",
        x="variant",
        y=("ms", "joules_per_call"),
        panels=("type",),
        plane=True,
    ),
    Experiment(
        "frameworks-time",
        "What a user of Python pays for a sum",
        "Time on the device, and until the host knows that a call is over",
        FRAMEWORKS,
        kind="figure",
        x="n",
        y=("us", "wall_us"),
        where=_of("reduce", "f32", "sum"),
        log="xy",
    ),
    Experiment(
        "frameworks-multireduce",
        "What a user of Python pays for sums of labelled values",
        "Time on the device, and until the host knows that a call is over",
        FRAMEWORKS,
        kind="figure",
        x="buckets",
        y=("us", "wall_us"),
        where=_of("multireduce", "f32", "sum"),
        panels=("n",),
        log="xy",
    ),
    Experiment(
        "frameworks-histogram",
        "What a user of Python pays for counts of labels",
        "Time on the device, and until the host knows that a call is over",
        FRAMEWORKS,
        kind="figure",
        x="buckets",
        y=("us", "wall_us"),
        where=_of("histogram", "u32", "none"),
        panels=("n",),
        log="xy",
    ),
    Experiment(
        "jradi-T1",
        "Harris's kernels 1 to 7",
        "jradi, section 2.1, Table 1",
        "configs/papers/jradi-T1.json",
        kind="table",
        x="variant",
        y=("ms", "gb_per_s", "step_speed_up", "speed_up", "peak_share"),
        base={"variant": "harris/0"},
        published=Published(
            "jradi-T1",
            x="kernel",
            x_values={str(number + 1): f"harris/{number}" for number in range(7)},
            columns=[
                PublishedColumn("time", "ms"),
                PublishedColumn("bandwidth", "gb_per_s"),
                PublishedColumn("step speed-up", "step_speed_up"),
                PublishedColumn("cumulative speed-up", "speed_up"),
            ],
        ),
    ),
    Experiment(
        "jradi-T2",
        "The unrolled kernel against Catanzaro's two stages",
        "jradi, section 4, Table 2",
        "configs/papers/jradi-T2.json",
        kind="table",
        x="F",
        y=("ms", "speed_up", "gb_per_s", "peak_share"),
        x_of=BY_FACTOR,
        panels=("backend", "type"),
        base={"variant": "catanzaro/two-stage"},
        published=JRADI_T2,
    ),
    Experiment(
        "jradi-F3",
        "The unrolled kernel against its unroll factor",
        "jradi, section 4, Figure 3",
        "configs/papers/jradi-T2.json",
        kind="figure",
        x="F",
        y=("ms",),
        x_of=BY_FACTOR,
        x_label="unroll factor F",
        panels=("backend", "type"),
        published=JRADI_T2,
    ),
    Experiment(
        "jradi-F4",
        "Speed-up against the unroll factor",
        "jradi, section 4, Figure 4",
        "configs/papers/jradi-T2.json",
        kind="figure",
        x="F",
        y=("speed_up",),
        x_of=BY_FACTOR,
        x_label="unroll factor F",
        panels=("backend", "type"),
        base={"variant": "catanzaro/two-stage"},
        published=JRADI_T2,
    ),
    Experiment(
        "jradi-portability",
        "The unrolled kernel by OpenCL against CUDA, launched alike",
        "jradi, abstract and section 5",
        "configs/papers/jradi-portability.json",
        kind="table",
        x="F",
        y=("ms", "time_ratio"),
        where={"variant": ["jradi/unrolled"], "blocks_per_sm": ["1"]},
        panels=("n", "type"),
        base={"backend": "cuda"},
    ),
    Experiment(
        "jradi-T3",
        "The unrolled kernel against Harris's kernel 7",
        "jradi, section 4, Table 3",
        "configs/papers/jradi-T3.json",
        kind="table",
        x="variant",
        y=("ms", "speed_up"),
        where={"backend": ["cuda"]},  # harris/6 is of CUDA alone
        panels=("type",),
        base={"variant": "harris/6"},
        published=Published(
            "jradi-T3",
            x="variant",
            x_values={"Harris kernel 7": "harris/6", "new approach": "jradi/unrolled"},
            columns=[PublishedColumn("time", "ms")],
        ),
    ),
    Experiment(
        "report7-T1",
        "CPU loop, one atomic per element, shared-memory tree",
        "report7, section 2, Table 1",
        "configs/papers/report7-T1.json",
        kind="table",
        x="n",
        y=("us", "speed_up"),
        base=CPU_LOOP,
        published=REPORT7_T1,
    ),
    Experiment(
        "report7-F1",
        "CPU loop, one atomic per element, shared-memory tree: all sizes",
        "report7, section 2, Figure 1",
        "configs/papers/report7-T1.json",
        kind="figure",
        x="n",
        y=("us", "speed_up"),
        base=CPU_LOOP,
        log="xy",
        published=REPORT7_T1,
    ),
    Experiment(
        "report7-F2",
        "CPU loop, one atomic per element, shared-memory tree: small sizes",
        "report7, section 2, Figure 2",
        "configs/papers/report7-T1.json",
        kind="figure",
        x="n",
        y=("us",),
        where={"n": [str(2**bits) for bits in range(1, 19)]},
        log="xy",
    ),
    Experiment(
        "report7-F3",
        "CPU loop, one atomic per element, shared-memory tree: large sizes",
        "report7, section 2, Figure 3",
        "configs/papers/report7-T1.json",
        kind="figure",
        x="n",
        y=("us",),
        where={"n": [str(2**bits) for bits in range(24, 31)]},
        log="xy",
    ),
    Experiment(
        "amp",
        "The eight implementations",
        "amp, walk-through",
        "configs/papers/amp.json",
        kind="figure",
        x="n",
        y=("us",),
        log="xy",
    ),
    Experiment(
        "epita-T",
        "Every step of the slides",
        "epita, performance summary",
        "configs/papers/epita-T.json",
        kind="table",
        x="variant",
        y=("ms", "speed_up", "ceiling_share"),
        base={"variant": "epita/reduce2"},
        published=Published(
            "epita-T",
            x="variant",
            x_values={
                **{f"reduce{number}": f"epita/reduce{number}" for number in range(8)},
                "add-twice": "epita/add-twice",
                "cascade-unrolled": "epita/cascade-unrolled",
                "add-twice-warp-unroll": "epita/add-twice-warp-unroll",
                "reduce8": "epita/reduce8 form=as-published",
            },
            columns=[PublishedColumn("time", "ms")],
        ),
    ),
    Experiment(
        "eilers-F2.1",
        "Sequential multireduce, multiscan and scatter",
        "eilers, section 2.2, Figure 2.1",
        "configs/papers/eilers-F2.1.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        where={"fetch": ["", "free"]},
        log="x",
    ),
    Experiment(
        "eilers-F2.2",
        "Sequential multireduce",
        "eilers, section 2.2, Figure 2.2",
        "configs/papers/eilers-F2.2.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        where={"labels": ["uniform"], "fetch": ["", "free"]},
        log="x",
    ),
    Experiment(
        "eilers-T2.1",
        "Share of TLB misses in the loads of the sequential multireduce",
        "eilers, section 2.4, Table 2.1",
        "configs/papers/eilers-F2.2.json",
        kind="table",
        x="buckets",
        y=("tlb_miss_share",),
        where={
            "labels": ["uniform"],
            "fetch": ["", "free"],
            "buckets": [str(2**bits) for bits in range(16, 28, 2)],
        },
        published=Published(
            "eilers-T2.1",
            x="log2 m",
            x_is_log2=True,
            columns=[PublishedColumn("TLB load miss rate", "tlb_miss_share")],
        ),
    ),
    Experiment(
        "eilers-F2.4",
        "Sequential multireduce with and without huge pages",
        "eilers, section 2.4, Figure 2.4",
        "configs/papers/eilers-F2.4.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        log="x",
    ),
    Experiment(
        "eilers-F2.5",
        "Sequential multireduce of random and of sequential labels",
        "eilers, section 2.4, Figure 2.5",
        "configs/papers/eilers-F2.2.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        where={"fetch": ["", "free"]},
        log="x",
    ),
    Experiment(
        "eilers-F2.7",
        "Simple and sorting multireduce, measured and simulated",
        "eilers, section 2.4, Figure 2.7",
        "configs/papers/eilers-F2.7.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        where={"sort_bits": ["", "auto"]},
        simulated=True,
        log="xy",
    ),
    Experiment(
        "eilers-F2.8",
        "Simple and sorting multireduce, fetches one after the other, measured and simulated",
        "eilers, section 2.4, Figure 2.8",
        "configs/papers/eilers-F2.8.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        where={"sort_bits": ["", "auto"]},
        simulated=True,
        log="xy",
    ),
    Experiment(
        "eilers-F3.6",
        "Reduce by key and scan by key",
        "eilers, section 3.3, Figure 3.6",
        "configs/papers/eilers-F3.6.json",
        kind="figure",
        x="length",
        y=("ns_per_input",),
        x_label="length of the runs of equal labels",
        log="x",
    ),
    Experiment(
        "eilers-F4.4",
        "Podlozhnyuk, Nugteren and TRISH",
        "eilers, section 4.2, Figure 4.4",
        "configs/papers/eilers-F4.4.json",
        kind="figure",
        x="labels",
        y=("ns_per_input",),
        where={
            "variant": ["podlozhnyuk/256", "nugteren/shuffled", "nugteren/private", "brown/trish"]
        },
    ),
    Experiment(
        "eilers-FA.1",
        "Histograms of 256 bins, random labels",
        "eilers, Appendix A, Figure A.1",
        "configs/papers/eilers-F4.4.json",
        kind="figure",
        x="variant",
        y=("ns_per_input",),
        where={"labels": ["uniform"]},
    ),
    Experiment(
        "eilers-FA.2",
        "Histograms of 256 bins, one label",
        "eilers, Appendix A, Figure A.2",
        "configs/papers/eilers-F4.4.json",
        kind="figure",
        x="variant",
        y=("ns_per_input",),
        where={"labels": ["degenerate"]},
    ),
    Experiment(
        "eilers-F4.7",
        "Ordered bucket sets in global memory, random labels",
        "eilers, section 4.3.5, Figure 4.7",
        "configs/papers/eilers-F4.7.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        where={"labels": ["uniform"], "items": ["8"]},
        log="x",
    ),
    Experiment(
        "eilers-F4.8",
        "Ordered bucket sets in global memory, one label, 256 buckets",
        "eilers, section 4.3.5, Figure 4.8",
        "configs/papers/eilers-F4.7.json",
        kind="figure",
        x="sets",
        y=("ns_per_input",),
        where={"labels": ["degenerate"], "buckets": ["256"], "items": ["8"]},
        log="x",
    ),
    Experiment(
        "eilers-F4.9",
        "Ordered bucket sets in global memory after a sort",
        "eilers, section 4.3.5, Figure 4.9",
        "configs/papers/eilers-F4.9.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        log="x",
    ),
    Experiment(
        "eilers-F4.10",
        "Atomic bucket sets in global memory, one label",
        "eilers, section 4.3.5, Figure 4.10",
        "configs/papers/eilers-T4.1.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        where={"labels": ["degenerate"]},
        log="x",
    ),
    Experiment(
        "eilers-F4.11",
        "Atomic bucket sets in global memory, random labels",
        "eilers, section 4.3.5, Figure 4.11",
        "configs/papers/eilers-T4.1.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        where={"labels": ["uniform"]},
        log="x",
    ),
    Experiment(
        "eilers-T4.1",
        "Atomic bucket sets in global memory, random labels",
        "eilers, section 4.3.5, Table 4.1",
        "configs/papers/eilers-T4.1.json",
        kind="table",
        x="sets",
        y=("ns_per_input", "time_ratio"),
        base={"sets": "1"},
        where={
            "labels": ["uniform"],
            "buckets": [str(2**bits) for bits in range(8, 21, 2)],
        },
        published=Published(
            "eilers-T4.1",
            x="sets",
            columns=[
                PublishedColumn(f"2^{bits}", "ns_per_input", {"buckets": str(2**bits)})
                for bits in range(8, 21, 2)
            ],
        ),
    ),
    Experiment(
        "eilers-T4.2",
        "Atomic bucket sets in global memory after a partial sort: the best parameters",
        "eilers, section 4.3.5, Table 4.2",
        "configs/papers/eilers-T4.2.json",
        kind="table",
        x="buckets",
        y=("ns_per_input", "time_ratio"),
        base={"buckets": "16384"},
        best="params",
        published=Published(
            "eilers-T4.2",
            x="log2 buckets",
            x_is_log2=True,
            columns=[
                PublishedColumn("random", "ns_per_input", RANDOM),
                PublishedColumn("degenerate", "ns_per_input", DEGENERATE),
            ],
        ),
    ),
    Experiment(
        "eilers-F4.13",
        "A bucket set per thread in shared memory",
        "eilers, section 4.3.6, Figure 4.13",
        "configs/papers/eilers-F4.13.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        log="x",
    ),
    Experiment(
        "eilers-F4.15",
        "A bucket set per bank and per thread",
        "eilers, section 4.3.6, Figure 4.15",
        "configs/papers/eilers-F4.15.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        panels=("labels",),
        log="x",
    ),
    Experiment(
        "eilers-F4.16",
        "More than 256 buckets: several passes and a sort",
        "eilers, section 4.3.6, Figure 4.16",
        "configs/papers/eilers-F4.16.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        panels=("labels",),
        log="x",
    ),
    Experiment(
        "eilers-F4.18",
        "Sort and segmented reduce in global memory, random labels",
        "eilers, section 4.4, Figure 4.18",
        "configs/papers/eilers-F4.18.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        where={"labels": ["uniform"]},
        log="x",
    ),
    Experiment(
        "eilers-F4.19",
        "Sort and segmented reduce in global memory, one label",
        "eilers, section 4.4, Figure 4.19",
        "configs/papers/eilers-F4.18.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        where={"labels": ["degenerate"]},
        log="x",
    ),
    Experiment(
        "eilers-F4.21",
        "Sort and segmented reduce in shared memory",
        "eilers, section 4.4, Figure 4.21",
        "configs/papers/eilers-F4.21.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        where={"transpose": ["off"]},
        panels=("labels",),
        log="x",
    ),
    Experiment(
        "eilers-F4.22",
        "Sort and segmented reduce in shared memory, inputs transposed",
        "eilers, section 4.4, Figure 4.22",
        "configs/papers/eilers-F4.21.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        where={"transpose": ["on"]},
        panels=("labels",),
        log="x",
    ),
    Experiment(
        "eilers-T4.3",
        "Scatter, without and after a partial sort",
        "eilers, section 4.5.1, Table 4.3",
        "configs/papers/eilers-T4.3.json",
        kind="table",
        x="buckets",
        y=("ns_per_input", "time_ratio"),
        base={"buckets": "256"},
        published=Published(
            "eilers-T4.3",
            x="log2 m",
            x_is_log2=True,
            columns=[
                PublishedColumn("time", "ns_per_input", {"variant": "gpu/scatter", "winner": "any"})
            ],
        ),
    ),
    Experiment(
        "eilers-F4.23",
        "TRISH against BankTRISH",
        "eilers, section 4.5.2, Figure 4.23",
        "configs/papers/eilers-F4.23.json",
        kind="figure",
        x="labels",
        y=("ns_per_input",),
    ),
    Experiment(
        "eilers-F4.24",
        "All multireduces that keep the order, against the CPU",
        "eilers, section 4.6, Figure 4.24",
        "configs/papers/eilers-F4.24.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input", "speed_up"),
        base={"variant": "cpu/multireduce"},
        best="params",
        log="xy",
        ranges=_over_the_cpu(ordered=("ordered, least", "ordered, most")),
    ),
    Experiment(
        "eilers-F4.25",
        "All multireduces of commutative operators, against the CPU",
        "eilers, section 4.6, Figure 4.25",
        "configs/papers/eilers-F4.25.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input", "speed_up"),
        base={"variant": "cpu/multireduce"},
        best="params",
        where={"operation": ["multireduce"]},
        log="xy",
        ranges=_over_the_cpu(
            commutative=("commutative, least", "commutative, most"),
            shared_bank=("shared-bank", "shared-bank"),
        ),
    ),
    Experiment(
        "eilers-F5.4",
        "Sheffler's multiscan in global memory",
        "eilers, section 5.4.2, Figure 5.4",
        "configs/papers/eilers-F5.4.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        panels=("labels",),
        log="x",
    ),
    Experiment(
        "eilers-F5.5",
        "Sheffler's multiscan in shared memory",
        "eilers, section 5.4.3, Figure 5.5",
        "configs/papers/eilers-F5.5.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        panels=("labels",),
        log="x",
    ),
    Experiment(
        "eilers-F5.7",
        "Multiscan by a sort in global memory",
        "eilers, section 5.5.1, Figure 5.7",
        "configs/papers/eilers-F5.7.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        log="x",
    ),
    Experiment(
        "eilers-F5.8",
        "Multiscan by a sort in shared memory",
        "eilers, section 5.5.2, Figure 5.8",
        "configs/papers/eilers-F5.8.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        panels=("labels",),
        log="x",
    ),
    Experiment(
        "eilers-F5.9",
        "All multiscans, on their slowest labels",
        "eilers, section 5.6, Figure 5.9",
        "configs/papers/eilers-F5.9.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        best="params",
        worst=("labels",),
        log="xy",
    ),
    Experiment(
        "eilers-FB.1",
        "Multiscan in global memory",
        "eilers, Appendix B, Figure B.1",
        "configs/papers/eilers-FB.1.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        panels=("labels",),
        log="x",
    ),
    Experiment(
        "eilers-FB.2",
        "Multiscan in shared memory",
        "eilers, Appendix B, Figure B.2",
        "configs/papers/eilers-FB.2.json",
        kind="figure",
        x="buckets",
        y=("ns_per_input",),
        panels=("labels",),
        log="x",
    ),
)

EXPERIMENTS = {experiment.id: experiment for experiment in ALL}

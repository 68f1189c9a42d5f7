"""What lies between two rounds of one configuration: floors, differences and their causes."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import made_up
import pytest
from reduce_bench_report import readme, rounds
from reduce_bench_report.claim_registry import load_registry
from reduce_bench_report.claims import judge_all
from reduce_bench_report.loader import Device, InputError, load

ROOT = Path(__file__).parents[2]
LONG_NS, SHORT_NS = 1e6, 5e3
PLUGIN = {"file": "calls.py", "checksum": "0" * 16, "version": "1.0"}
Ratios = Sequence[float]


def points(
    ratios: Ratios, ns: float = LONG_NS, variant: str = "harris/0", **changes: object
) -> list[made_up.Json]:
    """A point for each ratio; their times are near each other."""
    return [
        made_up.point(variant, 1000 + k, ns * ratio, **changes) for k, ratio in enumerate(ratios)
    ]


def device(folder: Path, first: list[made_up.Json], again: list[made_up.Json]) -> Device:
    (folder / "again").mkdir(exist_ok=True)
    made_up.write(made_up.results(again), folder / "again" / "r.json")
    return Device([load(made_up.write(made_up.results(first), folder / "r.json"))])


def saved(folder: Path, *causes: made_up.Json) -> Path:
    (folder / "docs").mkdir(exist_ok=True)
    path = folder / rounds.CAUSES
    path.write_text(json.dumps({"schema": 1, "causes": list(causes)}), encoding="utf-8")
    return path


def test_nineteen_of_twenty_differ_by_less_than_the_floor(tmp_path: Path) -> None:
    apart = [1 + k / 1000 for k in range(39)] + [1.5]
    of = device(tmp_path, points([1.0] * 40), points(apart))
    (floor,) = rounds.floors(of.runs).values()
    assert floor == pytest.approx(0.037)
    faster = device(tmp_path, points(apart), points([1.0] * 40))
    assert list(rounds.floors(faster.runs).values()) == [pytest.approx(0.037)]


def test_points_that_differ_alike_have_one_floor(tmp_path: Path) -> None:
    kinds: dict[float, made_up.Json] = {
        0.01: {"ns": LONG_NS},
        0.02: {"ns": SHORT_NS, "type": "i64"},
        0.04: {"ns": LONG_NS, "finish": "host", "type": "f32"},
        0.08: {"ns": LONG_NS, "synchronous": True, "primary_mode": "hot"},
        0.16: {"ns": LONG_NS, "backend": "cpu"},
        0.32: {"ns": LONG_NS, "finish": "host", "plugin": PLUGIN, "type": "f64"},
        0.005: {"ns": LONG_NS, "plugin": PLUGIN, "variant": "library/reduce"},
    }
    first = [p for changes in kinds.values() for p in points([1.0], **changes)]
    again = [p for apart, changes in kinds.items() for p in points([1 + apart], **changes)]
    found = rounds.floors(device(tmp_path, first, again).runs)
    assert {kind.title: round(floor, 6) for kind, floor in found.items()} == {
        "cuda, cold, the result on the device, from 16 µs": 0.02,
        "cuda, cold, the result on the device, under 16 µs": 0.02,
        "cuda, cold, the host waits, from 100 µs": 0.04,
        "cuda, hot, the host waits, from 100 µs": 0.08,
        "cpu, cold, from 16 µs": 0.16,
        "plug-ins on cuda, cold, the host waits, from 100 µs": 0.32,
    }


@pytest.mark.parametrize(
    ("us", "is_short", "is_short_to_the_host"),
    [(15, True, True), (17, False, True), (99, False, True), (101, False, False)],
)
def test_a_time_that_the_host_waits_for_is_short_up_to_more(
    tmp_path: Path, us: float, is_short: bool, is_short_to_the_host: bool
) -> None:
    made = points([1.0], us * 1e3) + points([1.0], us * 1e3, finish="host", type="f32")
    of_device, of_host = load(made_up.write(made_up.results(made), tmp_path / "r.json")).points
    assert rounds.Kind.of(of_device, "cold").is_short is is_short
    assert rounds.Kind.of(of_host, "cold").is_short is is_short_to_the_host


@pytest.mark.parametrize(("short", "floor"), [(19, 0.02), (20, 0.5)])
def test_few_points_have_the_floor_of_short_and_long_ones(
    tmp_path: Path, short: int, floor: float
) -> None:
    """Two of the short ones differ by half: all but one of twenty would be within it."""
    first = points([1.0] * short, SHORT_NS) + points([1.0] * 40, type="i64")
    again = points([1.5] * 2 + [1.0] * (short - 2), SHORT_NS) + points([1.02] * 40, type="i64")
    found = rounds.floors(device(tmp_path, first, again).runs)
    assert {kind.is_short: round(each, 6) for kind, each in found.items()} == {
        True: floor,
        False: 0.02,
    }


@pytest.mark.parametrize(("ratio", "differs"), [(1.05, True), (1 / 1.05, True), (1.035, False)])
def test_a_difference_is_beyond_the_floor_and_what_counts(
    tmp_path: Path, ratio: float, differs: bool
) -> None:
    """The floor is 1 % here, and 3 % counts of this variant (configs/thresholds.json)."""
    of = device(tmp_path, points([1.0] * 40), points([1.01] * 39 + [ratio]))
    found = rounds.differences(of, [])
    assert [each.pair.first.n for each in found if each.counts] == ([1039] if differs else [])
    assert [each.pair.first.n for each in found] == [1039]
    for each in found:
        assert (each.cause, each.floor) == ("not explained", pytest.approx(0.01))
        assert each.pair.ratio == pytest.approx(ratio)


def test_what_counts_is_the_variant_s(tmp_path: Path) -> None:
    def of_amp(ratio: float) -> list[made_up.Json]:
        return [each | {"variant": "amp/x"} for each in points([1.0] * 39 + [ratio])]

    (found,) = rounds.differences(device(tmp_path, of_amp(1.0), of_amp(1.09)), [])
    assert not found.counts
    (found,) = rounds.differences(device(tmp_path, of_amp(1.0), of_amp(1.13)), [])
    assert found.counts


@pytest.mark.parametrize(
    ("said", "matches"),
    [
        ({"variants": ["harris/*"]}, True),
        ({"variants": ["cub/*", "harris/0"]}, True),
        ({"variants": ["cub/*"]}, False),
        ({"variants": ["*"], "devices": ["NVIDIA Imaginary 1"]}, True),
        ({"variants": ["*"], "devices": ["NVIDIA Imaginary 2"]}, False),
        ({"variants": ["*"], "modes": ["cold"]}, True),
        ({"variants": ["*"], "modes": ["hot"]}, False),
        ({"variants": ["*"], "waits": False}, True),
        ({"variants": ["*"], "waits": True}, False),
        ({"variants": ["*"], "n": {"from": 1039}}, True),
        ({"variants": ["*"], "n": {"from": 1040}}, False),
        ({"variants": ["*"], "n": {"to": 1039}}, True),
        ({"variants": ["*"], "n": {"from": 1000, "to": 1038}}, False),
        ({"variants": ["*"], "apart_us": 1001}, True),
        ({"variants": ["*"], "apart_us": 999}, False),
        ({"variants": ["*"], "operations": ["multireduce"]}, True),
        ({"variants": ["*"], "operations": ["reduce"]}, False),
        ({"variants": ["*"], "types": ["i32"]}, True),
        ({"variants": ["*"], "types": ["f32"]}, False),
        ({"variants": ["*"], "labels": ["sorted", "zipf"]}, True),
        ({"variants": ["*"], "labels": ["sorted"]}, False),
        ({"variants": ["*"], "buckets": {"from": 16, "to": 16}}, True),
        ({"variants": ["*"], "buckets": {"from": 17}}, False),
        ({"variants": ["*"], "params": {"copies": "8"}}, True),
        ({"variants": ["*"], "params": {"copies": "1"}}, False),
        ({"variants": ["*"], "params": {"block": "256"}}, False),
    ],
)
def test_a_cause_is_said_of_the_points_that_it_matches(
    tmp_path: Path, said: made_up.Json, matches: bool
) -> None:
    problem = {
        "operation": "multireduce",
        "buckets": 16,
        "labels": {"name": "zipf", "exponent": 1.0},
        "params": {"copies": "8", "block": "512"},
    }
    of = device(tmp_path, points([1.0] * 40, **problem), points([1.0] * 39 + [2.0], **problem))
    causes = rounds.load_causes(
        saved(tmp_path, said | {"cause": "the first"}, {"variants": ["none"], "cause": "other"})
    )
    (found,) = rounds.differences(of, causes)
    assert found.cause == ("the first" if matches else "not explained")


def test_a_cause_of_few_buckets_is_none_of_points_without(tmp_path: Path) -> None:
    of = device(tmp_path, points([1.0] * 40), points([1.0] * 39 + [2.0]))
    said = {"variants": ["*"], "buckets": {"to": 16}, "cause": "few buckets"}
    (found,) = rounds.differences(of, rounds.load_causes(saved(tmp_path, said)))
    assert found.cause == "not explained"


@pytest.mark.parametrize("said", [{"cause": "c"}, {"variants": ["*"], "cause": ""}, {"of": 1}])
def test_causes_that_are_none(tmp_path: Path, said: made_up.Json) -> None:
    with pytest.raises(
        InputError, match=r"causes of differences '.*causes.json' breaks its schema"
    ):
        rounds.load_causes(saved(tmp_path, said))


def test_the_causes_that_are_committed_can_be_read() -> None:
    rounds.load_causes(ROOT / rounds.CAUSES)  # none while a gallery is measured anew


def test_points_without_a_right_time_in_both_rounds_have_no_floor(tmp_path: Path) -> None:
    first = points([1.0] * 3)
    again = [first[0], made_up.unmeasured("harris/0", 1001, "failed", "it crashed")]
    of = device(tmp_path, first, again)
    assert [pair.first.n for pair in rounds.pairs(of.runs)] == [1000]
    changed = rounds.changed_outcomes(of.runs)
    assert [(one.n, other and other.outcome) for one, other in changed] == [
        (1001, "failed"),
        (1002, None),
    ]


def test_the_page_folds_what_differs_by_a_change_that_does_not_count(tmp_path: Path) -> None:
    of = device(tmp_path, points([1.0] * 40), points([1.01] * 39 + [1.035]))
    saved(tmp_path, {"variants": ["cub/*"], "cause": "no"})
    block = readme.rounds_block([of], tmp_path)
    assert "1 of 40 times differ by more than their floors" in block
    assert "0 of them differ by a change that counts as well" in block
    before, _, folded = block.partition("<details>")
    assert "1 more, by a change that does not count" in folded
    assert "| 1.03 | 1 % | not explained |" in folded
    assert "not explained |" not in before


def test_the_page_lists_what_differs(tmp_path: Path) -> None:
    first, again = points([1.0] * 40), points([1.0] * 38 + [1.5, 2.0])
    again[0] = made_up.unmeasured("harris/0", 1000, "failed", "it crashed")
    of = device(tmp_path, first, again)
    saved(tmp_path, {"variants": ["cub/*"], "cause": "no"})
    block = readme.rounds_block([of], tmp_path)
    assert block.startswith("## NVIDIA Imaginary 1\n")
    # 38 of 39 are 95 %, so that the floor is that of the 38th
    assert "| cuda, cold, the result on the device, from 16 µs | 39 | 50 % | 1 | 1 |" in block
    assert "1 of 39 times differ by more than their floors, which one in twenty is" in block
    assert (
        "1 of them differ by a change that counts as well, and 1 of these are not explained."
        in block
    )
    row = "| harris/0 | reduce i32 sum, n = 1,039 | cold | 1,000 | 2,000 | 2.00 | 50 % | not expl"
    assert row in block
    changed = "harris/0, reduce i32 sum, n = 1,000: ok, then failed"
    assert f"1 point is not alike in both rounds: {changed}." in block
    few = readme.rounds_block([device(tmp_path, first, again[:36])], tmp_path)
    missing = [
        f"harris/0, reduce i32 sum, n = 1,03{digit}: ok, then not measured"
        for digit in range(6, 10)
    ]
    said = "; ".join([changed, *missing])
    assert f"5 points are not alike in both rounds: {said}." in few
    alone = Device([load(made_up.write(made_up.results(first), tmp_path / "alone.json"))])
    both = readme.rounds_block([Device([*of.runs, *alone.runs])], tmp_path)
    assert both.endswith(f"Without a second round: {tmp_path.name}/alone.json.")
    assert "Without a second round" not in block
    assert readme.rounds_block([alone], tmp_path) == "No second round is committed."


def test_a_device_without_a_second_round_is_named_beside_others(tmp_path: Path) -> None:
    of = device(tmp_path, points([1.0]), points([1.0]))
    saved(tmp_path, {"variants": ["cub/*"], "cause": "no"})
    document = made_up.results(points([1.0]))
    document["environment"]["gpu"]["name"] = "NVIDIA Imaginary 2"
    (tmp_path / "other").mkdir()
    alone = Device([load(made_up.write(document, tmp_path / "other" / "alone.json"))])
    block = readme.rounds_block([of, alone], tmp_path)
    assert block.startswith("## NVIDIA Imaginary 1\n")
    said = "\n\n## NVIDIA Imaginary 2\n\nAll of its files lack a second round."
    assert block.endswith(said)
    assert readme.rounds_block([alone, of], tmp_path).startswith(said.strip())
    # nothing is right in both of its rounds, which is said of each point
    (tmp_path / "other" / "again").mkdir()
    document["points"] = [made_up.unmeasured("harris/0", 1000, "failed", "it crashed")]
    made_up.write(document, tmp_path / "other" / "again" / "alone.json")
    failed = Device([load(tmp_path / "other" / "alone.json")])
    block = readme.rounds_block([of, failed], tmp_path)
    assert "lack a second round" not in block
    assert "1 point is not alike in both rounds: harris/0, reduce i32 sum, n = 1,000: ok," in block


def test_provenance_names_both_rounds_and_their_revisions(tmp_path: Path) -> None:
    of = device(tmp_path, points([1.0]), points([1.0]))
    block = readme.provenance_block([of], tmp_path)
    assert block.startswith("The 2 files of NVIDIA Imaginary 1 are of revision 0123456789.\n")
    assert "| again/r.json |" in block


def test_what_was_tuned_is_a_result_of_a_revision_and_of_two_rounds(tmp_path: Path) -> None:
    of = device(tmp_path, points([1.0]), points([1.0]))
    (tmp_path / "tuning").mkdir()
    saved(tmp_path, {"variants": ["cub/*"], "cause": "no"})
    tuned = device(tmp_path / "tuning", points([1.0, 1.0]), points([1.0, 1.5]))
    assert len(tuned.rounds) == 2
    block = readme.provenance_block([of], tmp_path)
    assert "| tuning/r.json |" in block and "| tuning/again/r.json |" in block
    assert " of 3 times differ" in readme.rounds_block([of], tmp_path)


def _another_revision(document: made_up.Json) -> None:
    document["environment"]["git"]["revision"] = "ab" * 20


def _another_build(document: made_up.Json) -> None:
    document["environment"]["cccl"] = "1.0.0"


def _another_device(document: made_up.Json) -> None:
    document["environment"]["gpu"]["name"] = "NVIDIA Imaginary 2"


def _another_configuration(document: made_up.Json) -> None:
    document["config"]["description"] = "another"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (_another_revision, "revision"),
        (_another_build, "build"),
        (_another_device, "device"),
        (_another_configuration, "configuration"),
    ],
)
def test_a_second_round_is_of_the_same_build_device_and_configuration(
    tmp_path: Path, change: Callable[[made_up.Json], None], what: str
) -> None:
    device(tmp_path, points([1.0]), points([1.0]))
    other = made_up.results(points([1.0]))
    change(other)
    made_up.write(other, tmp_path / "again" / "r.json")
    with pytest.raises(InputError, match=f"r.json', since its {what} is another: measure"):
        rounds.pairs([load(tmp_path / "r.json")])


def test_the_floor_between_runs_widens_the_intervals_of_claims(tmp_path: Path) -> None:
    """Of claim 2, a step speed-up between two kernels at one size."""

    def kernels(ratio: float, others: float) -> list[made_up.Json]:
        steps = [
            made_up.point(f"harris/{k}", 1 << 22, ns, params={"block": "128"})
            for k, ns in enumerate((200e3 * ratio, 100e3 * ratio, 50e3 * ratio))
        ]
        return [*steps, *points([others] * 5)]

    def interval(of: Device) -> tuple[float, float]:
        claim = next(j for j in judge_all(of.rounds, load_registry()) if j.claim["number"] == 2)
        case = claim.checks[0].cases[0]
        return case.measured.low, case.measured.high

    alike = device(tmp_path, kernels(1.0, 1.0), kernels(1.0, 1.0))
    low, high = interval(alike)
    apart = device(tmp_path, kernels(1.0, 1.0), kernels(1.0, 1.2))  # other points, of one kind
    wide_low, wide_high = interval(apart)
    assert wide_low == pytest.approx(low * 1.004 / 1.2)
    assert wide_high == pytest.approx(high / 1.004 * 1.2)
    (tmp_path / "again" / "r.json").unlink()
    assert interval(Device([load(tmp_path / "r.json")])) == pytest.approx((low, high))

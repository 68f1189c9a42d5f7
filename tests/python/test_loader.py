"""What the loader says of files that it cannot use."""

import json
import os
from pathlib import Path

import made_up
import pytest
from reduce_bench_report.loader import InputError, default_results, load, load_devices
from reduce_bench_report.paths import ROOT


def message(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load(path)
    return str(caught.value)


def test_reads_points_and_provenance(tmp_path: Path) -> None:
    document = made_up.results(
        [
            made_up.point("harris/0", 1024, 800.0, params={"block": "128"}),
            made_up.unmeasured("harris/1", 7, "skipped", "needs a power of two"),
        ]
    )
    results = load(made_up.write(document, tmp_path / "r.json"))
    first, second = results.points
    assert (first.variant, first.n, first.time_ns(), first.ranked) == ("harris/0", 1024, 800, True)
    assert first.params == (("block", "128"),)
    assert (second.ranked, second.outcome) == (False, "skipped")
    for part in ("NVIDIA Imaginary 1", "580.65.06", "0123456789", "2026-01-31", "r.json"):
        assert part in results.provenance
    assert results.sha256[:12] in results.provenance


def test_dirty_tree_shows_in_the_revision(tmp_path: Path) -> None:
    document = made_up.results([])
    document["environment"]["git"]["dirty"] = True
    assert load(made_up.write(document, tmp_path / "r.json")).revision == "0123456789+changes"


def test_known_wrong_is_never_ranked(tmp_path: Path) -> None:
    document = made_up.results(
        [
            made_up.known_wrong("racy/a", 1024, 10.0),
            made_up.point("racy/b", 1024, 10.0, known_wrong=True),  # right by luck
        ]
    )
    for point in load(made_up.write(document, tmp_path / "r.json")).points:
        assert (point.ranked, point.outcome) == (False, "wrong (known)")


def test_missing_file(tmp_path: Path) -> None:
    assert "No such file" in message(tmp_path / "none.json")


def test_folder(tmp_path: Path) -> None:
    assert "directory" in message(tmp_path)


def test_truncated_file(tmp_path: Path) -> None:
    path = made_up.write(made_up.results([made_up.point("a/b", 8)]), tmp_path / "r.json")
    path.write_bytes(path.read_bytes()[:-100])
    assert "not valid JSON" in message(path)


def test_nesting_beyond_the_stack(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(b"[" * 100_000)
    assert "line 1, column 17" in message(path)
    assert "nests deeper than 16 levels" in message(path)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_json_has_not(tmp_path: Path, value: float) -> None:
    document = made_up.results([made_up.point("a/b", 8, gb_per_s=value)])
    assert "no value: one is" in message(made_up.write(document, tmp_path / "r.json"))


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_numbers_beyond_a_double(tmp_path: Path, number: str) -> None:
    path = tmp_path / "r.json"
    text = json.dumps(made_up.results([made_up.point("a/b", 8, gb_per_s=0.125)]))
    assert text.count('"gb_per_s": 0.125') == 1
    path.write_text(text.replace('"gb_per_s": 0.125', f'"gb_per_s": {number}'), encoding="utf-8")
    assert "a number larger than any that can be read" in message(path)


@pytest.mark.parametrize("document", [{"schema": 1, "sweeps": []}, [], 3])
def test_other_documents(tmp_path: Path, document: made_up.Json) -> None:
    text = message(made_up.write(document, tmp_path / "r.json"))
    assert "is not a results file" in text


def test_other_schema_version(tmp_path: Path) -> None:
    text = message(made_up.write(made_up.results([]) | {"schema": 9}, tmp_path / "r.json"))
    assert "/schema: found 9, expected 1: the file was altered, or written by another rev" in text


def test_broken_schema_names_the_place(tmp_path: Path) -> None:
    document = made_up.results([made_up.point("a/b", 8), made_up.point("a/c", 8)])
    document["points"][1]["timing"]["cold"]["median_ns"] = "fast"
    text = message(made_up.write(document, tmp_path / "r.json"))
    assert "/points/1/timing/cold/median_ns" in text
    assert 'found "fast", expected a number' in text
    assert "\n" not in text


@pytest.mark.parametrize("key", ["n", "seed", "index"])
def test_numbers_with_a_point_are_no_integers(tmp_path: Path, key: str) -> None:
    """The figures took 1024.0 for a text, and ended in a traceback."""
    document = made_up.results([made_up.point("a/b", 1024)])
    document["points"][0][key] = float(document["points"][0][key])
    missing = {
        name: document["points"][0].get(name)
        for name in (
            "index", "variant", "operation", "backend", "n", "buckets", "type", "op",
            "distribution", "labels", "params",
        )
    }  # fmt: skip
    assert f"/points/0/{key}: " in message(made_up.write(document, tmp_path / "r.json"))
    document["points"] = []
    document["planned"] = {"points": 1, "sweeps": [[0]], "missing": [missing]}
    if key in missing:
        text = message(made_up.write(document, tmp_path / "r.json"))
        assert f"/planned/missing/0/{key}: " in text


def test_time_of_an_unverified_result_is_refused(tmp_path: Path) -> None:
    wrong = made_up.unmeasured("a/b", 8, "wrong", "differs")
    wrong["timing"] = {"cold": made_up.summary(5.0)}
    assert "/points/0/timing" in message(
        made_up.write(made_up.results([wrong]), tmp_path / "r.json")
    )


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"l2_bytes": 1 << 20}, "of NVIDIA Imaginary 1 with 1048576 bytes of L2 and 4800 GB/s"),
        ({"peak_gb_per_s": 1000.0}, "with 52428800 bytes of L2 and 1000 GB/s"),
        ({"peak_gb_per_s": None}, "and unknown GB/s"),
    ],
)
def test_runs_of_other_hardware_are_refused(tmp_path: Path, facts: made_up.Json, told: str) -> None:
    one, other = (made_up.results([made_up.point("a/b", 8)]) for _ in range(2))
    other["environment"]["gpu"] |= facts
    paths = [
        made_up.write(document, tmp_path / name)
        for document, name in ((one, "1.json"), (other, "2.json"))
    ]
    assert len(load_devices([paths[0], paths[0]])[0].runs) == 2
    with pytest.raises(InputError) as caught:
        load_devices(paths)
    assert told in str(caught.value)
    assert "1.json" in str(caught.value) and "2.json" in str(caught.value)


def test_a_gpu_and_the_cpu_of_another_machine_are_refused(tmp_path: Path) -> None:
    gpu = made_up.results([made_up.point("a/b", 8)])
    cpu = made_up.results([made_up.point("cpu/b", 8, backend="cpu")], gpu=False)
    of_gpu, beside = (made_up.write(each, tmp_path / n) for each, n in ((gpu, "1"), (cpu, "2")))
    (device,) = load_devices([of_gpu, beside])
    assert len(device.runs) == 2
    cpu["environment"]["cpu"]["model"] = "Other CPU"
    other = made_up.write(cpu, tmp_path / "3.json")
    for paths in ([of_gpu, other], [other, of_gpu]):
        with pytest.raises(InputError, match="another machine by themselves") as caught:
            load_devices(paths)
        for part in ("Imaginary CPU", "Other CPU", str(of_gpu), str(other)):
            assert part in str(caught.value)
    assert [device.name for device in load_devices([other])] == ["Other CPU"]
    gpu["environment"]["cpu"]["model"] = "Other CPU"  # no point of it in either
    (device,) = load_devices([of_gpu, made_up.write(gpu, tmp_path / "4.json")])
    assert len(device.runs) == 2


def test_results_of_several_devices_are_told_apart(tmp_path: Path) -> None:
    """A processor's results belong to the card of their folder, and where no card's lie there
    they are a device's of their own."""
    one, beside, other = (made_up.results([made_up.point("a/b", 8)]) for _ in range(3))
    other["environment"]["gpu"]["name"] = "NVIDIA Imaginary 2"
    beside = made_up.results([made_up.point("cpu/b", 8, backend="cpu")], gpu=False)
    for folder in ("one", "other", "cpu"):
        (tmp_path / folder).mkdir()
    paths = [
        made_up.write(beside, tmp_path / "cpu" / "alone.json"),
        made_up.write(beside, tmp_path / "one" / "beside.json"),
        made_up.write(other, tmp_path / "other" / "b.json"),
        made_up.write(one, tmp_path / "one" / "a.json"),
    ]
    found = {device.name: [run.path.name for run in device.runs] for device in load_devices(paths)}
    assert found == {
        "NVIDIA Imaginary 1": ["beside.json", "a.json"],
        "NVIDIA Imaginary 2": ["b.json"],
        "Imaginary CPU": ["alone.json"],
    }
    assert list(found)[-1] == "Imaginary CPU"  # cards come first
    assert load_devices(paths)[0].slug == "nvidia-imaginary-1"
    # the fastest first, whichever has more files
    other["environment"]["gpu"]["peak_gb_per_s"] = 2 * one["environment"]["gpu"]["peak_gb_per_s"]
    made_up.write(other, tmp_path / "other" / "b.json")
    assert [device.slug[-1] for device in load_devices(paths)] == ["2", "1", "u"]


def test_a_second_round_lies_beside_the_first(tmp_path: Path) -> None:
    document = made_up.results([made_up.point("a/b", 8)])
    path = made_up.write(document, tmp_path / "a.json")
    assert load(path).again is None
    (tmp_path / "again").mkdir()
    again = made_up.write(document, tmp_path / "again" / "a.json")
    run = load(path)
    assert run.again is not None and run.again.name == "again/a.json"
    (device,) = load_devices([path])
    assert [each.name for each in device.runs] == ["a.json"]
    assert [each.name for each in device.rounds] == ["a.json", "again/a.json"]
    (named,) = load_devices([path, again])  # by name, it is not taken twice
    assert [each.name for each in named.rounds] == ["a.json", "again/a.json"]
    document["environment"]["gpu"]["l2_bytes"] = 1 << 20
    made_up.write(document, again)
    with pytest.raises(InputError, match="1048576 bytes of L2"):
        load_devices([path])


def test_points_of_a_gpu_that_is_not_there(tmp_path: Path) -> None:
    document = made_up.results([made_up.point("a/b", 8)])
    document["environment"]["gpu"] = None
    text = message(made_up.write(document, tmp_path / "r.json"))
    assert "points of cuda and no GPU" in text


def test_opencl_on_the_card_that_cuda_describes(tmp_path: Path) -> None:
    points = [made_up.point("a/b", 8), made_up.point("a/b", 8, backend="opencl")]
    document = made_up.results(points)
    one = load(made_up.write(document, tmp_path / "1.json"))
    assert one.card_of("opencl") == one.card_of("cuda") == made_up.GPU
    assert "OpenCL of Imaginary OpenCL 580.65.06, " in one.provenance
    document["environment"]["opencl"] = made_up.OPENCL | {"name": "Some CPU", "platform": "PoCL"}
    other = load(made_up.write(document, tmp_path / "2.json"))
    assert other.card_of("opencl") is None
    assert "OpenCL of PoCL 580.65.06 on Some CPU, " in other.provenance
    with pytest.raises(InputError, match=r"NVIDIA Imaginary 1 and .* of Some CPU; give"):
        load_devices([one.path, other.path])
    document["environment"]["opencl"] = None
    assert "points of opencl and no OpenCL device" in message(
        made_up.write(document, tmp_path / "3.json")
    )


def test_opencl_alone_names_the_run(tmp_path: Path) -> None:
    document = made_up.results([made_up.point("a/b", 8, backend="opencl")])
    document["environment"]["gpu"] = None
    results = load(made_up.write(document, tmp_path / "1.json"))
    assert results.device == made_up.OPENCL["name"]
    assert results.card_of("opencl") is None


def test_the_newest_local_result_is_the_default(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "local"
    folder.mkdir(parents=True)
    for name, seconds in (("a.json", 1), ("b.json", 3), ("c.json", 2)):
        (folder / name).touch()
        os.utime(folder / name, (seconds, seconds))
    assert default_results(tmp_path) == [folder / "b.json"]


def test_the_default_does_not_depend_on_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    here = default_results()
    assert not any(path.is_absolute() for path in here)
    monkeypatch.chdir(tmp_path)
    assert default_results() == [ROOT / path for path in here]

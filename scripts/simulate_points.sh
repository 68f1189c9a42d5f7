#!/usr/bin/env bash
# Simulates the CPU points of a results file:
#   scripts/simulate_points.sh RESULTS HIERARCHY FOLDER
# writes one file for each point to the folder. A file of the same hierarchy that is no older than
# the results and the simulator stays, so that the same command goes on where one was cut. What lies in
# x.simulated beside x.json is drawn by `make figures RESULTS="x.json" ONLY=eilers-F2.8` and read by
# `make claims`. To be run in the repository's root, once `make figures` has installed the Python
# packages. BIN is where cache-sim lies (build/bin).
set -euo pipefail

if [[ $# -ne 3 ]]; then
  echo "usage: scripts/simulate_points.sh RESULTS HIERARCHY FOLDER" >&2
  exit 2
fi
simulator=${BIN:-build/bin}/cache-sim
mkdir -p "$3"
# Thousands of buckets and more are much slower than a few: each core takes the next that is left.
PYTHONPATH=scripts .venv/bin/python - "$@" "$simulator" <<'PROGRAM' | xargs -r -P "$(nproc)" -L 1 "$simulator" simulate > /dev/null
import json
import shlex
import sys
from pathlib import Path

from reduce_bench_report.loader import InputError, load

results, hierarchy, folder, simulator = sys.argv[1:]


def read(path: Path) -> dict[str, object]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def is_done(file: Path) -> bool:
    """Whether the prediction is of these caches, and no older than what was measured and the
    simulator."""
    made_from = [Path(results), Path(simulator)]
    return read(file).get("hierarchy") == read(Path(hierarchy)) and all(
        each.exists() and each.stat().st_mtime <= file.stat().st_mtime for each in made_from
    )


try:
    points = load(Path(results)).points
except InputError as error:
    sys.exit(f"simulate_points.sh: {error}.")
for point in points:
    params = dict(point.params)
    simulated = (
        point.backend == "cpu"
        and point.status == "ok"
        and point.operation in ("multireduce", "multiscan", "scatter", "gather")
        and (point.type, point.op) in (("i32", "sum"), ("i32", "none"))
        and params.get("scan") != "inclusive"
        and not point.variant.endswith("-parallel")
    )
    if not simulated:
        continue
    arguments = ["--hierarchy", hierarchy, "--algorithm", point.variant]
    arguments += ["--n", str(point.n), "--buckets", str(point.buckets)]
    arguments += ["--labels", point.labels.name, "--seed", str(point.seed)]
    for name, option in (("sort_bits", "--sort-bits"), ("fetch", "--fetch")):
        if name in params:
            arguments += [option, params[name]]
    if params.get("pages") == "huge":
        arguments += ["--page-bytes", str(2 << 20)]
    file = Path(folder, f"{point.raw['index']}.json")
    if not is_done(file):
        print(shlex.join([*arguments, "-o", str(file)]))
PROGRAM

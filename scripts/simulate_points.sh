#!/usr/bin/env bash
# Simulates the CPU points of a results file:
#   scripts/simulate_points.sh RESULTS HIERARCHY FOLDER
# writes one file to the folder for each point that cache-sim can predict. It takes no settings of
# labels and reads no file of them, so points of such labels are left out, as are those on pages that
# the hierarchy lacks. A file of the same hierarchy that is no older than the results and the
# simulator stays, so that the same command goes on where one was cut. What lies in x.simulated beside
# x.json is drawn by `make figures RESULTS="x.json" ONLY=eilers-F2.8` and read by `make claims`. To be
# run in the repository's root, once `make figures` has installed the Python packages. BIN is where
# cache-sim lies (build/bin).
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

from reduce_bench_report.loader import InputError, checked_json, load
from reduce_bench_report.paths import SCHEMAS
from reduce_bench_report.simulation import draws, repeats

HUGE_BYTES = 2 << 20
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
    return repeats(read(file).get("hierarchy"), caches) and all(
        each.exists() and each.stat().st_mtime <= file.stat().st_mtime for each in made_from
    )


try:
    points = load(Path(results)).points
    caches = checked_json(Path(hierarchy), SCHEMAS / "hierarchy.schema.json", "hierarchy")
except InputError as error:
    sys.exit(f"simulate_points.sh: {error}.")
has_huge_pages = any(pages["bytes"] == HUGE_BYTES for pages in caches.get("pages", []))
for point in points:
    params = dict(point.params)
    simulated = (
        point.backend == "cpu"
        and point.status == "ok"
        and point.operation in ("multireduce", "multiscan", "scatter", "gather")
        and (point.type, point.op) in (("i32", "sum"), ("i32", "none"))
        and params.get("scan") != "inclusive"
        and not point.variant.endswith("-parallel")
        and point.labels is not None
        and draws(point.labels)
        and (has_huge_pages or params.get("pages") != "huge")
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
        arguments += ["--page-bytes", str(HUGE_BYTES)]
    file = Path(folder, f"{point.raw['index']}.json")
    if not is_done(file):
        print(shlex.join([*arguments, "-o", str(file)]))
PROGRAM

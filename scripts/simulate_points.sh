#!/usr/bin/env bash
# Simulates the CPU points of a results file, for the figure of simulated against measured times:
#   scripts/simulate_points.sh RESULTS HIERARCHY FOLDER
# writes one file for each point to the folder. BIN is where cache-sim lies (build/bin).
set -euo pipefail

if [[ $# -ne 3 ]]; then
  echo "usage: scripts/simulate_points.sh RESULTS HIERARCHY FOLDER" >&2
  exit 2
fi
mkdir -p "$3"
# Thousands of buckets and more are much slower than a few: each core takes the next that is left.
python3 - "$@" <<'PROGRAM' | xargs -r -P "$(nproc)" -L 1 "${BIN:-build/bin}/cache-sim" simulate > /dev/null
import json
import shlex
import sys

results, hierarchy, folder = sys.argv[1:]
with open(results, encoding="utf-8") as file:
    points = json.load(file)["points"]
for point in points:
    simulated = (
        point["backend"] == "cpu"
        and point["status"] == "ok"
        and point["operation"] in ("multireduce", "multiscan", "scatter", "gather")
        and (point["type"], point["op"]) in (("i32", "sum"), ("i32", "none"))
        and point["params"].get("scan") != "inclusive"
        and not point["variant"].endswith("-parallel")
    )
    if not simulated:
        continue
    params = point["params"]
    arguments = ["--hierarchy", hierarchy, "--algorithm", point["variant"]]
    arguments += ["--n", str(point["n"]), "--buckets", str(point["buckets"])]
    arguments += ["--labels", point["labels"]["name"], "--seed", str(point["seed"])]
    for name, option in (("sort_bits", "--sort-bits"), ("fetch", "--fetch")):
        if name in params:
            arguments += [option, params[name]]
    if params.get("pages") == "huge":
        arguments += ["--page-bytes", str(2 << 20)]
    arguments += ["-o", f"{folder}/{point['index']}.json"]
    print(shlex.join(arguments))
PROGRAM

#!/usr/bin/env bash
# Measures two builds of the driver in turns on this machine and compares them.
#
#   scripts/compare_builds.sh BASE_DRIVER BASE_CONFIG NEW_DRIVER NEW_CONFIG OUTPUT [RUN_OPTION...]
#
# OUTPUT is a folder: base/ and new/ get one results file per round, comparison.md and
# comparison.xml (JUnit) the verdicts. ROUNDS (default 5) says how often each build is run;
# THRESHOLDS names a threshold file; ALLOW_MISSING=1 lets NEW lack points that BASE has. COUNT=1
# counts what kernels do on the emulator, once, instead of timing them: nothing then varies. The exit
# code is that of `reduce-bench compare`: 1 for a regression or a lost point, 2 where nothing could
# be compared, 4 where something is inconclusive.
set -euo pipefail

if (($# < 5)); then
  echo "usage: $0 BASE_DRIVER BASE_CONFIG NEW_DRIVER NEW_CONFIG OUTPUT [RUN_OPTION...]" >&2
  exit 2
fi
declare -rA driver=([base]=$1 [new]=$3) config=([base]=$2 [new]=$4)
readonly output=$5 count=${COUNT:-0}
rounds=${ROUNDS:-5}
shift 5
if ! [[ $rounds =~ ^[1-9][0-9]*$ ]]; then
  echo "compare_builds: ROUNDS is '$rounds': give a number above 0" >&2
  exit 2
fi

if ! [[ ${ALLOW_MISSING:-0} =~ ^[01]$ ]]; then
  echo "compare_builds: ALLOW_MISSING is '$ALLOW_MISSING': give 1 to allow lost points, or 0" >&2
  exit 2
fi

how=(--keep-samples)
if [[ $count == 1 ]]; then
  rounds=1 how=(--count)
elif [[ $count != 0 ]]; then
  echo "compare_builds: COUNT is '$count': give 1 to count instead of timing, or 0" >&2
  exit 2
fi

for side in base new; do
  if [[ ! -f ${driver[$side]} || ! -x ${driver[$side]} ]]; then
    echo "compare_builds: '${driver[$side]}' is not a program: build it, or name another driver" >&2
    exit 2
  fi
done

# measure SIDE ROUND [RUN_OPTION...]: wrong (1) and failed (4) points are for the comparison to judge.
measure() {
  local side=$1 round=$2 status=0
  shift 2
  echo "compare_builds: round $round of $rounds, $side" >&2
  "${driver[$side]}" run --config "${config[$side]}" "${how[@]}" \
    -o "$output/$side/$(printf '%03d' "$round").json" "$@" >"$output/$side.log" 2>&1 || status=$?
  if [[ $status != [014] ]]; then
    echo "compare_builds: ${driver[$side]} failed with exit code $status; its last words:" >&2
    tail -n 3 "$output/$side.log" >&2
    exit "$status"
  fi
}

# Results of an earlier comparison would be taken for rounds of this one.
rm -rf "${output:?}"/{base,new,comparison.*}
mkdir -p "$output"/{base,new}
for ((round = 1; round <= rounds; ++round)); do
  # In turns, the first one alternating, so that neither side always meets the warmer machine.
  sides=(base new)
  ((round % 2)) || sides=(new base)
  for side in "${sides[@]}"; do measure "$side" "$round" "$@"; done
done

compare=("${driver[new]}" compare)
if [[ $count == 1 ]]; then compare+=("$output"/{base,new}/001.json); else compare+=("$output"/{base,new}); fi
[[ ${ALLOW_MISSING:-0} == 0 ]] || compare+=(--allow-missing)
[[ -z ${THRESHOLDS:-} ]] || compare+=(--config "$THRESHOLDS")
# report FORMAT: ends where nothing could be compared or written.
report() {
  local status=0
  "${compare[@]}" --format "$1" || status=$?
  [[ $status == [014] ]] || exit "$status"
  return "$status"
}
status=0
report markdown >"$output/comparison.md" || status=$?
report junit >"$output/comparison.xml" || status=$?
report text || status=$?
exit "$status"

#!/usr/bin/env bash
# Builds two revisions, measures them in turns on this machine and compares them.
#
#   scripts/compare_revisions.sh BASE [HEAD]
#
# BASE and HEAD are whatever git takes for a commit; HEAD is the one checked out if left out.
# Without a GPU and without CONFIG, what every kernel does is counted instead of timing anything.
# CONFIG (default configs/ci.json) is read from each revision, so that either runs the variants it
# has. ROUNDS, ALLOW_MISSING and OUTPUT are those of compare_builds.sh (default 5, 0 and
# build-compare/results); CUDA_ARCHS as for make. The verdicts are in OUTPUT/comparison.md; the exit code is that of
# `reduce-bench compare`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly config=${CONFIG:-configs/ci.json} output=${OUTPUT:-build-compare/results}
readonly -A revision=([base]=${1:?a revision to compare with} [head]=${2:-HEAD})

say() { echo "compare_revisions: $*" >&2; }

if [[ -z ${2:-} && -n $(git status --porcelain --untracked-files=no) ]]; then
  say "uncommitted changes are not compared: commit them to have them in HEAD"
fi
git worktree prune
# Both are built in one tree: the second compiles only what differs from the first, and nothing of
# where it lies tells the drivers apart.
readonly tree=build-compare/tree
# Both with the headers that this checkout's own build takes (cmake/cuda.cmake).
cccl=$(compgen -G "$PWD/.venv/lib/python3*/site-packages/nvidia/cu*/include/cccl" | tail -n 1) || true
readonly cccl
for side in base head; do
  commit=$(git rev-parse --verify --quiet "${revision[$side]}^{commit}") || {
    say "'${revision[$side]}' names no commit here: fetch it, or name another"
    exit 2
  }
  say "building $side, ${commit:0:10}"
  if [[ -e $tree/.git ]]; then
    git -C "$tree" checkout --quiet --detach "$commit"
  else
    git worktree add --quiet --detach "$tree" "$commit"
  fi
  if [[ ! -f $tree/$config ]]; then
    say "revision '${revision[$side]}' has no $config: name a file of both with CONFIG"
    exit 2
  fi
  # Fresh, because the cache would keep the other revision's defaults. Older revisions read
  # CUDA_ARCHS.
  (
    cd "$tree" &&
      cmake --fresh --preset default -DBUILD_TESTING=OFF -DREDUCE_BENCH_NATIVE=ON \
        ${cccl:+"-DREDUCE_BENCH_CCCL=$cccl"} \
        ${CUDA_ARCHS:+"-DCMAKE_CUDA_ARCHITECTURES=$CUDA_ARCHS" "-DCUDA_ARCHS=$CUDA_ARCHS"} &&
      cmake --build --preset default -j "${JOBS:-$(nproc)}" --target bin/reduce-bench
  ) >"build-compare/$side.log" 2>&1 || {
    say "building '${revision[$side]}' failed; build-compare/$side.log ends with:"
    tail -n 20 "build-compare/$side.log" >&2
    exit 2
  }
  mkdir -p "build-compare/$side"
  cp "$tree/build/bin/reduce-bench" "build-compare/$side/reduce-bench"
  cp "$tree/$config" "build-compare/$side/config.json"
  cp "$tree/configs/counts.json" "build-compare/$side/counts.json" 2>/dev/null || true
done

export THRESHOLDS=${THRESHOLDS-configs/thresholds.json}
# grep ends at its first match, so that a program that still writes to it would fail: what it writes
# is read whole first.
can_count() {
  local help
  help=$("build-compare/$1/reduce-bench" run --help) || true
  [[ -f build-compare/$1/counts.json ]] && grep -q -e --count <<<"$help"
}
has_gpu() {
  local about
  about=$(build-compare/head/reduce-bench info) || true
  grep -q '^GPU' <<<"$about"
}
# Without a GPU only the CPU's variants could be timed, on a runner whose noise hides most of what
# changes. What every kernel does is counted there instead, if both revisions can count.
if [[ -z ${CONFIG:-} ]] && ! has_gpu && can_count base && can_count head; then
  say "no GPU: counts what the kernels do instead of timing; CONFIG=$config times the CPU's variants"
  COUNT=1 exec scripts/compare_builds.sh build-compare/base/{reduce-bench,counts.json} \
    build-compare/head/{reduce-bench,counts.json} "$output"
fi

exec scripts/compare_builds.sh build-compare/base/{reduce-bench,config.json} \
  build-compare/head/{reduce-bench,config.json} "$output"

#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy over the C++ of apps/.
#
#   scripts/clang_tidy.sh [FILE...]    all of apps/ by default
#
# Nothing is compiled, and no CUDA toolkit is needed: a folder of its own, build-lint, is configured
# for the compile commands, without CUDA, with a command for every single file, and without precompiled
# headers, since clang reads none that g++ made. JOBS files are checked at a time (default: one for each processor).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly folder=build-lint
cmake -S . -B "$folder" -G Ninja -DREDUCE_BENCH_CUDA=OFF -DBUILD_TESTING=OFF \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_UNITY_BUILD=OFF \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
cmake --build "$folder" --target revision >/dev/null # makes the one header that is generated
export folder

# Shows what clang-tidy says of a file where it fails: of others it only counts, on standard error,
# what it left out in the system's headers.
check() {
  local said
  said=$(clang-tidy -p "$folder" --quiet "$1" 2>&1) || { echo "$said" && return 1; }
}
export -f check

# shellcheck disable=SC2016 # the inner shell is to expand it
{ if (($#)); then printf '%s\0' "$@"; else git ls-files -z 'apps/*.cpp'; fi; } |
  xargs -0 -n 1 -P "${JOBS:-$(nproc)}" bash -c 'check "$0"'

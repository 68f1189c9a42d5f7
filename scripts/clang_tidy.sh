#!/usr/bin/env bash
# Runs clang-tidy with the checks of .clang-tidy over the C++ of apps/.
#
#   scripts/clang_tidy.sh [FILE...]    all of apps/ by default
#
# Nothing is compiled, and no CUDA toolkit is needed: a folder of its own, build-lint, is configured
# for the compile commands, without CUDA and without precompiled headers, since clang reads none that
# g++ made. All of apps/ is checked in units of several files, which takes half as long as one by one,
# because the libraries' headers are most of what is read. JOBS units are checked at a time (default:
# one for each processor).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly folder=build-lint
rm -rf "$folder" # its units would remain when a file leaves them
cmake -S . -B "$folder" -G Ninja -DREDUCE_BENCH_CUDA=OFF -DBUILD_TESTING=OFF \
  -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_UNITY_BUILD="$( (($#)) && echo OFF || echo ON)" \
  -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
cmake --build "$folder" --target revision >/dev/null # makes the one header that is generated
export folder

# Prints the unit that each file belongs to, or the file where it is compiled by itself or not at all.
# Unused aliases of namespaces are found in files that are checked by themselves alone.
units() {
  local file
  git ls-files 'apps/*.cpp' | while read -r file; do
    grep -rlF --include='unity_*.cxx' "#include \"$PWD/$file\"" "$folder/apps" || echo "$file"
    ! grep -qE '^ *namespace \w+ = ' "$file" || echo "$file"
  done | sort -u
}

# Shows what clang-tidy says of a file where it fails: of others it only counts, on standard error,
# what it left out in the system's headers. A unit includes files that end in .cpp, as nothing else may.
check() {
  local said suspicious=
  [[ $1 == *.cpp ]] || suspicious=--checks=-bugprone-suspicious-include
  said=$(clang-tidy -p "$folder" --quiet ${suspicious:+"$suspicious"} "$1" 2>&1) || { echo "$said" && return 1; }
}
export -f check

# shellcheck disable=SC2016 # the inner shell is to expand it
{ if (($#)); then printf '%s\n' "$@"; else units; fi; } | tr '\n' '\0' |
  xargs -0 -n 1 -P "${JOBS:-$(nproc)}" bash -c 'check "$0"'

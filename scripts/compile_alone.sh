#!/usr/bin/env bash
# Compiles every variant of the emulator and of the CPU by itself, and keeps nothing: a build compiles
# several in one or behind a precompiled header, which hide that one lacks an include.
#
#   scripts/compile_alone.sh
#
# It needs what `scripts/setup.sh build` installs, and no CUDA toolkit: those that only nvcc compiles are
# left out. JOBS files are compiled at a time (default: one for each processor).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Prints the files but those that only nvcc compiles: CUDA(<id with - and / as _>) in the catalog.
emulated() {
  local file id
  while read -r file; do
    id=${file#kernels/*/}
    id=${id%.cu}
    grep -q "^CUDA(${id//[-\/]/_})" kernels/catalog.def || echo "$file"
  done
}

alone() {
  xargs -r -n 1 -P "${JOBS:-$(nproc)}" "${CXX:-g++}" -std=c++20 -I . -fsyntax-only "$@" -x c++
}

git ls-files 'kernels/*/*/*.cu' | emulated | alone -DREDUCE_BENCH_EMU -Wno-unknown-pragmas
git ls-files 'kernels/*/*/*.cpp' | alone -fopenmp

#!/usr/bin/env bash
# Installs what this machine lacks; quick and silent where nothing is missing.
#
#   scripts/setup.sh build|test|browser|lint  Debian packages; for a build with nvcc also CCCL's headers,
#                                             and for one with OpenCL its headers and loader
#   scripts/setup.sh python REQUIREMENTS      .venv with the packages pinned in the file
#
# What is present is found out as the build will, by commands, headers and libraries, so that a
# machine whose libraries came from elsewhere (modules, conda, a container image) needs no apt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# needed for | how it is looked for | Debian and Ubuntu package
readonly needs='
build  | compiler C++20                                 | g++
build  | cmake 3.25                                     | cmake
build  | program ninja                                  | ninja-build
build  | program python3                                | python3
build  | header CLI/CLI.hpp                             | libcli11-dev
build  | header nlohmann/json.hpp                       | nlohmann-json3-dev
build  | header fmt/core.h                              | libfmt-dev
build  | header gtest/gtest.h                           | libgtest-dev
build  | header boost/context/protected_fixedsize_stack.hpp | libboost-context-dev
build  | library boost_context                          | libboost-context-dev
build  | header boost/math/distributions/students_t.hpp | libboost-dev
opencl | header CL/opencl.hpp                           | opencl-clhpp-headers
opencl | library OpenCL                                 | ocl-icd-opencl-dev
test   | opencl platform                                | pocl-opencl-icd
test   | program mpirun                                 | openmpi-bin
test   | header valijson/validator.hpp                  | libvalijson-dev
test   | python library                                 | libpython3-dev
browser| browser chromium                               | chromium
browser| program chromedriver                           | chromium-driver
lint   | program shellcheck                             | shellcheck
lint   | program clang-tidy                             | clang-tidy
lint   | clang-header omp.h                             | libomp-dev
python | python-with-venv 3.11                          | python3-venv
'

say() { echo "setup: $*" >&2; }

# CMake searches these prefixes and the compiler does not.
IFS=: read -ra prefixes <<<"${CMAKE_PREFIX_PATH:-}"
includes=("${prefixes[@]/%//include}")
libraries=("${prefixes[@]/%//lib/}")

# present KIND NAME: whether the machine has it.
present() {
  local compiler
  read -ra compiler <<<"${CXX:-g++}"
  case $1 in
    compiler) "${compiler[@]}" -std=c++20 -x c++ -fsyntax-only /dev/null ;;
    cmake) printf '%s\n' "$2" "$(cmake --version | sed -n 's/^cmake version //p')" | sort -VC ;;
    program) command -v "$2" ;;
    browser) command -v "$2" || command -v google-chrome || command -v google-chrome-stable ;;
    header)
      printf '#if !__has_include(<%s>)\n#error absent\n#endif\n' "$2" |
        "${compiler[@]}" "${includes[@]/#/-I}" -x c++ -E -
      ;;
    clang-header)
      # Each compiler has its own omp.h, and clang refuses that of g++ 12.
      echo "#include <$2>" | clang-tidy --quiet --checks='-*,misc-*' /dev/stdin -- -x c++
      ;;
    library)
      # The compiler answers with a path for what it finds and with the bare name for the rest.
      local extension
      for extension in so a; do
        [[ $("${compiler[@]}" "${libraries[@]/#/-B}" -print-file-name="lib$2.$extension") == */* ]] &&
          return
      done
      false
      ;;
    opencl)
      # What the loader looks for: a file that names a driver.
      [[ -f ${OCL_ICD_VENDORS:-} ]] || compgen -G "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}/*.icd"
      ;;
    python)
      python3 -c "import os, sys, sysconfig
name = 'libpython%d.%d.so.1.0' % sys.version_info[:2]
sys.exit(not os.path.exists(os.path.join(sysconfig.get_config_var('LIBDIR'), name)))"
      ;;
    python-with-venv)
      python3 -c "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, ${2#3.}))"
      ;;
  esac &>/dev/null
}

# Fills `missing` with what `purpose` lacks, and `packages` with the packages that hold it.
find_missing() {
  local needed_for kind name package
  missing=()
  packages=()
  while IFS=' |' read -r needed_for kind name package; do
    if [[ $needed_for == "$purpose" ]] && ! present "$kind" "$name"; then
      missing+=("$kind $name")
      [[ " ${packages[*]} " == *" $package "* ]] || packages+=("$package")
    fi
  done <<<"$needs"
}

apt_install() {
  local as_root=()
  command -v apt-get >/dev/null || return
  if ((EUID != 0)); then
    sudo -n true 2>/dev/null || return
    as_root=(sudo -n)
  fi
  say "installing ${packages[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq
    -o DPkg::Lock::Timeout=120 -o Acquire::Retries=1 -o Acquire::http::Timeout=20)
  local install=("${apt[@]}" install -y --no-install-recommends "${packages[@]}")
  # Package lists are absent from fresh images and stale in old ones: fetch them only then.
  "${install[@]}" &>/dev/null || { "${apt[@]}" update && "${install[@]}" >/dev/null; }
}

install_packages() {
  find_missing
  ((${#missing[@]})) || return 0
  apt_install || true
  find_missing
  ((${#missing[@]})) || return 0
  local list
  printf -v list ', %s' "${missing[@]}"
  say "this machine lacks ${list:2}; install it, on Debian or Ubuntu with:" \
    "sudo apt-get update && sudo apt-get install -y ${packages[*]}"
  return 1
}

install_python_packages() {
  local requirements=$1 python=.venv/bin/python stamp=.venv/$1.sha256 hash
  hash=$(cat requirements.txt "$requirements" | sha256sum)
  if "$python" -c '' 2>/dev/null; then
    [[ $(cat "$stamp" 2>/dev/null) != "$hash" ]] || return 0
  else
    install_packages
    python3 -m venv --clear .venv
  fi
  say "installing the Python packages of $requirements into .venv"
  if ! "$python" -m pip install --quiet --disable-pip-version-check -r "$requirements"; then
    say "pip could not install $requirements: connect this machine to a package index, or set" \
      "PIP_NO_INDEX=1 and PIP_FIND_LINKS to a folder with the wheels"
    return 1
  fi
  echo "$hash" >"$stamp"
}

# The newest CUB and Thrust, for a build of the CUDA backend, which does without where they are not to
# be had: it then takes the toolkit's.
install_cccl() {
  [[ -n $(command -v nvcc) || -x ${CUDA_PATH:-/usr/local/cuda}/bin/nvcc ]] || return 0
  PIP_RETRIES=1 scripts/setup.sh python requirements-cuda.txt 2>/dev/null ||
    say "CUB and Thrust are the CUDA Toolkit's, not the newest: 'scripts/setup.sh python" \
      "requirements-cuda.txt' says why"
}

# The build does without OpenCL where it is not to be had.
install_opencl() {
  local purpose=opencl
  install_packages || say "the OpenCL backend is left out"
}

purpose=${1:-}
case $purpose in
  build) install_packages && install_opencl && install_cccl ;;
  lint) install_packages ;;
  test | browser) install_packages || say "the tests that need it are left out" ;;
  python) install_python_packages "${2:?a requirements file}" ;;
  *)
    say "unknown purpose '$purpose': choose build, test, browser, lint or python REQUIREMENTS"
    exit 2
    ;;
esac

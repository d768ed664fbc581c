#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# test.sh [--quick] [CTEST ARGUMENTS]: gets what is missing, builds everything, and runs every test.
#
# There are two builds: all of it with g++ for this machine's processor; and, where clang is found, the tests of single
# headers with clang, for the oldest processor of this architecture, under the address and undefined-behaviour
# sanitizers. One ctest runs both, so that the last lines tell all.
#   --quick   leaves out the tests labelled slow, which train on real images
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# What clang compiles: the folders whose tests are about one header each.
clang_folders='base;expr;ops;program;kernel;device;io;data'

selection=()
if [ "${1:-}" = --quick ]; then
    selection=(-LE slow)
    shift
fi

need_compiler_and_cmake
want_header zlib.h zlib1g-dev
want_header png.h libpng-dev
want_header boost/test/unit_test.hpp libboost-test-dev
want_header boost/program_options.hpp libboost-program-options-dev
install_wanted

# A second compiler is worth asking for, but not worth failing for.
has_command clang++ || apt_install clang || true
if has_command clang++ && ! has_sanitizers; then
    major=$(clang++ -dumpversion | cut -d. -f1)
    apt_install "libclang-rt-$major-dev" || true
fi

builds=$top/build/test
mkdir -p "$builds/all"
: >"$builds/all/CTestTestfile.cmake"
built=yes

# build NAME OPTIONS...: a file that does not compile fails its own test, and leaves the others to run.
build() {
    local name=$1 go_on=(-k)
    shift
    say "Building with $name"
    configure "$builds/$name" "$@"
    if [ -e "$builds/$name/build.ninja" ]; then go_on=(-k 0); fi
    cmake --build "$builds/$name" --parallel "$(jobs)" -- "${go_on[@]}" || built=no
    echo "subdirs(../$name)" >>"$builds/all/CTestTestfile.cmake"
}

build gcc -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$CXX" -DSINTER_NATIVE=ON
if has_command clang++; then
    sanitize=
    if has_sanitizers; then sanitize=address,undefined; fi
    build clang -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++ -DSINTER_NATIVE=OFF -DSINTER_CUDA=OFF \
        -DSINTER_SANITIZE="$sanitize" -DSINTER_TEST_PREFIX=clang/ -DSINTER_TEST_FOLDERS="$clang_folders" \
        -DSINTER_BUILD_EXAMPLES=OFF -DSINTER_BUILD_BENCH=OFF
else
    say "There is no clang++: its tests, the sanitizers and the fuzzers are left out"
fi

say "Testing"
if has_command clang++ && ! has_leak_checking; then export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}; fi
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
passed=yes
ctest --test-dir "$builds/all" --parallel "$(jobs)" --output-on-failure "${selection[@]}" "$@" || passed=no
[ $built$passed = yesyes ]

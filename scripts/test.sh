#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# test.sh [--all] [--quick] [CTEST ARGUMENTS]: gets what is missing, builds everything, and runs every test.
#
# Two compilers share the tests. g++ builds kernels, for this machine's vectors and others, the zoo, examples and tools;
# kernels once more under the address and undefined-behaviour sanitizers; threads and sockets once more under the thread
# sanitizer; in benchmarks it looks for errors of the language alone. Clang, where it is found, builds the rest. For the
# oldest processor of this architecture, sanitized: base, graphs, data, files, sockets and a part of the whole programs.
# For this machine's vectors, plainly: ops, layers, the compiler's own tests, the other programs, which train under
# every strategy, and what GPUs would do without. It reads all headers as well. Where there is no clang g++ builds all.
# One ctest runs all, so that the last lines tell all. Where ccache is installed or can be had, what another checkout
# has compiled is not compiled again.
#
#   --all     each compiler builds and runs all that it can, tests labelled release run, too, and
#             fuzzers try other inputs each time: in half as long again
#   --quick   leaves out the tests labelled slow, which train on real images
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# What clang builds sanitized. Of these g++ builds what must not be sanitized alone.
sanitized_by_clang='base;graph;expr;device;io;data;net;profile;estimator;collective/algorithms.cpp'
trained='checkpoint;hooks;failures.cpp;streaming.cpp;batches.cpp;not_finite.cpp;lbfgs.cpp;alternating.cpp'
members='mirrored.cpp;members.cpp;replicas_of_tables.cpp;zoo_sequences.cpp;elastic_writes.cpp'
# What reads bytes of strangers, damaged files and tables, and adds up what members have.
guarded='hostile.cpp;strangers.cpp;reconnect.cpp;shard_checkpoint.cpp;row_store.cpp;table_delta.cpp'
sanitized_by_clang+=";train/${trained//;/;train/};strategy/${members//;/;strategy/}"
sanitized_by_clang+=";parameter_server/${guarded//;/;parameter_server/}"
# What clang builds without sanitizers and without optimising: whole programs, whose ordinary code and kernels are
# sanitized above and below. It takes six tenths of g++'s time at -O1, and two thirds of its own with sanitizers. It has
# this machine's vectors, since the sanitized programs have those of the oldest processor.
by_clang='strategy;train;parameter_server;compiler;layers;cuda;ops'
# Masked loads and sparse lists, which narrow vectors do not have, are here.
wide_folders='kernel'
# Threads that share memory, and sockets that a thread of their own serves: once more under the
# thread sanitizer. Of servers those tests whose servers and workers are threads of one process, and
# one of whole sessions.
servers='agreed_pushes.cpp;async.cpp;by_clocks.cpp;copies_in_threads.cpp;reconnect.cpp;renewal.cpp;strangers.cpp'
servers="parameter_server/${servers//;/;parameter_server/};strategy/parameter_server/modes.cpp"
rows="data/row_team.cpp;data/shared_batches.cpp;data/stages/further_in_batches.cpp;data/stages/files_in_batches.cpp"
threaded="net;collective/thread_group.cpp;strategy/mirrored.cpp;data/prefetch.cpp;device/threads.cpp;$rows;$servers"

sanitized_elsewhere=$sanitized_by_clang built_elsewhere=$by_clang
all=no left_out='' bench_syntax=ON fuzz_seed=1 fuzz_seconds=3 release=OFF
while :; do
    case ${1:-} in
        --all) all=yes ;;
        --quick) left_out=slow ;;
        *) break ;;
    esac
    shift
done
if [ $all = yes ]; then
    sanitized_by_clang+=';strategy;train;ops;layers;compiler'
    bench_syntax=OFF
    release=ON
    fuzz_seed=0
    fuzz_seconds=5
else
    left_out="release${left_out:+|$left_out}"   # one pattern: ctest leaves out what matches all that it is given
fi

need_compiler_and_cmake
want_library zlib.h z zlib1g-dev
want_library png.h png libpng-dev
want_library boost/test/unit_test.hpp boost_unit_test_framework libboost-test-dev
want_library openssl/ssl.h ssl libssl-dev
want_library boost/asio.hpp c libboost-dev
want_library boost/program_options.hpp boost_program_options libboost-program-options-dev
install_wanted

# A second compiler is worth asking for, but not worth failing for.
has_command clang++ || apt_install clang || true
if has_command clang++ && ! has_sanitizers clang++; then
    major=$(clang++ -dumpversion | cut -d. -f1)
    apt_install "libclang-rt-$major-dev" || true
fi

# Pictures in JPEG: without the library their tests are skipped.
has_library jpeglib.h jpeg || apt_install libjpeg-dev || true

# Another reader of JSON, which the fuzzer of TF_CONFIG asks for its opinion.
[ -e /usr/include/nlohmann/json.hpp ] || apt_install nlohmann-json3-dev || true

# Nor are the reference implementation of safetensors and onnxruntime, which read what we write.
want_python "$top/build/python"

use_compiler_cache

builds=$top/build/test
mkdir -p "$builds/all"
: >"$builds/all/CTestTestfile.cmake"
built=yes

# Clang's linker, where there is one, takes a fifth of the time of GNU's, of which 380 programs take
# a minute of a core.
linker=()
if echo 'int main() {}' | "$CXX" -x c++ -fuse-ld=lld - -o /dev/null 2>/dev/null; then
    linker=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)
fi

# Sixteen tests at a time compile as one program, in less than half the time; ctest runs each by
# itself all the same.
tests_at_once=16

# build NAME OPTIONS...: a file that does not compile fails the tests of its program, and leaves the
# others to run.
build() {
    local name=$1 go_on=(-k)
    shift
    say "Building with $name"
    configure "$builds/$name" -DSINTER_TEST_GROUP="$tests_at_once" "${linker[@]}" "${launcher[@]}" "$@"
    if [ -e "$builds/$name/build.ninja" ]; then go_on=(-k 0); fi
    cmake --build "$builds/$name" --parallel "$(jobs)" -- "${go_on[@]}" || built=no
    echo "subdirs(../$name)" >>"$builds/all/CTestTestfile.cmake"
}

# g++ collects its garbage less often: a tenth less time for a quarter more memory (up to 4 GB for a
# group).
gcc_flags=${CXXFLAGS:-}
if "$CXX" --version | grep -qiE 'g\+\+|gcc'; then
    gcc_flags+=' --param=ggc-min-expand=1000 --param=ggc-min-heapsize=4000000'
fi
clang=no sanitize=''
if has_command clang++; then clang=yes; fi
if [ $clang = yes ] && has_sanitizers clang++; then sanitize=address,undefined; fi
if [ $all = yes ] || [ $clang = no ]; then built_elsewhere=''; fi
if [ $all = yes ] || [ -z "$sanitize" ]; then wide_folders+=';io'; fi   # where clang does not have it sanitized
if [ $all = yes ] || [ -z "$sanitize" ]; then sanitized_elsewhere=''; fi
build gcc -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="$gcc_flags" -DSINTER_NATIVE=ON \
    -DSINTER_EXAMPLE_OPTIMISATION=-O1 -DSINTER_LIBRARY_OPTIMISATION=-O1 \
    -DSINTER_BENCH_OPTIMISATION=-O0 -DSINTER_BENCH_SYNTAX=$bench_syntax \
    -DSINTER_FUZZ_SEED=$fuzz_seed -DSINTER_FUZZ_SECONDS=$fuzz_seconds -DSINTER_TEST_RELEASE=$release \
    -DSINTER_TEST_SANITIZED_ELSEWHERE="$sanitized_elsewhere" -DSINTER_TEST_BUILT_ELSEWHERE="$built_elsewhere" \
    ${python:+-DPython3_EXECUTABLE="$python"}
if has_sanitizers "$CXX"; then
    build gcc-sanitized -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="$gcc_flags" \
        -DSINTER_NATIVE=ON -DSINTER_CUDA=OFF \
        -DSINTER_SANITIZE=address,undefined -DSINTER_TEST_PREFIX=sanitized/ -DSINTER_TEST_FOLDERS="$wide_folders" \
        -DSINTER_BUILD_EXAMPLES=OFF -DSINTER_BUILD_BENCH=OFF -DSINTER_BUILD_TOOLS=OFF
fi
if has_thread_sanitizer "$CXX"; then
    build gcc-threads -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="$gcc_flags" \
        -DSINTER_NATIVE=ON -DSINTER_CUDA=OFF \
        -DSINTER_SANITIZE=thread -DSINTER_TEST_PREFIX=threads/ -DSINTER_TEST_FOLDERS="$threaded" \
        -DSINTER_TEST_COMPILED=OFF \
        -DSINTER_BUILD_EXAMPLES=OFF -DSINTER_BUILD_BENCH=OFF -DSINTER_BUILD_TOOLS=OFF
else
    say "$CXX has no thread sanitizer that runs here: its tests are left out"
fi
if [ $clang = yes ]; then
    build clang -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++ -DSINTER_NATIVE=OFF -DSINTER_CUDA=OFF \
        -DSINTER_SANITIZE="$sanitize" -DSINTER_TEST_PREFIX=clang/ -DSINTER_TEST_FOLDERS="$sanitized_by_clang" \
        -DSINTER_LIBRARY_OPTIMISATION=-O0 ${python:+-DPython3_EXECUTABLE="$python"} \
        -DSINTER_BUILD_EXAMPLES=OFF -DSINTER_BUILD_BENCH=OFF -DSINTER_BUILD_TOOLS=OFF
    if [ -n "$built_elsewhere" ]; then
        build clang-plain -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++ -DSINTER_NATIVE=ON \
            -DSINTER_CUDA=OFF -DSINTER_TEST_PREFIX=clang/ -DSINTER_TEST_FOLDERS="$built_elsewhere" \
            -DSINTER_TEST_BUILT_ELSEWHERE="$sanitized_by_clang" -DSINTER_TEST_OPTIMISATION=-O0 \
            -DSINTER_LIBRARY_OPTIMISATION=-O0 ${python:+-DPython3_EXECUTABLE="$python"} \
            -DSINTER_BUILD_EXAMPLES=OFF -DSINTER_BUILD_BENCH=OFF -DSINTER_BUILD_TOOLS=OFF
    fi
else
    say "There is no clang++: its tests, the sanitizers and the fuzzers are left out"
fi
# Sanitized and not optimised, the kernels' tests compute for ten minutes; g++ has them sanitized
# above.
if [ $all$clang = yesyes ]; then
    build clang-kernels -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++ -DSINTER_NATIVE=OFF -DSINTER_CUDA=OFF \
        -DSINTER_TEST_PREFIX=clang/ -DSINTER_TEST_FOLDERS=kernel \
        -DSINTER_BUILD_EXAMPLES=OFF -DSINTER_BUILD_BENCH=OFF -DSINTER_BUILD_TOOLS=OFF
fi

tell_compiler_cache
say "Testing"
# Most of a sanitized test's time is spent on noting where memory was allocated; a failure is run
# again without this.
asan=malloc_context_size=0
if ! has_leak_checking; then asan+=:detect_leaks=0; fi
export ASAN_OPTIONS=${ASAN_OPTIONS:-$asan}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
passed=yes
# A test's cost is counted in half cores (sinter_test_cores): one that mostly waits for processes that it has killed or
# cut off leaves room for another.
at_once=$((2 * $(jobs)))
ctest --test-dir "$builds/all" --parallel "$at_once" --output-on-failure ${left_out:+-LE "$left_out"} "$@" || passed=no
[ $built$passed = yesyes ]

#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# quickstart.sh [ARGUMENTS]: gets what is missing, builds the quickstart example for this machine,
# and trains it. The arguments go to the example: `scripts/quickstart.sh --help` lists them,
# `--epochs 2` makes it short.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

need_compiler_and_cmake
want_library zlib.h z zlib1g-dev
want_library boost/program_options.hpp boost_program_options libboost-program-options-dev
install_wanted

folder=$top/build/quickstart
mkdir -p "$folder"
say "Building the quickstart example"
configure "$folder" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$CXX" -DSINTER_NATIVE=ON \
    -DSINTER_BUILD_TESTS=OFF -DSINTER_BUILD_BENCH=OFF -DSINTER_CUDA=OFF >"$folder/configure.log" 2>&1 ||
    { cat "$folder/configure.log"; die "Configuring failed."; }
cmake --build "$folder" --target quickstart --parallel "$(jobs)"

say "Training"
exec "$folder/examples/quickstart" "$@"

#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# optimised.sh COMPILER FOLDER: losses of few columns compile with a user's optimisation for each width of vectors. The tests'
# own -O1 leaves out the pass in which g++ 12 crashed.
set -u
cd "$2" || exit 1
[ "$(uname -m)" = x86_64 ] || { echo "skipped: this is no x86-64"; exit 0; }
fault=0
for target in x86-64 x86-64-v3 x86-64-v4; do
    for level in -O2 -O3; do
        said=$("$1" -std=c++20 $level -march=$target -Iinclude -c test/fixtures/narrow_losses.cpp -o /dev/null 2>&1) ||
            { printf '%s\n' "does not compile with $level -march=$target:" "$said"; fault=1; }
    done
done
exit $fault

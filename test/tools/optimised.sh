#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# optimised.sh COMPILER FOLDER: losses of few columns compile with a user's optimisation for each
# width of vectors. The tests' own -O1 leaves out the pass in which g++ 12 crashed. Ordinary code, which has no kernels,
# is left out, and most losses for narrow vectors, with which it did not crash.
set -u
cd "$2" || exit 1
[ "$(uname -m)" = x86_64 ] || { echo "skipped: this is no x86-64"; exit 0; }
fault=0
# -O3 has all passes of -O2; both for 512 bits, for which it crashed.
for flags in "-O3 -march=x86-64 -DFEW" "-O3 -march=x86-64-v3 -DFEW" "-O2 -march=x86-64-v4" \
    "-O3 -march=x86-64-v4"; do
    said=$("$1" -std=c++20 $flags -DSINTER_SEPARATE_COMPILATION -Iinclude -c -o /dev/null \
        test/fixtures/narrow_losses.cpp 2>&1) ||
        { printf '%s\n' "does not compile with $flags:" "$said"; fault=1; }
done
exit $fault

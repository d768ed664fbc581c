#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# warnings.sh COMPILER FOLDER: what programs instantiate gives no warning under a user's flags, and a compiler that does not
# optimise says so in one line, unless SINTER_ALLOW_UNOPTIMISED is defined.
set -u
cd "$2" || exit 1
[ -d include/sinter ] || { echo "$2 has no include/sinter: needed is the repository's root"; exit 1; }
fault=0
compile() { "$1" -std=c++20 -fsyntax-only -Iinclude "${@:2}" 2>&1; }

said=$(compile "$1" examples/quickstart.cpp)
[ "$(grep -c 'warning: ' <<<"$said")" = 1 ] && grep -q 'warning: Sinter without optimisation' <<<"$said" ||
    { printf '%s\n' "without optimisation there should be one warning:" "$said"; fault=1; }
for flags in -O1 -DSINTER_ALLOW_UNOPTIMISED; do
    said=$(compile "$1" $flags examples/quickstart.cpp)
    [ -z "$said" ] || { printf '%s\n' "with $flags there should be no warning:" "$said"; fault=1; }
done
for example in quickstart lstm gpt csv_classification csv_regression; do
    # Clang's -Wconversion is g++'s two.
    said=$(compile "$1" -O1 -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Werror examples/$example.cpp) ||
        { printf '%s\n' "examples/$example.cpp gives warnings:" "$said"; fault=1; }
done
exit $fault

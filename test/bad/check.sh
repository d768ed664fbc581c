#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# check.sh gcc|clang COMPILER FILE FLAGS...: FILE must fail to compile, with exactly one error, whose text holds every
# fragment that a line `// expect: TEXT` at its head names (`// expect-gcc:`, `// expect-clang:`: that compiler only).
# A line `// refuse: TEXT` names what neither the error nor what stands around it may say.
# A line `// flags: FLAGS` adds flags; such a file includes something else than <sinter/sinter.hpp>,
# which is precompiled without them.
set -u
kind=$1 compiler=$2 file=$3
shift 3

expected=$(sed -nE "s#^// expect(-$kind)?: ##p" "$file")
[ -n "$expected" ] || { echo "$file expects nothing of $kind"; exit 1; }
read -ra flags < <(sed -nE "s#^// flags: ##p" "$file")

said=$(LC_ALL=C "$compiler" -fsyntax-only -fdiagnostics-color=never "$@" "${flags[@]}" "$file" 2>&1) \
    && { echo "$file compiles, and should not"; exit 1; }

fault=0
while IFS= read -r fragment; do
    grep -qF -- "$fragment" <<<"$said" || { echo "missing from the message: $fragment"; fault=1; }
done <<<"$expected"
while IFS= read -r fragment; do
    grep -qF -- "$fragment" <<<"$said" && { echo "in the message: $fragment"; fault=1; }
done < <(sed -nE "s#^// refuse: ##p" "$file")
errors=$(grep -cE '(^|: )(fatal )?error: ' <<<"$said")
[ "$errors" = 1 ] || { echo "$errors errors where there should be one"; fault=1; }

printf '%s\n' "what $compiler said:" "$said"
exit $fault

#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# tags.sh: makes `tags` (ctags) and `cscope.out` (cscope) at the repository's root, of whichever of both is installed.
# Neither reads `namespace sinter::inline SINTER_TARGET {`, or that of ordinary code, whatever its -I and -D: they
# see nothing below it. So they read a copy in which that is a plain namespace, and macros in declarations are gone;
# lines stay the same, and so do the files' names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
top=$PWD
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
find include test tools examples zoo bench -name '*.[ch]pp' -o -name '*.cuh' -o -name '*.cu' | sort >"$copy/files"
xargs cp --parents -t "$copy" <"$copy/files"
cd "$copy"
xargs sed -i -E 's/::inline SINTER_(TARGET|ORDINARY)\b//; s/\bSINTER_(COLD|VALUE|APART)\b *//g' <files
made=0
if command -v ctags >/dev/null; then
    ctags --languages=C++,CUDA --langmap=CUDA:.cu.cuh --excmd=number -o "$top/tags" -L files
    made=1
fi
if command -v cscope >/dev/null; then
    cscope -b -q -i files
    cp cscope.out cscope.in.out cscope.po.out "$top/"
    made=1
fi
[ $made = 1 ] || { echo "neither ctags nor cscope is installed (apt-get install universal-ctags cscope)"; exit 1; }

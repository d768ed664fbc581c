#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# kernel_lists.sh [--check] [FOLDER]: writes the headers that include every kernel there is, one
# list for each backend: kernel/cpu/kernels.hpp (what specialises nest<>), kernel/cuda/sources.hpp
# (what specialises source<>). A new kernel is a new file; nobody edits a list. With --check nothing
# is written, and a list that is not up to date is an error.
set -eu
check=
[ "${1:-}" != --check ] || { check=1; shift; }
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}/include"

list() {   # FILE NAMESPACE-COMMENT HEADERS...
    local file=$1 about=$2 text header
    shift 2
    text="// SPDX-License-Identifier: BSL-1.0
#pragma once
// $about Written by scripts/kernel_lists.sh.
"
    for header in "$@"; do
        # What needs a target's instructions says so in a line of its own.
        local only
        only=$(sed -nE 's#^// only where: ##p' "$header")
        if [ -n "$only" ]; then text+="#if $only"$'\n'; fi
        text+="#include <$header>"$'\n'
        if [ -n "$only" ]; then text+="#endif"$'\n'; fi
    done
    if [ -n "$check" ]; then
        diff -u "$file" <(printf %s "$text") || { echo "$file is not up to date: run scripts/kernel_lists.sh"; exit 1; }
    else
        printf %s "$text" >"$file"
    fi
}

cpu=$(grep -rlE '^struct nest<(op|walk)::' sinter/kernel/cpu --include=*.hpp |
    grep -v sinter/kernel/cpu/kernels.hpp | LC_ALL=C sort)
cuda=$(grep -rlE '^struct (source|block_kernel_of)<(static_cast<int>\(op::|from_)' sinter/kernel/cuda --include=*.hpp |
    grep -vE 'sinter/kernel/cuda/(source|sources)\.hpp' | LC_ALL=C sort)
[ "$(wc -w <<<"$cpu")" -gt 30 ] && [ "$(wc -w <<<"$cuda")" -gt 10 ] ||
    { echo "kernel_lists.sh does not find the kernels"; exit 1; }
list sinter/kernel/cpu/kernels.hpp "Every kernel for processors." $cpu
list sinter/kernel/cuda/sources.hpp "Every source of GPU kernels." $cuda

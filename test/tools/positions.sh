#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# positions.sh FOLDER: what a kernel, an op, a pass or an export reads and writes has a name, as in
# `c.e[gemm_extent::depth]`: no number stands in the brackets behind e (extents), p (operands of a
# call, attributes of a node) or, on GPUs, x (extents known when compiled). The names are with the
# op, and in kernel/operands.hpp for operands of several kernels.
set -u
cd "$1" || exit 1
[ -d include/sinter ] || { echo "$1 has no include/sinter: needed is the repository's root"; exit 1; }
names() {   # of code alone: neither comments nor declarations of arrays
    grep -rnE "$1" "${@:2}" --include=*.hpp |
        sed -E 's|//.*||; s/(float\*|int|std::int64_t|pen_point) [epx]\[[0-9]+\]//g' | grep -E "$1"
}
# Nodes are compared and copied whole there.
said=$(names '\b[ep]\[[0-9]' include/sinter | grep -vE '^include/sinter/graph/(graph|tensor)\.hpp:'
       names '\b(w\.|s\.)?x\[[0-9]' include/sinter/kernel/cuda)
[ -z "$said" ] || { printf '%s\n' "positions without a name:" "$said"; exit 1; }

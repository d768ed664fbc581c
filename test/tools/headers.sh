#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# headers.sh COMPILER FOLDER: each header compiles alone. The tests would not notice a missing standard header,
# because Boost.Test brings most of them. A header of a library that is not installed is named and left out;
# those of CUDA are for nvcc, and the CUDA tests include them.
set -u
cd "$2" || exit 1
[ -d include/sinter ] || { echo "$2 has no include/sinter: needed is the repository's root"; exit 1; }

compile() {
    local said library
    said=$(echo "#include <${2#include/}>" | "$1" -std=c++20 -fsyntax-only -Iinclude -I. -x c++ - 2>&1) && return
    library=$(sed -nE "s/.*fatal error: '?([^':]+)'?( file not found|: No such file).*/\1/p" <<<"$said")
    if [ -n "$library" ] && [ ! -e "include/$library" ]; then
        echo "left out: $2 needs $library"
        return
    fi
    printf '%s\n' "$2 does not compile alone:" "$said"
    return 1
}
export -f compile
find include/sinter zoo -name '*.hpp' -not -path '*cuda*' -print0 | sort -z | xargs -0 -P "$(nproc)" -I{} bash -c 'compile "$@"' headers "$1" {}

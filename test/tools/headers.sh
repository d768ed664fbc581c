#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# headers.sh COMPILER FOLDER: each header compiles alone. The tests would not notice a missing standard header,
# because Boost.Test brings most of them. A header of a library that is not installed is named and left out;
# those of CUDA are for nvcc, and the CUDA tests include them.
set -u
cd "$2" || exit 1
[ -d include/sinter ] || { echo "$2 has no include/sinter: needed is the repository's root"; exit 1; }

# The header of ours that this one includes before all else, which therefore compiles as if alone with this one.
first_of() {
    sed -nE '/^#if/q; /^#include/{s/^#include <((sinter|zoo)[^>]*)>.*/\1/p; q}' "$1" | sed 's/^sinter/include\/sinter/'
}

compile() {
    local said library first
    said=$(echo "#include <${2#include/}>" | "$1" -std=c++20 -fsyntax-only -Iinclude -I. -x c++ - 2>&1) && return
    library=$(sed -nE 's/.*error: #error "sinter[^"]* needs ([^(:]*).*/\1/p' <<<"$said" | head -n 1)
    if [ -n "$library" ]; then
        echo "left out: $2 needs $library"
        return
    fi
    library=$(sed -nE "s/.*fatal error: '?([^':]+)'?( file not found|: No such file).*/\1/p" <<<"$said")
    if [ -n "$library" ] && [ ! -e "include/$library" ]; then
        echo "left out: $2 needs $library"
        first=$(first_of "$2")
        if [ -n "$first" ]; then compile "$1" "$first"; fi
        return
    fi
    printf '%s\n' "$2 does not compile alone:" "$said"
    return 1
}
export -f compile first_of

headers() { find include/sinter zoo -name '*.hpp' -not -path '*cuda*' | sort; }
headers | while read -r header; do first_of "$header"; done | sort -u | comm -13 - <(headers) |
    xargs -P "$(nproc)" -I{} bash -c 'compile "$@"' headers "$1" {}

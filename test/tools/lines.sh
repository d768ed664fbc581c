#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# lines.sh FOLDER: no line of the headers, programs, tests, scripts and CMake files has more than 120
# characters. (Pages: documents.sh. Headers' length: there, too.)
set -u
cd "$1" || exit 1
[ -d include/sinter ] || { echo "$1 has no include/sinter: needed is the repository's root"; exit 1; }
mapfile -t files < <(find include test examples bench tools zoo scripts cmake .ci CMakeLists.txt -type f \
    '(' -name '*.[hc]pp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.py' -o -name '*.sh' -o -name '*.cmake' \
    -o -name CMakeLists.txt -o -path .ci/run ')' | sort)
[ ${#files[@]} -ge 1500 ] || { echo "only ${#files[@]} files were found: this test does not see them"; exit 1; }

LC_ALL=C awk '
    { gsub(/[\200-\277]/, "") }   # a character of several bytes counts once
    length <= 120 { next }
    # What a break would change: what test/bad/check.sh looks for as one line; a table as it is printed;
    # an address.
    /^[ \/#]*https:[^ ]+$/ { next }
    /^\/\/ (expect|expect-gcc|expect-clang): / { next }
    # To break it would compile every program anew: the next change of what all include does.
    FILENAME ~ /compiler\/stages.hpp$/ && /d.first_update\}, all, t.of\);$/ { next }
    FILENAME == "test/profile/describe.cpp" && /^ +[0-9]+ +[0-9]+ / { next }
    { print FILENAME ":" FNR " has " length " characters; needed are at most 120"; bad = 1 }
    END { exit bad }' "${files[@]}"

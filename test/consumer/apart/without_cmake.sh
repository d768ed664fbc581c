#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# without_cmake.sh COMPILER ROOT FOLDER: builds programs by hand in FOLDER. One whose files all see declarations, and a
# file that has the library, must run. One that gives a cluster from a file of one form to a file of the other must not
# link, and say both forms' names.
set -eu
compiler=$1 root=$2 folder=$3
here=$root/test/consumer/apart
mkdir -p "$folder"
cd "$folder"
flags="-std=c++20 -DSINTER_ALLOW_UNOPTIMISED -I$root/include"
apart=-DSINTER_SEPARATE_COMPILATION

for form in giving taking; do
    other=$([ $form = giving ] && echo taking || echo giving)
    $compiler $flags $apart -c "$here/$form.cpp" -o $form.o
    $compiler $flags -c "$here/$other.cpp" -o $other.o
    if $compiler giving.o taking.o -o mixed 2>mixed.txt; then
        echo "files of both forms link"
        exit 1
    fi
    name=$([ $form = giving ] && echo ordinary || echo '[a-z0-9_]+_8')
    grep -qE "undefined reference to .size_of\(sinter::$name::cluster const&\)" mixed.txt ||
        { echo "needed is a message that names the form of what is given ($name), got:"; cat mixed.txt; exit 1; }
done

echo '#include <sinter/compiled_source.hpp>' >library.cpp
$compiler $flags $apart library.cpp "$here"/{main,server,worker}.cpp -lssl -lcrypto -lz -pthread -o program
./program

#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# portable.sh [TEST...]: runs tests of kernels (all of test/kernel, or those named: gemm math ...)
# on 64-bit ARM, which qemu imitates. The kernels know x86's vectors by name; everywhere else, on
# NEON too, they are what the compiler's own vectors make of them, and no other script compiles that
# part. By hand, because it takes minutes.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

cross=aarch64-linux-gnu-g++
want_command "$CXX" g++
want_command "$cross" g++-aarch64-linux-gnu
want_command qemu-aarch64-static qemu-user-static
install_wanted
want_library boost/test/unit_test.hpp boost_unit_test_framework libboost-test-dev
install_wanted

folder=$top/build/portable
mkdir -p "$folder/include"
# Boost's headers are this machine's, and alone in a folder: the rest of /usr/include is not for the
# other processor.
boost=$(echo '#include <boost/version.hpp>' | "$CXX" -x c++ -M - | tr ' ' '\n' | sed -n 's|/boost/version.hpp$||p')
ln -sfn "$boost/boost" "$folder/include/boost"

tests=("$@")
[ $# != 0 ] || for file in "$top"/test/kernel/*.cpp; do tests+=("$(basename "$file" .cpp)"); done
failed=()
for test in "${tests[@]}"; do
    say "$test"
    # There is no Boost library for the other processor: Boost.Test's headers bring its code along.
    sed 's|<boost/test/unit_test.hpp>|<boost/test/included/unit_test.hpp>|' "$top/test/kernel/$test.cpp" \
        >"$folder/$test.cpp"
    if ! "$cross" -std=c++20 -O1 -static -Wno-psabi -I"$top/test/kernel" -I"$top/test" -I"$top/include" \
            -isystem "$folder/include" "$folder/$test.cpp" -o "$folder/$test" -pthread ||
            ! qemu-aarch64-static "$folder/$test"; then
        failed+=("$test")
    fi
done
[ ${#failed[@]} = 0 ] || die "Failed on 64-bit ARM: ${failed[*]}"

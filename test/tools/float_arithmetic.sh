#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# shows numbers: options that change float arithmetic are refused in one message; so is another rounding mode
# float_arithmetic.sh COMPILER FOLDER: options and pragmas that change float arithmetic are refused,
# when a program compiles or, where no macro tells of them, when its first model or predictor is made;
# those that do no harm are not. Clang has some that g++ lacks, and the other way round. A rounding mode
# that is in force is named as what it is.
set -u
cd "$2" || exit 1
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
fault=0
make='runtime::check_float_arithmetic()' header=device/cpu/float_arithmetic.hpp   # most of the time, not a whole device
# said PRAGMA FLAGS...: what the compiler says, or else the program; "unknown" if there is no such option.
said() {
    printf '%s\n' "$1" "#include <sinter/$header>" '#include <cstdio>' 'int main() {' \
        "try { sinter::$make; std::puts(\"fine\"); } catch (const sinter::error& e) { std::puts(e.what()); } }" \
        >"$scratch/program.cpp"
    "$compiler" -x c++ "${@:2}" -fsyntax-only /dev/null 2>&1 | grep -q . && { echo unknown; return; }
    "$compiler" -std=c++20 -O1 "${@:2}" -Iinclude "$scratch/program.cpp" -pthread -o "$scratch/program" 2>&1 &&
        "$scratch/program"
}
refused() {
    local text
    text=$(said "$@")
    [ "$text" = unknown ] ||
        grep -qE 'Sinter needs (exact float arithmetic|constants of double precision)' <<<"$text" ||
        { printf '%s\n' "$* is not refused:" "$text"; fault=1; }
}
compiler=$1
for option in -Ofast -ffast-math -ffinite-math-only -fno-signed-zeros -freciprocal-math -funsafe-math-optimizations \
    -fno-honor-nans -fno-honor-infinities -ffp-model=fast -mfpmath=387 -fsingle-precision-constant; do
    refused "" $option
done
refused "" -fassociative-math -fno-signed-zeros -fno-trapping-math
pragma='#pragma GCC optimize("fast-math")'
"$compiler" -dM -E -x c++ /dev/null | grep -q __clang__ && pragma='#pragma float_control(precise, off)'
refused "$pragma"
make='cpu_device one(1)' header=device/cpu.hpp
refused "$pragma"
printf '\2\0\0\0\0\0\0\0{}' >"$scratch/none.safetensors"   # a file of no weights: they are not come to
make="predictor one{sinter::features<2> >> sinter::dense<1>, sinter::weights_file(\"$scratch/none.safetensors\")}"
header=train/predictor.hpp
refused "$pragma"$'\n#include <sinter/layers/dense.hpp>'
make='runtime::check_float_arithmetic()' header=device/cpu/float_arithmetic.hpp
for options in -O3 "-fno-math-errno -fno-trapping-math" -ffp-contract=off -ffp-contract=fast -frounding-math; do
    text=$(said "" $options)
    [ "$text" = fine ] || { printf '%s\n' "$options is refused:" "$text"; fault=1; }
done
for mode in UPWARD DOWNWARD TOWARDZERO; do
    text=$(said "#include <cfenv>
static const int set = std::fesetround(FE_$mode);")
    [[ $text == *fesetround*"rounds to nearest"* && $text != *associative* ]] ||
        { printf '%s\n' "FE_$mode is not refused by its name:" "$text"; fault=1; }
done
exit $fault

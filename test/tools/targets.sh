#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# shows numbers: files of one program that are compiled for different processors coexist
# targets.sh COMPILER FOLDER [CLANG]: files of one program that are compiled for different processors train
# and predict, in whatever order they are linked, to the bit what each does in a program of its own.
# What this processor lacks is left out. Nothing is inlined that need not be, so that whatever two
# files have under one name is the linker's choice. Names are the same with both compilers; clang takes half the time.
set -u
compiler=${3:-$1}
cd "$2" || exit 1
[ -d include/sinter ] || { echo "$2 has no include/sinter: needed is the repository's root"; exit 1; }
[ "$(uname -m)" = x86_64 ] || { echo "skipped: this is no x86-64"; exit 0; }
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
has() { for flag; do grep -qw "$flag" /proc/cpuinfo || return 1; done; }

declare -A flags=([baseline]=-march=x86-64 [parts]="-march=x86-64 -DSINTER_PARTS=32"
    [checked]="-march=x86-64 -D_GLIBCXX_DEBUG")
has avx && flags[avx]=-mavx
has avx2 fma bmi2 && flags[avx2]=-march=x86-64-v3
has avx512vl avx512bw && flags[avx512]=-march=x86-64-v4
has avx512_bf16 && flags[pairs]="-march=x86-64-v4 -mavx512bf16"
names=("${!flags[@]}")

build() {
    "$compiler" -std=c++20 -O0 -fno-inline -DSINTER_ALLOW_UNOPTIMISED -Iinclude "$@" -c test/fixtures/target_model.cpp
}
fault=0
list=""
for name in "${names[@]}"; do list+="F($name)"; done
build -DMAIN "-DNAMES=$list" -o "$scratch/main.o" || exit 1   # of all programs
link() {   # link PROGRAM NAMES...: one program of these files, linked and called in this order
    local program=$1 objects=()
    shift
    for name; do objects+=("$scratch/$name.o"); done
    "$compiler" "$scratch/main.o" "${objects[@]}" -o "$scratch/$program" -lz -pthread &&
        (cd "$scratch" && timeout 300 "./$program" "$@" >"$program.out") ||
        { echo "$program does not build or run"; fault=1; }
}
for name in "${names[@]}"; do
    build "-DNAME=$name" ${flags[$name]} -o "$scratch/$name.o" || exit 1
    link "alone_$name" "$name"
    [ "$(wc -w <"$scratch/alone_$name.out")" -gt 100 ] || { echo "$name has no results"; fault=1; }
done
for ((first = 0; first < ${#names[@]}; ++first)); do   # all together, each of them first once, and backwards
    order=("${names[@]:first}" "${names[@]:0:first}")
    link "from_$first" "${order[@]}"
    mapfile -t backwards < <(printf '%s\n' "${order[@]}" | tac)
    link "back_$first" "${backwards[@]}"
done
for program in "$scratch"/{from,back}_*.out; do
    for name in "${names[@]}"; do
        grep "^$name:" "$program" | cmp -s - "$scratch/alone_$name.out" ||
            { echo "$name gives other numbers in $(basename "$program" .out) than alone"; fault=1; }
    done
done
echo "compared: ${names[*]}"
exit $fault

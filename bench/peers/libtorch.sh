#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# libtorch.sh [FOLDER]: builds FOLDER/libtorch_step (default build/peers) against the PyTorch that setup.sh has put
# there: its Python package has headers and libraries of libtorch, too.
# libtorch.sh --flags FOLDER: prints what a program of libtorch is compiled with; it fails where there is none.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
only_flags=
if [ "${1:-}" = --flags ]; then only_flags=yes; shift; fi
folder=${1:-$top/build/peers}
torch=$(echo "$folder"/lib/python3*/site-packages/torch)
[ -e "$torch/include/torch/csrc/api/include/torch/torch.h" ] ||
    { echo "no libtorch in $folder: run bench/peers/setup.sh first" >&2; exit 1; }
# Ancient packages are built for the strings of before C++11, and say so.
abi=$("$folder/bin/python" -c 'import torch; print(int(torch.compiled_with_cxx11_abi()))' 2>/dev/null || echo 1)
flags=(-std=c++20 -w "-D_GLIBCXX_USE_CXX11_ABI=$abi" -isystem "$torch/include"
    -isystem "$torch/include/torch/csrc/api/include")
if [ $only_flags ]; then printf '%s\n' "${flags[@]}"; exit; fi
# What its libraries need of CUDA's they find themselves, where there is any.
${CXX:-g++} -O2 "${flags[@]}" "$top/bench/peers/libtorch_step.cpp" -L"$torch/lib" -Wl,-rpath,"$torch/lib" \
    -Wl,--unresolved-symbols=ignore-in-shared-libs -ltorch_cpu -lc10 -lpthread -o "$folder/libtorch_step"

#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Checks and times the CUDA slice on this machine's GPU. Needs the CUDA toolkit (nvcc, cuBLASLt, cuDNN) and g++; no CMake,
# no Boost.
#   bench/gpu.sh [FOLDER]   FOLDER gets gpu.jsonl and gpu.txt; default: build/gpu
# SINTER_CUDA_ARCH: what to compile for (default: native); NVCC: the compiler.
# Exit status: 0 all is well, 1 a check failed or the build did, 2 there is no GPU or no compiler.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$here/build/gpu}
mkdir -p "$out"

nvcc=${NVCC:-$(command -v nvcc || true)}
[ -n "$nvcc" ] || { [ ! -x /usr/local/cuda/bin/nvcc ] || nvcc=/usr/local/cuda/bin/nvcc; }
[ -n "$nvcc" ] || { echo "no nvcc: install the CUDA toolkit or set NVCC" >&2; exit 2; }
if ! { command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | grep -q GPU; } && [ ! -e /dev/nvidia0 ]; then
    echo "no GPU: nothing was built, nothing was run" >&2
    exit 2
fi
arch=${SINTER_CUDA_ARCH:-native}
libraries=$(dirname "$nvcc")/../lib64

echo "building for $arch (one to two minutes)"
"$nvcc" -std=c++20 -O3 --expt-relaxed-constexpr -arch="$arch" -Xcompiler -march=native,-Wno-psabi \
    -I"$here/include" -I"$here/test" "$here/bench/gpu/slice.cu" -o "$out/slice" \
    -L"$libraries" -Xlinker -rpath,"$libraries" -lcublasLt -lcudnn -lz -lpthread
status=0
"$out/slice" "$out/gpu.jsonl" >"$out/gpu.txt" 2>&1 || status=$?
cat "$out/gpu.txt"
exit $status

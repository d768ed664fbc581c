#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Checks and times Sinter on this machine's GPU. Needs the CUDA toolkit (nvcc, cuBLASLt), cuDNN 9
# (in the toolkit, in the system's folders or in Python's package nvidia-cudnn-cu13), zlib and g++;
# no CMake, no Boost. With Boost's headers and OpenSSL it also trains in jobs of several processes,
# and with NCCL under multi_worker<nccl, cuda>, one process. A machine with nothing but the driver,
# cuDNN and cuBLASLt runs what another has built: --build there, --built here.
#   bench/gpu.sh [OPTION...] [FOLDER]   FOLDER gets gpu.jsonl, gpu.txt and the logs; default: build/gpu
#   --built FOLDER    programs made before by --build
#   --build FOLDER    make the programs there and stop; needs no GPU where SINTER_CUDA_ARCH is set
#   --data FOLDER     also train ten epochs of Fashion-MNIST, whose files are there
#   --sanitize        also run some cases under compute-sanitizer (memcheck, racecheck)
#   --peers MODES     also time PyTorch, if python3 has it: eager, graph, compile, with commas between
# SINTER_CUDA_ARCH: what to compile for (native; or sm_90, say); SINTER_CPU_ARCH: -march for g++
# (native); NVCC: the compiler; SINTER_GPU_JOBS: cases at a time (4). Exit status: 0 all is well, 1
# a check failed or the build did, 2 there is no GPU or no compiler.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
out=$here/build/gpu built='' build='' sanitize='' peers='' data=''
while [ $# -gt 0 ]; do
    case $1 in
        --built) built=$(cd "$2" && pwd); shift ;;
        --build) build=$2; shift ;;
        --sanitize) sanitize=yes ;;
        --data) data=$(cd "$2" && pwd); shift ;;
        --peers) peers=$(echo "$2" | tr , ' '); shift ;;
        -*) echo "unknown option $1" >&2; exit 2 ;;
        *) out=$1 ;;
    esac
    shift
done

nvcc=${NVCC:-$(command -v nvcc || true)}
[ -n "$nvcc" ] || { [ ! -x /usr/local/cuda/bin/nvcc ] || nvcc=/usr/local/cuda/bin/nvcc; }
toolkit=''
[ -z "$nvcc" ] || toolkit=$(cd "$(dirname "$(readlink -f "$nvcc")")/.." && pwd)

# the folder of a file, looked for in the toolkit, in the system and in Python's packages; empty if
# it is nowhere
folder_of() {
    for folder in ${toolkit:+"$toolkit/lib64" "$toolkit/include"} /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/include; do
        if [ -e "$folder/$1" ]; then echo "$folder"; return; fi
    done
    python3 - "$1" <<'END' 2>/dev/null || true
import glob, os, sys
for root in sys.path:
    for found in glob.glob(os.path.join(root, "nvidia", "*", "*", sys.argv[1])):
        print(os.path.dirname(found))
        sys.exit()
END
}
cudnn=$(folder_of libcudnn.so.9) cublas=$(folder_of libcublasLt.so.13) nccl=$(folder_of libnccl.so.2)

build_into() {
    [ -n "$nvcc" ] || { echo "no nvcc: install the CUDA toolkit or set NVCC" >&2; exit 2; }
    [ -n "$cudnn" ] || { echo "no cuDNN 9: install it or Python's package nvidia-cudnn-cu13" >&2; exit 2; }
    [ -n "$(folder_of zlib.h)" ] || { echo "no zlib.h: install zlib's headers, or --build elsewhere" >&2; exit 2; }
    mkdir -p "$1"
    cpu=${SINTER_CPU_ARCH:-native} headers=$(folder_of cudnn.h)
    echo "building for ${SINTER_CUDA_ARCH:-native} (some minutes)"
    nccl_headers=$(folder_of nccl.h) pids=''
    for program in reference slice cases steps training nccl jobs; do
        if [ "$(nproc)" -ge 8 ]; then
            compile "$program" "$1" &
            pids="$pids $!"
        else
            compile "$program" "$1"
        fi
    done
    for pid in $pids; do wait "$pid"; done
}
compile() {
    libraries="-L$toolkit/lib64 -L$cudnn -lcublasLt -l:libcudnn.so.9 -lz -lpthread"
    case $1 in
        reference)
            g++ -std=c++20 -O2 -march="$cpu" -Wno-psabi -I"$here/include" -I"$here/test" -I"$here" \
                "$here/bench/gpu/reference.cpp" -o "$2/reference" -lz -lpthread
            return ;;
        nccl | jobs)
            if [ ! -e /usr/include/boost/asio.hpp ] || [ ! -e /usr/include/openssl/ssl.h ]; then
                echo "$1 is not built: it needs Boost's headers and OpenSSL" >&2
                return
            fi
            libraries="$libraries -lssl -lcrypto" ;;
    esac
    case $1 in
        nccl)
            if [ -z "$nccl" ] || [ -z "$nccl_headers" ]; then
                echo "nccl is not built: it needs NCCL" >&2
                return
            fi
            libraries="$libraries -L$nccl -l:libnccl.so.2" ;;
    esac
    rc=0
    # shellcheck disable=SC2086
    "$nvcc" -std=c++20 -O3 --expt-relaxed-constexpr -arch="${SINTER_CUDA_ARCH:-native}" -lineinfo \
        -Xcompiler -march="$cpu",-Wno-psabi -I"$here/include" -I"$here/test" -I"$here" ${headers:+-I"$headers"} \
        ${nccl_headers:+-I"$nccl_headers"} "$here/bench/gpu/$1.cu" -o "$2/$1" $libraries || rc=$?
    if [ "$1" = nccl ] && [ $rc -ne 0 ]; then echo "nccl could not be built" >&2 && rc=0; fi
    return $rc
}
[ -z "$build" ] || { build_into "$build"; exit 0; }

if ! { command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L 2>/dev/null | grep -q GPU; } &&
    [ ! -e /dev/nvidia0 ]; then
    echo "no GPU: nothing was built, nothing was run" >&2
    exit 2
fi
mkdir -p "$out"
[ -n "$built" ] || { built=$out/programs; build_into "$built"; }
export LD_LIBRARY_PATH="$cudnn:$cublas${nccl:+:$nccl}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" built out
status=0
: >"$out/gpu.jsonl"
keep() { tee -a "$out/gpu.jsonl" | tee -a "$out/gpu.txt"; }

{
    date -u '+%Y-%m-%d %H:%M UTC'
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || true
    [ -z "$nvcc" ] || "$nvcc" --version | tail -n 1
    echo "cuDNN in $cudnn: $(readlink -f "$cudnn/libcudnn.so.9"); cuBLASLt in $cublas"
    git -C "$here" rev-parse --short HEAD 2>/dev/null || true
} | tee "$out/gpu.txt"

# the perceptron and the quickstart net beside PyTorch's and the processor's recorded losses
timeout 120 "$built/slice" "$out/slice.jsonl" >"$out/slice.txt" 2>&1 || status=1
tee -a "$out/gpu.txt" <"$out/slice.txt"
[ ! -e "$out/slice.jsonl" ] || cat "$out/slice.jsonl" >>"$out/gpu.jsonl"

# every kind of kernel beside the processor's results, each case in a process of its own; one that
# fails runs again with a wait behind each launch, which says where
if timeout 120 "$built/reference" "$out/reference"; then
    "$built/cases" | xargs -P "${SINTER_GPU_JOBS:-4}" -I NAME sh -c '
        timeout 100 "$built/cases" NAME "$out/reference" >"$out/case.NAME" 2>&1 && exit
        rc=$?
        grep -q . "$out/case.NAME" ||
            echo "{\"check\": \"NAME\", \"ok\": false, \"error\": \"exit status $rc\"}" >"$out/case.NAME"
        SINTER_CUDA_SYNC=1 timeout 100 "$built/cases" NAME "$out/reference" 2>&1 |
            sed "s/{/{\"with_waits\": true, /" >>"$out/case.NAME"
        exit 1' || status=1
    for name in $("$built/cases"); do cat "$out/case.$name"; rm "$out/case.$name"; done | keep
else
    status=1
fi

# NCCL with one rank: its sums run on a stream of their own while backward goes on
if [ -x "$built/nccl" ]; then
    timeout 60 "$built/nccl" >"$out/nccl.jsonl" 2>"$out/nccl.log" || status=1
    keep <"$out/nccl.jsonl"
else
    echo '{"check": "nccl_one_rank", "skipped": "not built"}' | keep
fi
# jobs of several processes on this GPU, over the loopback interface
if [ -x "$built/jobs" ]; then
    for name in $("$built/jobs"); do
        timeout 120 "$built/jobs" "$name" 2>"$out/jobs.$name.log" || status=1
    done >"$out/jobs.jsonl"
    keep <"$out/jobs.jsonl"
else
    echo '{"check": "jobs", "skipped": "not built"}' | keep
fi
timeout 120 "$built/steps" >"$out/steps.jsonl" 2>&1 || status=1
keep <"$out/steps.jsonl"
if [ -n "$sanitize" ]; then
    checker=$(command -v compute-sanitizer || echo "$toolkit/bin/compute-sanitizer")
    for pair in memcheck:dense_sgd memcheck:recurrent memcheck:attention memcheck:gpt memcheck:lazy_table \
                memcheck:pools memcheck:uneven_padding memcheck:batch_norm memcheck:computed_places memcheck:clipped \
                memcheck:replicas_of_tables memcheck:members racecheck:attention racecheck:gpt initcheck:recurrent \
                initcheck:replicas_of_tables; do
        echo "$pair"
    done | env checker="$checker" xargs -P "${SINTER_GPU_JOBS:-4}" -I PAIR sh -c '
        tool=${0%%:*} name=${0##*:}
        rc=0
        log=$out/sanitizer.$tool.$name
        timeout 150 "$checker" --tool "$tool" --error-exitcode 9 "$built/cases" "$name" >"$log" 2>&1 || rc=$?
        summary=$(grep SUMMARY "$log" | tail -n 1)
        echo "{\"sanitizer\": \"$tool\", \"case\": \"$name\", \"exit\": $rc, \"summary\": \"$summary\"}"
        exit $((rc != 0))' PAIR >"$out/sanitizer.jsonl" || status=1
    keep <"$out/sanitizer.jsonl"
    (cd "$out" && cat sanitizer.*.* >sanitizer.txt && rm sanitizer.*check.*)
fi
if [ -n "$data" ]; then
    timeout 200 "$built/training" "$data" >"$out/training.jsonl" 2>&1 || status=1
    keep <"$out/training.jsonl"
fi
for mode in $peers; do
    python3 -c 'import torch' 2>/dev/null || { echo "python3 has no PyTorch: no peers"; break; }
    env -u LD_LIBRARY_PATH timeout "${SINTER_PEER_SECONDS:-200}" python3 "$here/bench/gpu/peers.py" "$mode" \
        2>"$out/peers.$mode.log" | keep
done
exit $status

#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# run.sh [OPTIONS]: builds and runs all benchmarks, prints their tables, and fills them into doc/benchmarks.md.
#   --quick            a first look: few rounds; prints tables but leaves bench/results and the page as they are
#   --only A,B         only these pieces: step, predict, fusion, kernels, gemm, conv, bandwidth, build (default: all); gemm and conv need
#                      OpenBLAS and oneDNN (Debian: libopenblas-dev libdnnl-dev)
#   --step OPTIONS     more options for a piece, as one word: --step '--rounds 9 --models mlp'; likewise
#   --predict, --fusion, --kernels, --gemm, --conv, --bandwidth, --build OPTIONS
#   --peers FOLDER     where PyTorch, JAX, TensorFlow and onnxruntime are, or are put (default build/peers; about 4 GB)
#   --no-peers         times Sinter alone
#   --out FOLDER       for JSON lines (default build/bench)
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/setup.sh"

quick= only=step,predict,fusion,kernels,gemm,conv,bandwidth,build peers=$top/build/peers with_peers=yes out=$top/build/bench
declare -A more=([step]= [predict]= [fusion]= [kernels]= [gemm]= [conv]= [bandwidth]= [build]=)
while [ $# -gt 0 ]; do
    case $1 in
        --quick) quick=yes ;;
        --no-peers) with_peers= ;;
        --help) sed -n 's/^# \{0,1\}//; 3,11p' "${BASH_SOURCE[0]}"; exit 0 ;;
        --only | --peers | --out | --step | --predict | --fusion | --kernels | --gemm | --conv | --bandwidth | --build)
            [ $# -gt 1 ] || die "run.sh: $1 needs a value"
            case $1 in
                --only) only=$2 ;;
                --peers) peers=$2 ;;
                --out) out=$2 ;;
                *) more[${1#--}]=$2 ;;
            esac
            shift ;;
        *) die "run.sh: unknown option $1 (--help lists them)" ;;
    esac
    shift
done
for piece in ${only//,/ }; do
    [ -v "more[$piece]" ] || die "run.sh: --only takes step, predict, fusion, kernels, gemm, conv, bandwidth and build, not $piece"
done
wants() { case ,$only, in *,"$1",*) ;; *) return 1 ;; esac }

need_compiler_and_cmake
want_command python3 python3
want_library zlib.h z zlib1g-dev
if wants gemm; then want_library cblas.h openblas libopenblas-dev; fi
if wants gemm || wants conv; then want_library dnnl.h dnnl libdnnl-dev; fi
install_wanted
mkdir -p "$out"
bench=$top/bench programs=$top/build/release/bench

if { wants step || wants predict; } && [ $with_peers ] && [ ! -x "$peers/bin/python" ]; then
    say "Getting the peers into $peers"
    python3 -c 'import ensurepip' 2>/dev/null || apt_install python3-venv || die "Python's venv module is missing."
    "$bench/peers/setup.sh" "$peers"
fi

targets=()
for piece in step predict fusion kernels bandwidth; do
    if wants $piece; then targets+=("bench_$piece"); fi
done
for piece in gemm conv; do
    if wants $piece; then targets+=("bench_${piece}_peers"); fi
done
if wants step; then targets+=(bench_step_sequences bench_step_images bench_step_small); fi
if [ ${#targets[@]} -gt 0 ]; then
    say "Building"
    configure "$top/build/release" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$CXX" -DSINTER_NATIVE=ON -DSINTER_BUILD_BENCH=ON \
        -DSINTER_BUILD_TESTS=OFF -DSINTER_CUDA=OFF >"$out/configure.log" 2>&1 || { cat "$out/configure.log"; die "Configuring failed."; }
    cmake --build "$top/build/release" --parallel "$(jobs)" --target "${targets[@]}"
fi

# measure PIECE COMMAND...: the machine in words, then what the command prints, as JSON lines.
measure() {
    local piece=$1
    shift
    python3 "$bench/machine.py" >"$out/$piece.part"
    "$@" >>"$out/$piece.part"
    mv "$out/$piece.part" "$out/$piece.jsonl"
    python3 "$bench/tables.py" "$piece" "$out/$piece.jsonl"
}

# What stands in more[...] is several words on purpose. A piece's own options come last, so that they win.
systems=()
if [ ! $with_peers ]; then systems=(--systems ''); fi
if wants step; then
    say "Training steps"
    python3 "$bench/compare.py" --sinter "$programs/step" --peers "$peers" --compiler "$CXX" --out "$out/step.jsonl" \
        "${systems[@]}" ${quick:+--quick --models "mlp,lenet,cnn,lstm,gpt,resnet18"} ${more[step]}
fi
if wants predict; then
    say "Predictions of one example"
    python3 "$bench/compare.py" --predict --sinter "$programs/predict" --peers "$peers" --compiler "$CXX" --out "$out/predict.jsonl" \
        "${systems[@]}" ${quick:+--quick} ${more[predict]}
fi
if wants fusion; then
    say "Fusion"
    measure fusion "$programs/fusion" ${quick:+--seconds 0.5} ${more[fusion]}
fi
if wants kernels; then
    say "Kernels"
    if [ $quick ] && [ -z "${more[kernels]}" ]; then more[kernels]=mlp; fi
    measure kernels "$programs/kernels" ${more[kernels]}
fi
if wants gemm; then
    say "Products beside OpenBLAS and oneDNN"
    measure gemm "$programs/gemm_peers" ${quick:+--rounds 3} ${more[gemm]}
fi
if wants conv; then
    say "Convolutions beside oneDNN"
    measure conv "$programs/conv_peers" ${quick:+--rounds 3} ${more[conv]}
fi
if wants bandwidth; then
    say "Bandwidth"
    measure bandwidth "$programs/bandwidth" ${quick:+--rounds 3} ${more[bandwidth]}
fi
if wants build; then
    say "Build time and memory"
    python3 "$bench/build_cost.py" --out "$out/build.jsonl" ${quick:+--quick} ${more[build]}
fi

if [ ! $quick ]; then
    mkdir -p "$bench/results"
    for piece in ${only//,/ }; do cp "$out/$piece.jsonl" "$bench/results/"; done
    python3 "$bench/tables.py" fill
    say "doc/benchmarks.md is filled from bench/results"
fi

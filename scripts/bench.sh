#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# bench.sh [OPTIONS]: gets what is missing, builds and runs all benchmarks, prints their tables,
# fills bench/README.md, README.md's table and bench/notes/tables-*.md, and writes everything into
# one JSON file. Under an hour on two cores.
#   --quick            a first look in under eight minutes; leaves bench/results and the pages as they are
#   --only A,B         only these pieces: step, precision, predict, fusion, pipelines, kernels, operations, gemm,
#                      conv, bandwidth, distributed, build
#                      (default: all; of --quick all but precision, fusion, pipelines and operations)
#   --NAME OPTIONS     more options for a piece, as one word: --step '--rounds 9 --models mlp'
#   --unlimited        no piece is cut short: all nets in all rounds take some hours
#   --peers FOLDER     where PyTorch, JAX, TensorFlow and onnxruntime are, or are put (default build/peers; about 4 GB)
#   --no-peers         steps and predictions of Sinter alone
#   --out FOLDER       for bench.json and the pieces' JSON lines (default build/bench)
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# A piece: its programs, the seconds that it may take in a full and in a quick run, and a function
# of its name that runs it, with `limit` seconds. What remains of an hour, and of eight minutes, is
# for building, and the peers are got meanwhile.
pieces=(step precision predict fusion pipelines kernels operations gemm conv bandwidth distributed build)
declare -A programs=(
    [step]="step step_sequences step_speech step_images step_small" [precision]=step_precision [predict]=predict
    [fusion]=fusion [pipelines]=pipelines [kernels]=kernels
    [operations]=operations [gemm]=gemm_peers [conv]=conv_peers [bandwidth]=bandwidth
    [distributed]="collectives collectives_mpi parameter_server sparse_step distributed members reliability" [build]=)
declare -A full=(
    [step]=1500 [precision]=60 [predict]=100 [fusion]=40 [pipelines]=60 [kernels]=40
    [operations]=120 [gemm]=120 [conv]=150 [bandwidth]=60 [distributed]=300 [build]=420)
declare -A short=(
    [step]=170 [precision]=20 [predict]=25 [fusion]=15 [pipelines]=20 [kernels]=10
    [operations]=20 [gemm]=15 [conv]=15 [bandwidth]=30 [distributed]=40 [build]=30)
step() {
    if [ $with_peers ] && [ ! -x "$peers/libtorch_step" ]; then
        "$bench/peers/libtorch.sh" "$peers" >>"$out/peers.log" 2>&1 || say "libtorch is missing: no column of its own"
    fi
    compare step ${limit:+--seconds $limit} ${quick:+--quick --models mlp,lenet,cnn}
}
precision() { turns precision step_precision 4 gpt512 gpt512_bfloat16; }
predict() { compare predict --predict ${quick:+--quick}; }
fusion() { lines fusion fusion ${quick:+--seconds 0.5}; }
pipelines() {
    machine_of pipelines
    limited stdbuf -oL "$built/bench/pipelines" ${quick:+--seconds 0.3} ${more[pipelines]:-} >>"$out/pipelines.part"
    if [ $with_peers ]; then
        limited "$peers/bin/python" "$bench/peers/pipelines.py" >>"$out/pipelines.part" 2>"$out/pipelines.log"
    fi
    told pipelines
}
kernels() { lines kernels kernels ${quick:+mlp}; }
operations() {   # three times, in turns with the peer
    local round
    machine_of operations
    for round in 1 2 3; do
        limited "$built/bench/operations" ${more[operations]:-} >>"$out/operations.part"
        if [ $with_peers ]; then
            limited "$peers/bin/python" "$bench/peers/pytorch_operations.py" >>"$out/operations.part" \
                2>>"$out/operations.log"
        fi
    done
    told operations
}
gemm() { lines gemm gemm_peers ${quick:+--rounds 3}; }
conv() { lines conv conv_peers ${quick:+--rounds 3}; }
bandwidth() { lines bandwidth bandwidth ${quick:+--rounds 3}; }
distributed() {   # what members compute together, and what servers do for workers
    machine_of distributed
    limited python3 "$bench/collectives.py" --program "$built/bench/collectives" ${quick:+--quick} \
        $([ ! $with_peers ] || echo --python "$peers/bin/python") ${more[distributed]:-} \
        >>"$out/distributed.part" 2>"$out/distributed.log"
    limited python3 "$bench/strategies.py" --program "$built/bench/distributed" ${quick:+--quick} \
        $([ ! $with_peers ] || echo --python "$peers/bin/python") >>"$out/distributed.part" 2>>"$out/distributed.log"
    if [ $with_peers ] && [ ! -x "$peers/ps_lite" ]; then
        apt_install libzmq3-dev libprotobuf-dev protobuf-compiler >>"$out/distributed.log" 2>&1 &&
            "$bench/peers/ps_lite.sh" "$peers" >>"$out/distributed.log" 2>&1 ||
            say "ps-lite is missing: no column of its own" >&2
    fi
    limited python3 "$bench/parameter_servers.py" --program "$built/bench/parameter_server" ${quick:+--quick} \
        --ps-lite "$peers/ps_lite" \
        $([ ! $with_peers ] || echo --python "$peers/bin/python") >>"$out/distributed.part" 2>>"$out/distributed.log"
    limited "$built/bench/sparse_step" ${quick:+--rounds 5} >>"$out/distributed.part" 2>>"$out/distributed.log"
    told distributed
    say "Aims of several processes"
    python3 "$bench/tables.py" distributed_aims "$out/distributed.jsonl"
}
build() {
    limited python3 "$bench/build_cost.py" --out "$out/build.jsonl" --rounds 1 --compilers g++,clang++ \
        --peers "$peers" \
        ${quick:+--quick --cases empty,README} ${more[build]:-}
}

quick= unlimited= only= peers=$top/build/peers with_peers=yes out=$top/build/bench
bench=$top/bench built=$top/build/release
declare -A more=() took=()
while [ $# -gt 0 ]; do
    case $1 in
        --quick) quick=yes ;;
        --unlimited) unlimited=yes ;;
        --no-peers) with_peers= ;;
        --help) sed -n 's/^# \{0,1\}//; 3,14p' "${BASH_SOURCE[0]}"; exit 0 ;;
        --*)
            [ $# -gt 1 ] || die "bench.sh: $1 needs a value, or is unknown (--help lists the options)"
            case $1 in
                --only) only=${2//,/ } ;;
                --peers) peers=$2 ;;
                --out) out=$2 ;;
                *) [ -v "programs[${1#--}]" ] || die "bench.sh: unknown option $1 (--help lists them)"
                   more[${1#--}]=$2 ;;
            esac
            shift ;;
        *) die "bench.sh: unknown option $1 (--help lists them)" ;;
    esac
    shift
done
# The others take long to build, or to shuffle.
if [ $quick ]; then pieces=(step predict kernels gemm conv bandwidth build); fi
only=${only:-${pieces[*]}}
targets=()
for piece in $only; do
    [ -v "programs[$piece]" ] || die "bench.sh: --only takes some of ${pieces[*]}, not $piece"
    wanted_programs=${programs[$piece]}
    if [ $quick ] && [ $piece != distributed ]; then
        wanted_programs=${wanted_programs%% *}   # the first program's nets will do
    fi
    for program in $wanted_programs; do targets+=("bench_$program"); done
done
wants() { case " $only " in *" $1 "*) ;; *) return 1 ;; esac }

# What stands in more[...] is several words on purpose. A piece's own options come last, so that
# they win.
# limited COMMAND...: interrupted when its time is up, after which what it has found counts.
limited() {
    local status=0
    if [ $limit ]; then timeout --foreground -s INT -k 20 "$limit" "$@" || status=$?; else "$@" || status=$?; fi
    case $status in
        0) ;;
        124 | 130) say "$piece: cut short" >&2 ;;   # standard output may be a file of JSON lines
        *) return $status ;;
    esac
}
# lines PIECE PROGRAM OPTIONS...: the machine in words, then what the program prints, as JSON lines.
lines() {
    local name=$1 program=$2
    shift 2
    machine_of "$name"
    limited stdbuf -oL "$built/bench/$program" "$@" ${more[$name]:-} >>"$out/$name.part"
    told "$name"
}
# turns PIECE PROGRAM N MODELS...: the same of a program that prints a line for one model: N of
# each, in turns.
turns() {
    local name=$1 program=$2 rounds=$3 model
    shift 3
    machine_of "$name"
    while [ $((rounds--)) -gt 0 ]; do
        for model; do limited "$built/bench/$program" --model "$model" ${more[$name]:-} >>"$out/$name.part"; done
    done
    told "$name"
}
machine_of() { python3 "$bench/machine.py" >"$out/$1.part"; }
told() {
    mv "$out/$1.part" "$out/$1.jsonl"
    python3 "$bench/tables.py" "$1" "$out/$1.jsonl"
}
# compare PROGRAM OPTIONS...: beside the peers.
compare() {
    local program=$1 systems=()
    shift
    if [ ! $with_peers ]; then systems=(--systems ''); fi
    limited python3 "$bench/compare.py" --sinter "$built/bench/$program" --peers "$peers" --compiler "$CXX" \
        --out "$out/$piece.jsonl" \
        "${systems[@]}" "$@" ${more[$piece]:-}
}

need_compiler_and_cmake
want_command python3 python3
want_library zlib.h z zlib1g-dev
if wants gemm; then want_library cblas.h openblas libopenblas-dev; fi
if wants gemm || wants conv; then want_library dnnl.h dnnl libdnnl-dev; fi
if wants distributed; then want_library openssl/evp.h crypto libssl-dev; fi
if wants distributed && [ $with_peers ] && ! { has_command mpicc && has_command mpirun; }; then
    apt_install libopenmpi-dev openmpi-bin || say "Open MPI is missing: no column of its own"
fi
if wants build && [ ! $quick ]; then
    # What the programs that are compiled include. dlib's is a peer's, without which a row is missing.
    want_library boost/program_options.hpp boost_program_options libboost-program-options-dev
    if [ $with_peers ] && [ ! -e /usr/include/dlib/dnn.h ]; then
        apt_install libdlib-dev || say "dlib is missing: no row of its own"
    fi
fi
install_wanted
mkdir -p "$out"

getting=
if { wants step || wants predict || wants pipelines || wants operations || wants distributed; } &&
    [ $with_peers ] && [ ! -x "$peers/bin/python" ]; then
    say "Getting the peers into $peers"
    python3 -c 'import ensurepip' 2>/dev/null || apt_install python3-venv || die "Python's venv module is missing."
    "$bench/peers/setup.sh" "$peers" >"$out/peers.log" 2>&1 &
    getting=$!
fi
if [ ${#targets[@]} -gt 0 ]; then
    say "Building"
    configure "$built" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$CXX" -DSINTER_NATIVE=ON \
        -DSINTER_BUILD_BENCH=ON -DSINTER_BUILD_TESTS=OFF -DSINTER_CUDA=OFF >"$out/configure.log" 2>&1 ||
        { cat "$out/configure.log"; die "Configuring failed."; }
    if grep -q 'bench/collectives_mpi is not built' "$out/configure.log"; then   # no MPI library
        remaining=()
        for target in "${targets[@]}"; do [ $target = bench_collectives_mpi ] || remaining+=($target); done
        targets=("${remaining[@]}")
    fi
    cmake --build "$built" --parallel "$(jobs)" --target "${targets[@]}"
fi
if [ $getting ]; then
    wait $getting || { cat "$out/peers.log"; die "The peers could not be had; --no-peers does without."; }
fi
took[building]=$SECONDS

for piece in $only; do
    say "$piece"
    began=$SECONDS
    if [ $unlimited ]; then limit=; elif [ $quick ]; then limit=${short[$piece]}; else limit=${full[$piece]}; fi
    $piece
    took[$piece]=$((SECONDS - began))
done

for piece in building $only; do echo "$piece ${took[$piece]}"; done |
    python3 "$bench/collect.py" --lines "$out" \
        --commit "$(git -C "$top" rev-parse HEAD 2>/dev/null || echo unknown)" >"$out/bench.json"
say "All results: $out/bench.json, after $SECONDS seconds"
if [ ! $quick ]; then
    results=$bench/results/$(python3 "$bench/machine.py" --core)
    mkdir -p "$results"
    for piece in $only; do if [ -e "$out/$piece.jsonl" ]; then cp "$out/$piece.jsonl" "$results/"; fi; done
    python3 "$bench/tables.py" fill
    say "bench/README.md, README.md and bench/notes/tables-*.md are filled from bench/results"
fi

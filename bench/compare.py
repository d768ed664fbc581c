#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Times of a training step, or with --predict of a prediction for one example, of Sinter and its
peers, interleaved in one run, beside the machine's peak.

Every system runs in a process of its own, once per round and in another order each round; a figure
is the median over rounds. The peak is measured in every round too; the dense floor of a step is its
FLOPs over the best peak seen. Nothing is pinned. Sinter is any command that takes --model,
--optimizer and --threads and prints one JSON line; a program that predicts takes --model and
--threads, and --onnx to write its net for onnxruntime.

    bench/peers/setup.sh build/peers
    bench/compare.py --sinter build/release/bench/step
    bench/compare.py --predict --sinter build/release/bench/predict
"""
import argparse
import itertools
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import aims
import machine
import tables

BENCH = pathlib.Path(__file__).parent
sys.path.insert(0, str(BENCH / "peers"))
import common  # noqa: E402

MODELS = [*common.MODELS, *common.SEQUENCES, *common.IMAGES]

PEERS = {
    "pytorch": ["pytorch_step.py"], "pytorch-compile": ["pytorch_step.py", "--mode", "compile"], "jax": ["jax_step.py"],
    "tensorflow": ["tensorflow_step.py"], "tensorflow-xla": ["tensorflow_step.py", "--mode", "xla"],
}
# Of the nets on photographs, whose steps take seconds.
IMAGE_PEERS = {
    "pytorch": ["pytorch_images.py"], "pytorch-contiguous": ["pytorch_images.py", "--mode", "contiguous"],
    "pytorch-compile": ["pytorch_images.py", "--mode", "compile"],
}
GRU_PEERS = {name: PEERS[name] for name in ("pytorch", "jax", "tensorflow")}   # torch.compile leaves nn.GRU as it is
# PyTorch without Python, for nets whose steps are short: bench/peers/libtorch.sh builds it. Left out where it is not
# built.
LIBTORCH, LIBTORCH_MODELS = "libtorch", ["mlp", "lenet", "cnn", "policy"]
PREDICTORS = {"onnxruntime": ["onnxruntime_predict.py"], "pytorch-jit": ["pytorch_predict.py"]}
PREDICTED = ["policy", "mlp", "lenet"]


def parse():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sinter",
                         help="the command that times Sinter's step, beside which NAME_sequences, NAME_speech, "
                              "NAME_images and NAME_small do so for other nets; or its prediction; without it only "
                              "the peers run")
    options.add_argument("--predict", action="store_true",
                         help="predictions of one example by one thread, and no training")
    options.add_argument("--peers", type=pathlib.Path, default=BENCH.parent / "build" / "peers",
                         help="their Python environment")
    options.add_argument("--systems", help="which peers (default all; none: '')")
    options.add_argument("--models",
                         help=f"which nets (default all: {','.join(MODELS)}; with --predict {','.join(PREDICTED)})")
    options.add_argument("--optimizers", default="sgd,adam")
    options.add_argument("--threads", default=None, help="numbers of threads (default 1 and all cores)")
    options.add_argument("--rounds", type=int, default=5,
                         help="(default %(default)s; of nets on photographs and of gru two at most)")
    options.add_argument("--seconds", type=float,
                         help="begins nothing that would probably end later; what was never begun is said")
    options.add_argument("--timeout", type=int, default=600, help="seconds for one process (default 600)")
    options.add_argument("--quick", action="store_true", help="one round, SGD, one thread")
    options.add_argument("--compiler", default=os.environ.get("CXX", "c++"), help="builds peak.cpp")
    options.add_argument("--out", type=pathlib.Path, default=BENCH.parent / "build" / "bench" / "step.jsonl")
    args = options.parse_args()
    names = lambda text: [t for t in text.split(",") if t]
    peers, models = (PREDICTORS, PREDICTED) if args.predict else (PEERS | IMAGE_PEERS | {LIBTORCH: []}, MODELS)
    data = os.environ.setdefault("SINTER_DATA", str(BENCH.parent.parent / "shared" / "data"))
    if not (pathlib.Path(data) / "fashion-mnist").is_dir():
        models = [m for m in models if m != "mlp_fashion"]   # nothing to train it on
    has_libtorch = (args.peers / "libtorch_step").exists()
    args.systems = ([s for s in peers if s != LIBTORCH or has_libtorch] if args.systems is None
                    else names(args.systems))
    if LIBTORCH in args.systems and not has_libtorch:
        options.error(f"no {args.peers / 'libtorch_step'}: run bench/peers/libtorch.sh first")
    args.models = models if args.models is None else names(args.models)
    args.optimizers = ["predict"] if args.predict else names(args.optimizers)
    cores = len(os.sched_getaffinity(0))
    args.threads = [int(n) for n in names(args.threads)] if args.threads else sorted({1, cores})
    if args.quick:
        args.rounds, args.optimizers, args.threads = 1, args.optimizers[:1], [1]
    if args.predict:
        args.threads = [1]
    unknown = [s for s in args.systems if s not in peers] + [m for m in args.models if m not in models]
    if unknown or args.rounds < 1:
        options.error(f"unknown: {', '.join(unknown)}" if unknown else "--rounds must be at least 1")
    if "onnxruntime" in args.systems and not args.sinter:
        options.error("onnxruntime is given the nets that Sinter writes: --sinter names the program")
    return args


KINDS = {"_speech": ["gru"], "_sequences": common.SEQUENCES, "_images": common.IMAGES, "_small": common.SMALL}


def commands(args, model, folder):
    """What times the model, by system. onnxruntime is given the net as Sinter writes it."""
    found = {}
    peers = (PREDICTORS if args.predict else IMAGE_PEERS if model in common.IMAGES
             else GRU_PEERS if model == "gru" else PEERS)
    if args.sinter:
        kind = "" if args.predict else next((k for k, models in KINDS.items() if model in models), "")
        *before, program = shlex.split(args.sinter)
        found["sinter"] = [*before, program + kind]
    if "onnxruntime" in args.systems:
        file = folder / f"{model}.onnx"
        if not file.exists():
            subprocess.run([*found["sinter"], "--model", model, "--onnx", str(file)], check=True)
        peers = peers | {"onnxruntime": [*peers["onnxruntime"], "--onnx", str(file)]}
    python = args.peers / "bin" / "python"
    if args.systems and not python.exists():
        sys.exit(f"no {python}: run bench/peers/setup.sh first, or give --peers or --systems ''")
    if LIBTORCH in args.systems and model in LIBTORCH_MODELS:
        found[LIBTORCH] = [str(args.peers / "libtorch_step")]
    return found | {s: [str(python), str(BENCH / "peers" / peers[s][0]), *peers[s][1:]]
                    for s in args.systems if s in peers}


def build_peak(compiler, folder):
    program = folder / "peak"
    base = [compiler, "-std=c++20", "-O3", "-march=native", "-ffp-contract=fast", str(BENCH / "peak.cpp"), "-o",
            str(program), "-pthread"]
    if "avx512f" in machine.cpu_flags():  # -march=native leaves it out where the compiler is older than the processor
        base.append("-mavx512f")
    if subprocess.run([*base, "-mprefer-vector-width=512"], capture_output=True).returncode:
        subprocess.run(base, check=True)
    return program


def run(command, timeout):
    """The last line that the command prints, as JSON, or {"failed": why}."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"failed": str(error).replace(str(BENCH.parent), ".")}
    try:
        return json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return {"failed": f"exit status {done.returncode}: {(done.stderr.strip().splitlines() or ['no output'])[-1]}"}


def rounds(args, peak, folder):
    """All results by (model, optimizer, threads) and system, all peaks by threads, and what there
    was no time for. Ctrl-C ends it with what there is."""
    results, peaks, left_out = {}, {}, []
    try:
        fill(args, peak, folder, results, peaks, left_out)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    return results, peaks, left_out


def wanted(args):
    """(model, optimizer, threads), what there is an aim for first. Nets whose steps take seconds
    are trained by SGD only."""
    keys = [(model, optimizer, n) for optimizer, n in itertools.product(args.optimizers, args.threads)
            for model in args.models
            if model not in common.LONG or optimizer in ("sgd", "predict")]
    return sorted(keys, key=lambda key: key[2] > 1 or key[:2] not in aims.AIMS)


def fill(args, peak, folder, results, peaks, left_out):
    end, took = time.monotonic() + (args.seconds or 1e9), {}
    for number in range(args.rounds):
        of_peak = None   # measured whenever the number of threads changes
        for key in wanted(args):
            (model, optimizer, n), began = key, time.monotonic()
            if model in common.LONG and number > 1:
                continue
            likely = ([t for k, t in took.items() if k == key] or [t for k, t in took.items() if k[0] == model]
                      or took.values())
            if began + max(likely, default=0) > end:
                if not number:
                    left_out.append(" ".join(map(str, key)))
                    print(f"no time for {left_out[-1]}", file=sys.stderr)
                continue
            if of_peak != n:
                peaks.setdefault(n, []).append(run([str(peak), str(n)], args.timeout))
                of_peak = n
            systems = commands(args, model, folder)
            first = number % max(1, len(systems))
            for name in [*systems][first:] + [*systems][:first]:
                more = ["--model", model, "--threads", str(n)] + ["--optimizer", optimizer] * (not args.predict)
                got = run([*systems[name], *more], args.timeout)
                results.setdefault(key, {}).setdefault(name, []).append(got)
                text = f"{tables.digits(got['median_ms'])} ms" if "median_ms" in got else got["failed"]
                print(f"round {number + 1}  {model} {optimizer} {n}  {name}: {text}", file=sys.stderr, flush=True)
            took[key] = time.monotonic() - began


def merge(key, name, got, peak):
    model, optimizer, n = key
    flops = common.prediction_flops(model) if optimizer == "predict" else common.step_flops(model)
    row = {"system": name, "model": model, "optimizer": optimizer, "threads": n, "mflop": flops / 1e6,
           "floor_ms": float(f"{flops / peak / 1e6:.4g}")}
    done = [g for g in got if "median_ms" in g]
    if not done:
        return row | {"failed": got[-1]["failed"]}
    row |= {"median_ms": statistics.median(g["median_ms"] for g in done), "best_ms": min(g["best_ms"] for g in done),
            "rounds": len(done), "version": done[0].get("version", "")}
    if all("cpu_ms" in g for g in done):
        row["cpu_ms"] = statistics.median(g["cpu_ms"] for g in done)
    return row


def main():
    args = parse()
    where = machine.describe(compiler=machine.compiler_version(args.compiler))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        results, peaks, left_out = rounds(args, build_peak(args.compiler, folder), folder)
    if not results:
        sys.exit("nothing was measured")
    peak = {n: max(p["gflops"] for p in found) for n, found in peaks.items()}
    where["machine"] |= {"vector_bits": peaks[args.threads[0]][0]["vector_bits"], "peak_gflops": peak}
    if left_out:
        where["machine"]["left_out"] = left_out
    trips = [g["round_trip_ns"] for found in peaks.values() for g in found if "round_trip_ns" in g]
    # Of a cache line between two cores: what two threads' times depend on, and it is not the same
    # in every hour.
    if trips:
        where["machine"]["round_trip_ns"] = [min(trips), max(trips)]
    rows = [merge(key, name, got, peak[key[2]]) for key, by_name in results.items() for name, got in by_name.items()]
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text("".join(json.dumps(r) + "\n" for r in [where, *rows]))
    print(tables.step_table(args.out))
    print(f"\nJSON lines: {args.out}", file=sys.stderr)


if __name__ == "__main__":
    main()

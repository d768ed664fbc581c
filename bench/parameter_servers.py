#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs bench/parameter_server, bench/distributed and their peers one after the other, round after
round, and writes a JSON line for each run.

A row of the table is what a step does; its rate is the median over the rounds, so that what
disturbs one round does not count."""
import argparse
import pathlib

from json_line import run

MIB = 1 << 20
# What a step pushes and pulls: of one server and worker, of two; more rows, from tables of all
# sizes; a vector.
JOBS = [("rows", 1, 1, 16, 128, 100_000), ("rows", 2, 2, 16, 128, 100_000), ("rows", 1, 1, 64, 1024, 100_000),
        *(("rows", 2, 2, 64, 1024, table) for table in (10_000, 100_000, 1_000_000, 10_000_000)),
        ("dense", 1, 1, MIB, 0, 0), ("dense", 2, 2, MIB, 0, 0)]
SYSTEMS = ["raw", "sinter", "sinter, key", "ps-lite"]

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--program", type=pathlib.Path, required=True, help="bench/parameter_server, built")
options.add_argument("--ps-lite", type=pathlib.Path,
                     help="what bench/peers/ps_lite.sh builds; left out where it is not there")
options.add_argument("--python", help="a Python that has TensorFlow; without, its servers are left out")
options.add_argument("--rounds", type=int, default=5)
options.add_argument("--seconds", type=float, default=0.6, help="of one run (default 0.6)")
options.add_argument("--quick", action="store_true", help="three jobs, two rounds")
args = options.parse_args()
if args.quick:
    JOBS, args.rounds = [JOBS[1], JOBS[2], JOBS[7]], 2


for _ in range(args.rounds):
    for what, servers, workers, dim, rows, table in JOBS:
        job = ["--what", what, "--servers", servers, "--workers", workers, "--dim", dim, "--seconds", args.seconds]
        if what == "rows":
            job += ["--rows", rows, "--table", table]
        for system in SYSTEMS:
            if system == "ps-lite":
                if args.ps_lite and args.ps_lite.exists() and table <= 1_000_000:
                    run(system, [args.ps_lite, *job])
            elif system == "sinter, key":
                run(system, [args.program, *job, "--key", "a secret"])
            else:
                run(system, [args.program, *job, "--system", system])
    # Two workers that compute for 3 ms, and a third that takes ten times as long.
    for mode in ("async", "stale:3", "sync:0", "sync:1"):
        job = ["--what", "dense", "--dim", MIB // 16, "--servers", 1, "--mode", mode, "--compute", 3, "--seconds",
               max(args.seconds, 1)]
        if mode != "sync:1":
            run(mode, [args.program, *job, "--workers", 2])
        if mode in ("async", "sync:1"):
            run(mode, [args.program, *job, "--workers", 3, "--slower", 10])
    # Steps of a net: two workers with 32 examples each, one server.
    steps = args.program.with_name("distributed")
    if steps.exists():
        for mode in ("async", "stale:3", "sync:0"):
            run(mode, [steps, "--strategy", f"parameter_server:{mode}", "--workers", 2, "--servers", 1, "--batch", 32,
                       "--seconds", max(args.seconds, 1)])
    if args.python:
        run("tensorflow", [args.python, pathlib.Path(__file__).parent / "peers" / "tensorflow_parameter_server.py",
                           "--seconds", 3])

#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs bench/collectives and its peers one after the other, round after round, and writes a JSON
line for each run.

A row of the table is a number of ranks, of bytes, and a system; its time is the median over the
rounds of each run's median, so that what disturbs one round does not count."""
import argparse
import os
import pathlib

import json_line

KIB, MIB = 1 << 10, 1 << 20
SIZES = {2: [4 * KIB, 64 * KIB, MIB, 16 * MIB, 64 * MIB], 4: [4 * KIB, 64 * KIB, MIB, 16 * MIB]}
SYSTEMS = [["flood"], ["raw"], ["ring"], ["halving_doubling"], ["ring", "--key", "a secret"], ["shared_memory"],
           ["threads"], ["openmpi"],
           ["openmpi tcp"], ["mpi"], ["gloo"]]

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--program", type=pathlib.Path, required=True, help="bench/collectives, built")
options.add_argument("--python", help="a Python that has PyTorch; without, gloo is left out")
options.add_argument("--rounds", type=int, default=3)
options.add_argument("--seconds", type=float, default=0.2, help="of one run (default 0.2)")
options.add_argument("--quick", action="store_true", help="two ranks, three sizes, two rounds")
args = options.parse_args()
if args.quick:
    SIZES, args.rounds = {2: [4 * KIB, MIB, 16 * MIB]}, 2
mpi = args.program.with_name("collectives_mpi").exists()


def run(system, ranks, size):
    name, *more = system
    environment = dict(os.environ)
    if name == "gloo":
        if not args.python:
            return
        command = [args.python, pathlib.Path(__file__).parent / "peers" / "pytorch_all_reduce.py"]
    else:
        if name in ("mpi", "openmpi", "openmpi tcp") and not mpi:
            return
        if name == "openmpi tcp":   # as over a network: not through shared memory
            environment["OMPI_MCA_btl"] = "tcp,self"
            environment["OMPI_MCA_btl_tcp_if_include"] = "lo"
        command = [args.program, "--algorithm", name.split()[0], *more]
    command += ["--ranks", ranks, "--bytes", size, "--seconds", args.seconds]
    json_line.run(f"{name}, {ranks} ranks, {size} bytes", command, environment=environment)


for _ in range(args.rounds):
    for ranks, sizes in SIZES.items():
        run(["ping"], 2, 8)
        for size in sizes:
            for system in SYSTEMS:
                run(system, ranks, size)
        run(["ring"], ranks, 40 * KIB)   # beside the step of a net of 38 KB
        run(["ring", "--buckets", "8"], ranks, 160 * KIB)
        run(["ring"], ranks, 160 * KIB)

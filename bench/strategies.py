#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs steps under strategies and under PyTorch's DistributedDataParallel one after the other,
round after round, and jobs whose members meet, die, look for damage and go on; writes a JSON line
for each run."""
import argparse
import pathlib

import json_line

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--program", type=pathlib.Path, required=True,
                     help="bench/distributed, built; bench/members and bench/reliability beside it")
options.add_argument("--python", help="a Python that has PyTorch; without, DistributedDataParallel is left out")
options.add_argument("--rounds", type=int, default=3)
options.add_argument("--seconds", type=float, default=0.5, help="of one run (default 0.5)")
options.add_argument("--quick", action="store_true", help="the perceptron alone, one round")
args = options.parse_args()
MODELS = ["mlp"] if args.quick else ["mlp", "cnn", "gpt"]
STRATEGIES = [["single", "--threads", 2], ["mirrored:2"], ["multi_worker:automatic"], ["multi_worker:ring"],
              ["multi_worker:halving_doubling"]]
members = args.program.with_name("members")
reliability = args.program.with_name("reliability")


def step(model, strategy, *more):
    json_line.run(f"{model}, {strategy}",
                  [args.program, "--model", model, "--strategy", strategy, "--seconds", args.seconds, *more])


for _ in range(1 if args.quick else args.rounds):
    for model in MODELS:
        for strategy, *more in STRATEGIES:
            step(model, strategy, *more)
        if args.python:
            json_line.run(f"{model}, PyTorch",
                          [args.python, pathlib.Path(__file__).parent / "peers" / "pytorch_ddp.py", "--model", model])
    for strategy, *more in STRATEGIES[:2]:
        step("lenet", strategy, *more)
    step("small", "single", "--batch", 64)   # with what one process, and each of two, has to compute
    step("small", "single", "--batch", 32)
    step("small", "multi_worker:ring", "--processes", 1)
    step("small", "multi_worker:ring", "--processes", 2)
    if not args.quick:
        for what, ranks in (("meet", 2), ("meet", 8), ("kill", 2), ("kill", 4)):
            json_line.run(f"{what}, {ranks} members", [members, "--what", what, "--ranks", ranks, "--rounds", 5])
if not args.quick:
    json_line.run("stop, 2 members", [members, "--what", "stop", "--ranks", 2, "--rounds", 1])
    for what, rounds in (("weights", 9), ("sums", 9), ("kill", 5), ("stop", 1), ("heal", 3)):
        json_line.run(f"reliability, {what}", [reliability, "--what", what, "--rounds", rounds])

#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""PyTorch's DistributedDataParallel over gloo on this machine: one JSON line with the time of a
step on a global batch.

Each process has one thread and an equal part of the batch, as `bench/distributed` gives its
workers. The loss of a step is read by no one, as in a plain loop; a sample's end is a barrier of
all processes."""
import argparse
import json
import math
import os
import statistics
import sys
import tempfile
import time

import common

parser = argparse.ArgumentParser()
parser.add_argument("--model", choices=["mlp", "cnn", "gpt"], required=True)
parser.add_argument("--processes", type=int, default=2)
parser.add_argument("--batch", type=int, default=64, help="the global batch (default 64)")
parser.add_argument("--optimizer", choices=common.LEARNING_RATE, default="adam")
parser.add_argument("--samples", type=int, default=30, help="timed samples (default 30)")
args = parser.parse_args()
if args.processes < 1 or args.batch % args.processes:
    parser.error(f"--batch {args.batch} does not divide into {args.processes} equal parts")
common.prepare(1)

import torch  # noqa: E402  (reads the environment that prepare() sets)
import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.parallel import DistributedDataParallel  # noqa: E402

import pytorch_nets  # noqa: E402


def net_and_batch():
    """The net, and `args.batch` examples: those of the benchmarks, repeated."""
    if args.model in common.SEQUENCES:
        import pytorch_sequences
        net = pytorch_sequences.build(args.model, common.SEQUENCES[args.model], common.sequence_weights(args.model),
                                      False)
        x, y = map(torch.from_numpy, common.sequence_batch(args.model))
        x = x.long()
        y = y.long().reshape(len(x), -1)
    else:
        net = pytorch_nets.build(args.model)
        images, labels = common.batch(args.model)
        x, y = pytorch_nets.as_input(images), torch.from_numpy(labels).long()
    index = torch.arange(args.batch) % len(x)
    return net, x[index], y[index]


def work(rank, store):
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=args.processes)
    net, x, y = net_and_batch()
    part = args.batch // args.processes
    x, y = x[rank * part:(rank + 1) * part], y[rank * part:(rank + 1) * part].flatten()
    if x.ndim == 4:
        x = x.contiguous(memory_format=torch.channels_last)
    model = DistributedDataParallel(net)
    rate = common.LEARNING_RATE[args.optimizer]
    if args.optimizer == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=rate, fused=True)
    else:
        optimizer = torch.optim.Adam(model.parameters(), lr=rate, betas=common.BETAS, eps=common.EPSILON, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    first = step().item()
    for _ in range(20):   # buckets are rebuilt after the first step
        step()
    dist.barrier()
    began = time.perf_counter()
    for _ in range(10):
        step()
    took = torch.tensor([(time.perf_counter() - began) / 10])
    dist.broadcast(took, 0)
    steps = max(1, math.ceil(0.05 / took.item()))
    samples = []
    for _ in range(max(5, min(args.samples, int(10 / (steps * took.item()))))):
        dist.barrier()
        began = time.perf_counter()
        for _ in range(steps):
            loss = step()
        dist.barrier()
        samples.append((time.perf_counter() - began) / steps * 1e3)
    if rank == 0:
        if not (math.isfinite(loss.item()) and loss.item() < first):
            sys.exit(f"pytorch-ddp: loss went from {first} to {loss.item()}: this is not training")
        print(json.dumps({
            "system": "pytorch-ddp", "what": "step", "model": args.model, "ranks": args.processes, "batch": args.batch,
            "optimizer": args.optimizer, "median_ms": round(statistics.median(samples), 5),
            "best_ms": round(min(samples), 5),
            "steps_per_s": round(1e3 / statistics.median(samples), 2),
            "version": torch.__version__.split("+")[0]}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(os.path.join(folder, "store"),), nprocs=args.processes)

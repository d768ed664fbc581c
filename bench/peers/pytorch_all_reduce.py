#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""PyTorch's all_reduce over gloo on this machine: one JSON line, timed as bench/collectives times
its own."""
import argparse
import json
import os
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("--ranks", type=int, default=2)
parser.add_argument("--bytes", type=int, default=1 << 20)
parser.add_argument("--seconds", type=float, default=1)
args = parser.parse_args()

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402


def work(rank, store):
    torch.set_num_threads(1)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=args.ranks)
    x = torch.full((max(args.bytes // 4, 1),), 1e-30)
    one = 1e9
    for _ in range(5):
        begin = time.perf_counter()
        dist.all_reduce(x)
        one = min(one, time.perf_counter() - begin)
    calls = min(max(int(0.002 / one), 1), 200)
    plan = torch.tensor([calls, min(max(int(args.seconds / (one * calls)), 5), 2000)])
    dist.broadcast(plan, 0)
    calls, samples = plan.tolist()
    times = []
    for _ in range(samples):
        begin = time.perf_counter()
        for _ in range(calls):
            dist.all_reduce(x)
        times.append((time.perf_counter() - begin) / calls)
    if rank == 0:
        times.sort()
        print(json.dumps({"system": "gloo (PyTorch)", "what": "all_reduce", "ranks": args.ranks, "bytes": args.bytes,
                          "median_ms": 1e3 * times[len(times) // 2], "best_ms": 1e3 * times[0]}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(f"{folder}/store",), nprocs=args.ranks)

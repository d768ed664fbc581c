#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The ops of bench/operations.cpp in PyTorch, as JSON lines: a batch through each, and through it
and its gradient, on one thread. Images are tried as PyTorch has them and with their channels last;
the faster of both counts, and what it takes to get them there does not."""
import argparse
import json
import statistics
import time

import torch
import torch.nn.functional as F


def pixels(f):
    """A function of images [N, C, H, W], which are [N, H, W, C] here."""
    return f, "image"


def of_rows(f):
    return f, "rows"


def patches(x):
    """[N, C, H, W] -> [N, C kh kw, OH OW]: other orders of channels and taps, and of places, than
    ours."""
    return F.unfold(x, 3, padding=1)


def as_patches(d, channels):
    """[N, OH, OW, kh kw C] as `patches` has them."""
    batch, height, width, all_taps = d.shape
    d = d.reshape(batch, height * width, all_taps // channels, channels)
    return d.permute(0, 3, 2, 1).reshape(batch, all_taps, height * width)


OPS = {   # name: batch, extents of an example here, the function and what it takes
    "transpose": (32, (64, 256), of_rows(lambda x: x.transpose(1, 2).contiguous())),
    "planes_to_pixels": (32, (3, 64, 64), of_rows(lambda x: x.permute(0, 2, 3, 1).contiguous())),
    "pixels_to_planes": (32, (64, 64, 3), of_rows(lambda x: x.permute(0, 3, 1, 2).contiguous())),
    "channel_shuffle": (16, (1024, 4, 16), of_rows(lambda x: x.transpose(2, 3).contiguous())),
    "concat_channels": (32, (1024, 16), of_rows(lambda x: torch.cat([x, x], -1))),
    "stack_last": (32, (64, 256, 1), of_rows(lambda x: torch.cat([x, x], -1))),
    "slice_channels": (32, (1024, 16), of_rows(lambda x: x[..., 4:12].contiguous())),
    "split_three": (32, (64, 384), of_rows(lambda x: x[..., :128] * x[..., 128:256] + x[..., 256:])),
    "reverse": (32, (64, 256), of_rows(lambda x: x.flip(-1))),
    "pad_reflect": (32, (32, 32, 16), pixels(lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"))),
    "depth_to_space": (16, (32, 32, 64), pixels(lambda x: F.pixel_shuffle(x, 2))),
    "upsample_nearest": (16, (32, 32, 16), pixels(lambda x: F.interpolate(x, scale_factor=2))),
    "upsample_bilinear": (16, (32, 32, 16), pixels(lambda x: F.interpolate(x, size=(64, 64), mode="bilinear"))),
    "extract_patches": (16, (32, 32, 16), pixels(patches)),
    "max_pool": (32, (32, 32, 16), pixels(lambda x: F.max_pool2d(x, 2))),
    "avg_pool": (32, (32, 32, 16), pixels(lambda x: F.avg_pool2d(x, 2))),
    "group_norm": (32, (32, 32, 16), pixels(lambda x: F.group_norm(x, 4))),
    "local_response_norm": (32, (32, 32, 16), pixels(lambda x: F.local_response_norm(x, 5, 1.0, 0.75, 1.0))),
    "cumsum": (32, (64, 256), of_rows(lambda x: x.cumsum(-1))),
    "cumprod": (32, (64, 256), of_rows(lambda x: (x + 1).cumprod(-1))),
    "sort": (32, (64, 256), of_rows(lambda x: x.sort(-1)[0])),
    "top_5": (32, (64, 256), of_rows(lambda x: x.topk(5)[0])),
    "softmax": (32, (64, 256), of_rows(lambda x: x.softmax(-1))),
    "logsumexp": (32, (64, 256), of_rows(lambda x: x.logsumexp(-1))),
    "max": (32, (64, 256), of_rows(lambda x: x.amax(-1))),
    "var": (32, (64, 256), of_rows(lambda x: x.var(-1, unbiased=False))),
    "prod": (32, (64, 256), of_rows(lambda x: (x + 1).prod(-1))),
    "weighted_rows": (32, (1024, 12), of_rows(lambda x: x * x[..., :1])),
    "matmul": (64, (64, 64), of_rows(lambda x: x @ x)),
    "small_matmul": (2048, (8, 8), of_rows(lambda x: x @ x)),
}


def numbers(extents, factor):
    """As bench/operations.cpp makes them."""
    n = torch.Size(extents).numel()
    return (((torch.arange(n) * factor + 13) % 10007).float() / 10007 - 0.5).reshape(extents)


def microseconds(f, seconds):
    f()
    found, began = [], time.perf_counter()
    while len(found) < 3 or time.perf_counter() - began < seconds:
        at = time.perf_counter()
        f()
        found.append(time.perf_counter() - at)
    return 1e6 * statistics.median(found)


def run(name, seconds):
    batch, extents, (f, kind) = OPS[name]
    x = numbers((batch, *extents), 7919)
    forms = [x]
    if kind == "image":
        x = x.permute(0, 3, 1, 2)   # channels last, as it lies
        forms = [x.contiguous(), x.contiguous(memory_format=torch.channels_last)]
    best = {}
    for form in forms:
        form.requires_grad_(True)
        y = f(form)
        if kind == "rows":
            d = numbers(y.shape, 6007)
        elif name == "extract_patches":
            d = as_patches(numbers((batch, *extents[:2], y.shape[1]), 6007), extents[2])
        else:
            d = numbers((batch, y.shape[2], y.shape[3], y.shape[1]), 6007).permute(0, 3, 1, 2)
            d = d.contiguous(memory_format=torch.channels_last if form is forms[-1] else torch.contiguous_format)

        def both(form=form, d=d):
            y = f(form)
            return y, torch.autograd.grad(y, form, d)[0]

        def forward(form=form):
            with torch.no_grad():
                return f(form)

        for kind_of_run, run_once in (("forward", forward), ("with gradient", both)):
            made = run_once()
            size = sum(t.detach().double().abs().sum().item() for t in (made if isinstance(made, tuple) else (made,)))
            best[kind_of_run] = min(best.get(kind_of_run, (1e99, 0)), (microseconds(run_once, seconds), size))
    for kind_of_run, (us, size) in best.items():
        print(json.dumps({"op": name, "kind": kind_of_run, "system": "pytorch", "batch": batch, "us": round(us, 3),
                          "size": size}), flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=0.1, help="for each")
    options.add_argument("--op", choices=OPS)
    args = options.parse_args()
    torch.set_num_threads(1)
    for name in [args.op] if args.op else OPS:
        run(name, args.seconds)


if __name__ == "__main__":
    main()

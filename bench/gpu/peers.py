#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""PyTorch's training steps on the GPU for the models of steps.cu: the batch copied from pinned
memory, adam, the loss read back.

    peers.py eager|graph|compile [MODEL...]

"graph" captures a whole eager step into a CUDA graph and replays it; "compile" is
torch.compile(mode="reduce-overhead"). Prints a JSON line for each model and precision: float32 with
TF32 off (as Sinter) and on, convolutions included.
"""
import json
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


class Cnn(nn.Sequential):
    def __init__(self, dropout):
        super().__init__(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(3136, 128), nn.ReLU(), nn.Dropout(dropout), nn.Linear(128, 10))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, width = x.shape
        q, k, v = (p.view(n, t, self.heads, -1).transpose(1, 2) for p in self.qkv(self.before(x)).chunk(3, -1))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(n, t, width))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Gpt(nn.Module):
    def __init__(self, symbols, context, width, heads, blocks):
        super().__init__()
        self.symbols, self.places = nn.Embedding(symbols, width), nn.Parameter(torch.zeros(context, width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(blocks)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, symbols)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.symbols(x) + self.places))).flatten(0, 1)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.head = nn.LSTM(256, 256, 2, batch_first=True), nn.Linear(256, 10)

    def forward(self, x):
        return self.head(self.layers(x)[0][:, -1])


def mlp():
    return nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))


IMAGE = (1, 28, 28)
MODELS = {   # name: maker, batch, input extents, labels an example, classes
    "mlp": (mlp, 64, (784,), 1, 10),
    "mlp1024": (mlp, 1024, (784,), 1, 10),
    "quickstart": (lambda: Cnn(0.2), 64, IMAGE, 1, 10),
    "cnn": (lambda: Cnn(0.0), 256, IMAGE, 1, 10),
    "gpt": (lambda: Gpt(65, 64, 128, 4, 4), 8, None, 64, 65),
    "wide_gpt": (lambda: Gpt(65, 256, 512, 8, 4), 8, None, 256, 65),
    "lstm": (Lstm, 32, (32, 256), 1, 10),
}


def measure(mode, name, tf32):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
    torch.manual_seed(1)
    make, batch, extents, places, classes = MODELS[name]
    net = make().cuda()
    if extents == IMAGE:
        net = net.to(memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(net.parameters(), fused=True, capturable=mode == "graph")
    x = torch.randint(classes, (batch, places)) if extents is None else torch.rand((batch, *extents))
    y = torch.randint(classes, (batch * places,))
    host = [x.pin_memory(), y.pin_memory()]
    here = [t.cuda() for t in host]
    loss_of = lambda x, y: F.cross_entropy(net(x), y)   # noqa: E731
    if mode == "compile":
        # Else the next models count as recompilations of the first, and run eagerly past a limit.
        torch._dynamo.reset()
        loss_of = torch.compile(loss_of, mode="reduce-overhead")

    def compute():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(*here)
        loss.backward()
        optimizer.step()
        return loss

    if mode == "graph":
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(5):
                compute()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            kept = compute()

    def step():
        for to, source in zip(here, host):
            to.copy_(source, non_blocking=True)
        if mode == "graph":
            graph.replay()
            return kept.item()
        return compute().item()

    for _ in range(30):
        step()
    times = []
    for _ in range(200):
        began = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - began))
    print(json.dumps({"system": "pytorch-" + mode, "version": torch.__version__, "model": name.removesuffix("1024"),
                      "batch": batch, "tf32": tf32, "median_ms": round(statistics.median(times), 4),
                      "best_ms": round(min(times), 4)}), flush=True)


if __name__ == "__main__":
    for wanted in sys.argv[2:] or MODELS:
        for precision in (False, True):
            try:
                measure(sys.argv[1], wanted, precision)
            except Exception as e:   # one model's fault leaves the others
                print(json.dumps({"system": "pytorch-" + sys.argv[1], "model": wanted, "error": str(e)[:300]}),
                      flush=True)

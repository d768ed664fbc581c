#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Trains from_pytorch.cpp's net in PyTorch on the images that `from_pytorch --give` wrote, and saves its state_dict.

usage: from_pytorch.py IMAGES.npz WEIGHTS.safetensors
needs: pip install torch numpy safetensors
"""
import sys
from collections import OrderedDict

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn


def main(images, weights):
    torch.manual_seed(1)
    data = np.load(images)
    x = torch.tensor(data["x"].transpose(0, 3, 1, 2))   # channels first
    y = torch.tensor(data["y"].astype(np.int64))
    net = nn.Sequential(OrderedDict(
        conv1=nn.Conv2d(1, 8, 3, padding=1, bias=False), norm1=nn.BatchNorm2d(8),
        relu1=nn.ReLU(), pool1=nn.MaxPool2d(2),
        conv2=nn.Conv2d(8, 16, 3, padding=1, bias=False), norm2=nn.BatchNorm2d(16),
        relu2=nn.ReLU(), pool2=nn.MaxPool2d(2),
        flatten=nn.Flatten(), fc=nn.Linear(16 * 7 * 7, 10)))
    optimizer = torch.optim.Adam(net.parameters())
    for epoch in range(3):
        total = 0.0
        for part in torch.randperm(len(x)).split(64):
            loss = nn.functional.cross_entropy(net(x[part]), y[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(part)
        print(f"epoch {epoch + 1}: loss {total / len(x):.4f}")
    # Half precision is enough for a beginning, and half the size.
    save_file({k: v.half() if v.is_floating_point() else v for k, v in net.state_dict().items()}, weights)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])

# SPDX-License-Identifier: BSL-1.0
"""The nets whose layers follow each other in PyTorch."""
import torch
from torch import nn

import common


class Flatten(nn.Module):
    """To [n][height * width * channel]: in channels_last memory no copy."""

    def forward(self, x):
        return x.permute(0, 2, 3, 1).flatten(1)


def build(model):
    parts, flat = [], model in common.FLAT
    shapes = list(common.layers(model))
    for i, (layer, (w, b)) in enumerate(zip(shapes, common.weights(model))):
        if layer[0] == "conv":
            m = nn.Conv2d(layer[2], layer[3], layer[1], padding=layer[4] if layer[4] == "valid" else layer[1] // 2)
            w = w.transpose(3, 2, 0, 1)
        else:
            m, w = nn.Linear(layer[1], layer[2]), w.T
            if not flat:
                parts.append(Flatten())
            flat = True
        with torch.no_grad():
            m.weight.copy_(torch.from_numpy(w.copy()))
            m.bias.copy_(torch.from_numpy(b))
        parts.append(m)
        if i + 1 < len(shapes):
            parts.append(nn.ReLU())
        if layer[0] == "conv":
            parts.append(nn.MaxPool2d(2))
    return nn.Sequential(*parts).to(memory_format=torch.channels_last)


def as_input(x):
    """Images as PyTorch has them, in channels_last memory; other arrays as they are."""
    x = torch.from_numpy(x)
    return x.permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last) if x.ndim == 4 else x

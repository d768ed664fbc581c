#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A PyTorch training step: eager with channels_last and fused optimizers, or through torch.compile."""
import common

args = common.options(["eager", "compile"])
import torch  # noqa: E402  (reads the environment that options() sets)
from torch import nn  # noqa: E402

torch.set_num_threads(args.threads)
torch.set_num_interop_threads(1)


class Flatten(nn.Module):
    """To [n][height * width * channel]: in channels_last memory no copy."""

    def forward(self, x):
        return x.permute(0, 2, 3, 1).flatten(1)


def build():
    parts, flat = [], False
    shapes = list(common.layers(args.model))
    for i, (layer, (w, b)) in enumerate(zip(shapes, common.weights(args.model))):
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


if args.model in common.SEQUENCES:
    import pytorch_sequences
    net = pytorch_sequences.build(args.model, common.SEQUENCES[args.model], common.sequence_weights(args.model),
                                  args.mode == "compile")
    x, y = map(torch.from_numpy, common.sequence_batch(args.model))
    x, y = x if args.model == "lstm" else x.long(), y.long().flatten()
else:
    net = build()
    images, labels = common.batch()
    x = torch.from_numpy(images).permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)
    y = torch.from_numpy(labels).long()
rate = common.LEARNING_RATE[args.optimizer]
if args.optimizer == "sgd":
    optimizer = torch.optim.SGD(net.parameters(), lr=rate, fused=True)
else:
    optimizer = torch.optim.Adam(net.parameters(), lr=rate, betas=common.BETAS, eps=common.EPSILON, fused=True)


def loss_of(x, y):
    return nn.functional.cross_entropy(net(x), y)


if args.mode == "compile":
    loss_of = torch.compile(loss_of)


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = loss_of(x, y)
    loss.backward()
    optimizer.step()
    return loss


common.report("pytorch" if args.mode == "eager" else "pytorch-compile", torch.__version__.split("+")[0], args, step,
              lambda loss: loss.item())

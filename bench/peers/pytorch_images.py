#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A PyTorch training step of the nets on photographs: eager in channels_last or in contiguous
memory, or through torch.compile."""
import common

args = common.options(["channels-last", "contiguous", "compile"])
import torch  # noqa: E402  (reads the environment that options() sets)
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

torch.set_num_threads(args.threads)
torch.set_num_interop_threads(1)


def stack(entries, channels):
    """common.IMAGES' entries as one module; gives it and its result's channels."""
    parts = []
    for kind, *of in entries:
        if kind == "conv":
            out, k, stride, padding = of
            parts += [nn.Conv2d(channels, out, k, stride, padding), nn.ReLU()]
            channels = out
        elif kind == "max":
            k, stride, padding = of
            parts.append(nn.MaxPool2d(k, stride, padding, ceil_mode=False))
        elif kind == "lrn":
            parts.append(nn.LocalResponseNorm(5))
        elif kind == "flatten":
            parts.append(nn.Flatten())
            channels *= of[0] ** 2
        elif kind == "dense":
            parts.append(nn.Linear(channels, of[0]))
            channels = of[0]
        elif kind == "relu":
            parts.append(nn.ReLU())
        elif kind == "dropout":
            parts.append(nn.Dropout(of[0]))
        elif kind == "mean":
            parts += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
        elif kind == "avg":
            parts.append(nn.AvgPool2d(of[0], of[1]))
        elif kind == "stem":
            out, k = of
            parts += [nn.Conv2d(channels, out, k, 2, k // 2, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
            channels = out
        elif kind == "separable":
            out, stride = of
            parts += [nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False),
                      nn.BatchNorm2d(channels), nn.ReLU(),
                      nn.Conv2d(channels, out, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
            channels = out
        else:
            parts.append({"residual": Residual, "inception": Inception}[kind](channels, *of))
            channels = parts[-1].channels
    return nn.Sequential(*parts), channels


class Residual(nn.Module):
    """A basic block or a bottleneck (as torchvision's)."""

    def __init__(self, channels, width, stride, bottleneck):
        super().__init__()
        self.channels = width * (4 if bottleneck else 1)
        shape = ([(width, 1, 1), (width, 3, stride), (4 * width, 1, 1)] if bottleneck
                 else [(width, 3, stride), (width, 3, 1)])
        parts, c = [], channels
        for out, k, s in shape:
            parts += [nn.Conv2d(c, out, k, s, k // 2, bias=False), nn.BatchNorm2d(out), nn.ReLU(inplace=True)]
            c = out
        self.branch = nn.Sequential(*parts[:-1])
        self.past = None
        if stride > 1 or channels != self.channels:
            self.past = nn.Sequential(nn.Conv2d(channels, self.channels, 1, stride, bias=False),
                                      nn.BatchNorm2d(self.channels))

    def forward(self, x):
        return F.relu(self.branch(x) + (x if self.past is None else self.past(x)), inplace=True)


class Inception(nn.Module):
    def __init__(self, channels, one, reduce3, three, reduce5, five, pooled):
        super().__init__()
        self.channels = one + three + five + pooled
        conv = lambda out, k: ("conv", out, k, 1, k // 2)
        self.branches = nn.ModuleList(stack(entries, channels)[0] for entries in (
            [conv(one, 1)], [conv(reduce3, 1), conv(three, 3)], [conv(reduce5, 1), conv(five, 5)],
            [("max", 3, 1, 1), conv(pooled, 1)]))

    def forward(self, x):
        return torch.cat([b(x) for b in self.branches], 1)


class WithHeads(nn.Module):
    """GoogLeNet: classifiers beside the trunk, whose losses count 0.3."""

    def __init__(self, trunk, heads):
        super().__init__()
        modules, head_modules, c = [], [], 3
        for i, part in enumerate(trunk):
            module, c = stack(part, c)
            modules.append(module)
            if i + 1 < len(trunk):
                head_modules.append(stack(heads, c)[0])
        self.trunk, self.heads = nn.ModuleList(modules), nn.ModuleList(head_modules)

    def forward(self, x):
        scores = []
        for part, head in zip(self.trunk, self.heads):
            x = part(x)
            scores.append(head(x))
        return self.trunk[-1](x), *scores


net_of = common.IMAGES[args.model]
if "heads" in net_of:
    net = WithHeads(net_of["trunk"], net_of["heads"])
else:
    net = stack(net_of["trunk"], 3)[0]
torch.manual_seed(1)
for m in net.modules():
    if isinstance(m, (nn.Conv2d, nn.Linear)):
        nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
images, labels = common.image_batch(args.model)
x, y = torch.from_numpy(images), torch.from_numpy(labels).long()
if args.mode != "contiguous":
    net, x = net.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
rate = common.IMAGE_RATE
optimizer = torch.optim.SGD(net.parameters(), lr=rate, fused=True)


def loss_of(x, y):
    scores = net(x)
    if not isinstance(scores, tuple):
        return F.cross_entropy(scores, y)
    return F.cross_entropy(scores[0], y) + 0.3 * sum(F.cross_entropy(s, y) for s in scores[1:])


if args.mode == "compile":
    loss_of = torch.compile(loss_of)


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = loss_of(x, y)
    loss.backward()
    optimizer.step()
    return loss


common.report("pytorch" if args.mode == "channels-last" else f"pytorch-{args.mode}", torch.__version__.split("+")[0],
              args, step,
              lambda loss: loss.item())

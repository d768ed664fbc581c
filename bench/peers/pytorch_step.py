#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A PyTorch training step: eager with channels_last and fused optimizers, or through torch.compile."""
import common

args = common.options(["eager", "compile"])
import torch  # noqa: E402  (reads the environment that options() sets)
from torch import nn  # noqa: E402

import pytorch_nets  # noqa: E402

torch.set_num_threads(args.threads)
torch.set_num_interop_threads(1)


class Columns(nn.Module):
    """The table's gradient is dense: SparseAdam, with nn.Embedding(sparse=True), takes longer than
    the fused Adam over all rows."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding.from_pretrained(torch.from_numpy(common.table()), freeze=False)
        self.rest = pytorch_nets.build(args.model)

    def forward(self, x):
        rows, numbers = x
        return self.rest(torch.cat([self.table(rows).flatten(1), numbers], 1))


if args.model == "columns":
    net = Columns()
    rows, numbers, y = map(torch.from_numpy, common.column_batch())
    x, y = (rows.long(), numbers), y[:, None]
elif args.model in common.SEQUENCES:
    import pytorch_sequences
    net = pytorch_sequences.build(args.model, common.SEQUENCES[args.model], common.sequence_weights(args.model),
                                  args.mode == "compile")
    x, y = map(torch.from_numpy, common.sequence_batch(args.model))
    x, y = x.long() if args.model == "gpt" else x, y.long().flatten()
else:
    net = pytorch_nets.build(args.model)
    images, labels = common.batch(args.model)
    x = pytorch_nets.as_input(images)
    y = torch.from_numpy(labels).long()
rate = common.LEARNING_RATE[args.optimizer]
if args.optimizer == "sgd":
    optimizer = torch.optim.SGD(net.parameters(), lr=rate, fused=True)
else:
    optimizer = torch.optim.Adam(net.parameters(), lr=rate, betas=common.BETAS, eps=common.EPSILON, fused=True)


def loss_of(x, y):
    loss = nn.functional.binary_cross_entropy_with_logits if args.model == "columns" else nn.functional.cross_entropy
    return loss(net(x), y)


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

#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""PyTorch's prediction for one example: traced, frozen and optimised for inference."""
import warnings

import common

warnings.simplefilter("ignore", FutureWarning)   # torch.jit is still PyTorch's fastest at one example
args = common.options(["jit"], predicts=True)
import torch  # noqa: E402  (reads the environment that options() sets)

import pytorch_nets  # noqa: E402

torch.set_num_threads(1)
torch.set_num_interop_threads(1)
images = common.batch(args.model)[0][:1]
x = pytorch_nets.as_input(images)
net = torch.jit.freeze(torch.jit.trace(pytorch_nets.build(args.model).eval(), x))
net = torch.jit.optimize_for_inference(net)
y = None


def predict():
    global y
    y = net(x)


with torch.inference_mode():
    common.report_prediction("pytorch-jit", torch.__version__.split("+")[0], args, predict, lambda: y.numpy())

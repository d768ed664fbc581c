#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""onnxruntime's prediction for one example: the ONNX file that Sinter wrote, all optimisations, one
thread, inputs and outputs bound to fixed memory once, so that a call does nothing but compute."""
import common

args = common.options(["bound"], predicts=True)
import numpy as np  # noqa: E402  (reads the environment that options() sets)
import onnxruntime  # noqa: E402

settings = onnxruntime.SessionOptions()
settings.intra_op_num_threads = settings.inter_op_num_threads = 1
settings.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
session = onnxruntime.InferenceSession(args.onnx, settings, providers=["CPUExecutionProvider"])
given, told = session.get_inputs()[0], session.get_outputs()[0]
x = np.random.default_rng(2).random([1, *given.shape[1:]], np.float32)
y = np.zeros([1, *told.shape[1:]], np.float32)
binding = session.io_binding()
value = lambda array: onnxruntime.OrtValue.ortvalue_from_numpy(array)
x, y = value(x), value(y)
binding.bind_ortvalue_input(given.name, x)
binding.bind_ortvalue_output(told.name, y)
inner, bound = session._sess.run_with_iobinding, binding._iobinding   # without the Python around them


def predict():
    inner(bound, None)


common.report_prediction("onnxruntime", onnxruntime.__version__, args, predict, lambda: y.numpy())

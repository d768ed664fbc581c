#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A TensorFlow training step: one tf.function with the fused update operations, as a graph or
compiled by XLA."""
import common

args = common.options(["graph", "xla"])
import tensorflow as tf  # noqa: E402  (reads the environment that options() sets)

tf.config.threading.set_intra_op_parallelism_threads(args.threads)
tf.config.threading.set_inter_op_parallelism_threads(1)

sequences, columns = args.model in common.SEQUENCES, args.model == "columns"
if sequences:
    import tensorflow_sequences
    named = {name: tf.Variable(v) for name, v in common.sequence_weights(args.model).items()}
    weights = list(named.values())
else:
    shapes = list(common.layers(args.model))
    weights = [tf.Variable(v) for pair in common.weights(args.model) for v in pair]
if columns:
    weights.append(tf.Variable(common.table()))
moments = [(tf.Variable(tf.zeros_like(v)), tf.Variable(tf.zeros_like(v))) for v in weights]
powers = [tf.Variable(beta) for beta in common.BETAS]
if columns:
    rows, x, y = map(tf.constant, common.column_batch())
else:
    x, y = map(tf.constant, common.sequence_batch(args.model) if sequences else common.batch(args.model))
    y = tf.reshape(y, [-1])


def logits(x):
    if sequences:
        return tensorflow_sequences.NETS[args.model](common.SEQUENCES[args.model], named, x)
    if columns:
        x = tf.concat([tf.reshape(tf.gather(weights[-1], rows), [rows.shape[0], -1]), x], 1)
    for i, layer in enumerate(shapes):
        w, b = weights[2 * i], weights[2 * i + 1]
        if layer[0] == "conv":
            x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 1, layer[4].upper()), b))
            x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        else:
            x = tf.nn.bias_add(tf.matmul(tf.reshape(x, [x.shape[0], -1]), w), b)
            if i + 1 < len(shapes):
                x = tf.nn.relu(x)
    return x


def update(gradients):
    rate = common.LEARNING_RATE[args.optimizer]
    if args.optimizer == "sgd":
        for v, g in zip(weights, gradients):
            tf.raw_ops.ResourceApplyGradientDescent(var=v.handle, alpha=rate, delta=g)
        return
    b1, b2 = common.BETAS
    for v, g, (m, s) in zip(weights, gradients, moments):
        tf.raw_ops.ResourceApplyAdam(var=v.handle, m=m.handle, v=s.handle, beta1_power=powers[0], beta2_power=powers[1],
                                     lr=rate, beta1=b1, beta2=b2, epsilon=common.EPSILON, grad=g)
    for p, beta in zip(powers, common.BETAS):
        p.assign(p * beta)


@tf.function(jit_compile=True if args.mode == "xla" else None)
def step():
    with tf.GradientTape() as tape:
        z = logits(x)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, z[:, 0]) if columns
                              else tf.nn.sparse_softmax_cross_entropy_with_logits(y, z))
    update([tf.convert_to_tensor(g) for g in tape.gradient(loss, weights)])
    return loss


common.report("tensorflow" if args.mode == "graph" else "tensorflow-xla", tf.__version__, args, step,
              lambda loss: float(loss.numpy()))

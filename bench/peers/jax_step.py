#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""A JAX training step: one jitted function of weights, moments and batch, NHWC, its state donated."""
import common

args = common.options(["jit"])
import jax  # noqa: E402  (reads the environment that options() sets)
import jax.numpy as jnp  # noqa: E402

sequences, columns = args.model in common.SEQUENCES, args.model == "columns"
if sequences:
    import jax_sequences
    sizes, net = common.SEQUENCES[args.model], jax_sequences.NETS[args.model]
else:
    shapes = list(common.layers(args.model))


def pool(x):
    """2x2 maximum. As a reduction over a reshaped view a step takes half to 0.85 of the time with
    reduce_window."""
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))


def logits(weights, x):
    if sequences:
        return net(sizes, weights, x)
    if columns:
        rows, numbers = x
        table, weights = weights
        x = jnp.concatenate([table[rows].reshape(rows.shape[0], -1), numbers], 1)
    for i, (layer, (w, b)) in enumerate(zip(shapes, weights)):
        if layer[0] == "conv":
            x = jax.lax.conv_general_dilated(x, w, (1, 1), layer[4].upper(),
                                             dimension_numbers=("NHWC", "HWIO", "NHWC")) + b
            x = pool(jax.nn.relu(x))
        else:
            x = x.reshape(x.shape[0], -1) @ w + b
            if i + 1 < len(shapes):
                x = jax.nn.relu(x)
    return x


def loss_of(weights, x, y):
    if columns:
        z = logits(weights, x)[:, 0]
        return jnp.mean(jnp.maximum(z, 0) - z * y + jnp.log1p(jnp.exp(-jnp.abs(z))))
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits(weights, x)), y[:, None], 1))


def sgd(state, gradient):
    weights, rate = state["weights"], common.LEARNING_RATE["sgd"]
    return {"weights": jax.tree.map(lambda p, g: p - rate * g, weights, gradient)}


def adam(state, gradient):
    (b1, b2), rate, t = common.BETAS, common.LEARNING_RATE["adam"], state["t"] + 1
    m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, state["m"], gradient)
    v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, state["v"], gradient)
    first, second = 1 / (1 - b1**t), 1 / (1 - b2**t)
    update = lambda p, m, v: p - rate * (m * first) / (jnp.sqrt(v * second) + common.EPSILON)
    return {"weights": jax.tree.map(update, state["weights"], m, v), "m": m, "v": v, "t": t}


def train(state, x, y):
    loss, gradient = jax.value_and_grad(loss_of)(state["weights"], x, y)
    return (sgd if args.optimizer == "sgd" else adam)(state, gradient), loss


train = jax.jit(train, donate_argnums=0)
first = common.sequence_weights(args.model) if sequences else list(common.weights(args.model))
if columns:
    first = (common.table(), first)
weights = jax.tree.map(jnp.array, first)
state = {"weights": weights}
if args.optimizer == "adam":
    zeros = lambda: jax.tree.map(jnp.zeros_like, weights)
    state |= {"m": zeros(), "v": zeros(), "t": jnp.float32(0)}
if columns:
    rows, numbers, y = map(jnp.array, common.column_batch())
    x = rows, numbers
else:
    x, y = map(jnp.array, common.sequence_batch(args.model) if sequences else common.batch(args.model))
    y = y.reshape(-1)


def step():
    global state
    state, loss = train(state, x, y)
    return loss


def finish(loss):
    jax.block_until_ready(state)
    return float(loss)


common.report("jax", jax.__version__, args, step, finish)

# SPDX-License-Identifier: BSL-1.0
"""The nets on sequences in JAX: logits of named weights."""
import jax
import jax.numpy as jnp


def dense(p, name, x):
    return x @ p[f"{name}.kernel"] + p[f"{name}.bias"]


def lstm(sizes, p, x):
    """A scan over steps; the input's product is taken for all steps at once."""
    x = x.swapaxes(0, 1)
    for i in range(sizes["layers"]):
        u = p[f"{i}.recurrent"]

        def sequence_step(state, given):
            h, c = state
            a, f, g, o = jnp.split(given + h @ u, 4, 1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(a) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((x.shape[1], sizes["width"]), x.dtype)
        x = jax.lax.scan(sequence_step, (zero, zero), dense(p, f"{i}", x))[1]
    return dense(p, "head", x[-1])


def gru(sizes, p, x):
    x = x.swapaxes(0, 1)
    for i in range(sizes["layers"]):
        u, b = p[f"{i}.recurrent"], p[f"{i}.recurrent_bias"]

        def sequence_step(h, given):
            (r, z, n), (ur, uz, un) = jnp.split(given, 3, 1), jnp.split(h @ u, 3, 1)
            z = jax.nn.sigmoid(z + uz)
            h = z * h + (1 - z) * jnp.tanh(n + jax.nn.sigmoid(r + ur) * (un + b))
            return h, h

        zero = jnp.zeros((x.shape[1], sizes["width"]), x.dtype)
        x = jax.lax.scan(sequence_step, zero, dense(p, f"{i}", x))[1]
    return dense(p, "head", x.swapaxes(0, 1)).reshape(-1, sizes["classes"])


def norm(p, name, x):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p[f"{name}.scale"] + p[f"{name}.offset"]


def gpt(sizes, p, x):
    n, t = x.shape
    heads, width = sizes["heads"], sizes["width"]
    seen = jnp.tril(jnp.ones((t, t), bool))
    x = p["symbols"][x] + p["places"]
    for i in range(sizes["blocks"]):
        q, k, v = (part.reshape(n, t, heads, width // heads)
                   for part in jnp.split(dense(p, f"{i}.qkv", norm(p, f"{i}.before", x)), 3, -1))
        scores = jnp.einsum("nqhd,nkhd->nhqk", q, k) * (width // heads) ** -0.5
        shares = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf))
        x = x + dense(p, f"{i}.out", jnp.einsum("nhqk,nkhd->nqhd", shares, v).reshape(n, t, width))
        x = x + dense(p, f"{i}.down", jax.nn.gelu(dense(p, f"{i}.up", norm(p, f"{i}.between", x)), approximate=True))
    return dense(p, "head", norm(p, "last", x)).reshape(n * t, -1)


NETS = {"lstm": lstm, "gru": gru, "gpt": gpt}

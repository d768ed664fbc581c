# SPDX-License-Identifier: BSL-1.0
"""The nets on sequences in TensorFlow: logits of named variables."""
import tensorflow as tf


def dense(p, name, x):
    kernel = p[f"{name}.kernel"]
    shape = [*x.shape[:-1], kernel.shape[1]]
    return tf.reshape(tf.nn.bias_add(tf.matmul(tf.reshape(x, [-1, kernel.shape[0]]), kernel), p[f"{name}.bias"]), shape)


def lstm(sizes, p, x):
    """The steps are written out, which TensorFlow runs faster than its loops; the input's product
    is taken for all at once."""
    x = tf.transpose(x, [1, 0, 2])
    for i in range(sizes["layers"]):
        u = p[f"{i}.recurrent"]
        h = c = tf.zeros([sizes["batch"], sizes["width"]])
        seen = []
        for given in tf.unstack(dense(p, f"{i}", x)):
            a, f, g, o = tf.split(given + tf.matmul(h, u), 4, 1)
            c = tf.sigmoid(f) * c + tf.sigmoid(a) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
            seen.append(h)
        x = tf.stack(seen)
    return dense(p, "head", h)


def gru(sizes, p, x):
    x = tf.transpose(x, [1, 0, 2])
    for i in range(sizes["layers"]):
        u, b = p[f"{i}.recurrent"], p[f"{i}.recurrent_bias"]
        h = tf.zeros([sizes["batch"], sizes["width"]])
        seen = []
        for given in tf.unstack(dense(p, f"{i}", x)):
            (r, z, n), (ur, uz, un) = tf.split(given, 3, 1), tf.split(tf.matmul(h, u), 3, 1)
            z = tf.sigmoid(z + uz)
            h = z * h + (1 - z) * tf.tanh(n + tf.sigmoid(r + ur) * (un + b))
            seen.append(h)
        x = tf.stack(seen)
    return tf.reshape(dense(p, "head", tf.transpose(x, [1, 0, 2])), [-1, sizes["classes"]])


def norm(p, name, x):
    x = x - tf.reduce_mean(x, -1, keepdims=True)
    return x * tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1e-5) * p[f"{name}.scale"] + p[f"{name}.offset"]


def gpt(sizes, p, x):
    n, t, heads, width = sizes["batch"], sizes["steps"], sizes["heads"], sizes["width"]
    unseen = tf.constant(-1e9) * (1 - tf.linalg.band_part(tf.ones([t, t]), -1, 0))
    x = tf.gather(p["symbols"], x) + p["places"]
    for i in range(sizes["blocks"]):
        q, k, v = (tf.transpose(tf.reshape(part, [n, t, heads, width // heads]), [0, 2, 1, 3])
                   for part in tf.split(dense(p, f"{i}.qkv", norm(p, f"{i}.before", x)), 3, -1))
        shares = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * (width // heads) ** -0.5 + unseen)
        x = x + dense(p, f"{i}.out", tf.reshape(tf.transpose(tf.matmul(shares, v), [0, 2, 1, 3]), [n, t, width]))
        x = x + dense(p, f"{i}.down", tf.nn.gelu(dense(p, f"{i}.up", norm(p, f"{i}.between", x)), approximate=True))
    return tf.reshape(dense(p, "head", norm(p, "last", x)), [n * t, -1])


NETS = {"lstm": lstm, "gru": gru, "gpt": gpt}

#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Trains from_keras.cpp's net in Keras on the images that `from_keras --give` wrote, and saves its weights as .npz.

usage: from_keras.py IMAGES.npz WEIGHTS.npz
needs: pip install keras and a backend (tensorflow, torch or jax)
"""
import sys

import keras
import numpy as np


def main(images, weights):
    keras.utils.set_random_seed(1)
    data = np.load(images)
    net = keras.Sequential([
        keras.Input((28, 28, 1)),
        keras.layers.Conv2D(8, 3, padding="same", activation="relu", name="conv2d"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(16, 3, padding="same", activation="relu", name="conv2d_1"),
        keras.layers.MaxPooling2D(2),
        keras.layers.Flatten(),
        keras.layers.Dense(10, name="dense"),
    ])
    net.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    net.fit(data["x"], data["y"], batch_size=64, epochs=3, verbose=2)
    # Half precision is enough for a beginning, and half the size.
    np.savez_compressed(weights, **{v.path: v.numpy().astype(np.float16) for v in net.variables})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])

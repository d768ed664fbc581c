# SPDX-License-Identifier: BSL-1.0
"""The time in which a batch is filled out of a shuffled set in memory by PyTorch and TensorFlow, as
JSON lines: the sets and batches of bench/pipelines.cpp. PyTorch twice: as its tutorials do, example
by example, and by batches of indices, its fastest form. No workers: other processes would have to
send batches this small."""
import argparse
import json
import statistics
import time

import common
import numpy

# Examples, numbers of each array.
SETS = {"policy": (1 << 17, [4]), "columns": (1 << 16, [5, 9, 1]), "mlp": (60_000, [784]),
        "mlp_bytes": (60_000, [784])}   # kept as bytes, of which a batch is floats in [0, 1]


def arrays(examples, widths, of_bytes):
    draw = numpy.random.default_rng(7)
    row = ((lambda w: draw.integers(0, 256, (examples, w), numpy.uint8)) if of_bytes
           else lambda w: draw.random((examples, w), numpy.float32))
    return [row(w) for w in widths] + [draw.integers(0, 2, examples)]


class Mapped:
    """Batches of a loader, a function applied to each."""

    def __init__(self, loader, function):
        self.loader, self.function = loader, function

    def __iter__(self):
        return (self.function(*b) for b in self.loader)


def pytorch(data, batch):
    import torch
    from torch.utils.data import BatchSampler, DataLoader, RandomSampler, TensorDataset

    torch.set_num_threads(1)
    whole = TensorDataset(*map(torch.from_numpy, data))
    loaders = {"pytorch": DataLoader(whole, batch_size=batch, shuffle=True),
               "pytorch_by_indices": DataLoader(whole, sampler=BatchSampler(RandomSampler(whole), batch, False),
                                                batch_size=None)}
    for system, loader in loaders.items():
        to_floats = lambda images, labels: (images.float().div_(255), labels)
        yield system, Mapped(loader, to_floats) if data[0].dtype == numpy.uint8 else loader


def tensorflow(data, batch):
    import tensorflow as tf

    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    batches = tf.data.Dataset.from_tensor_slices(tuple(data)).shuffle(len(data[0])).batch(batch)
    if data[0].dtype == numpy.uint8:
        batches = batches.map(lambda images, labels: (tf.cast(images, tf.float32) / 255, labels))
    yield "tensorflow", batches.prefetch(tf.data.AUTOTUNE)


def microseconds(batches, seconds):
    """A batch, in a pass over some of them; the median. What comes before the first batch of a pass
    does not count."""
    found, began = [], time.perf_counter()
    while not found or time.perf_counter() - began < seconds:
        passing = iter(batches)
        next(passing)
        t0, n = time.perf_counter(), 0
        for _ in passing:
            n += 1
            if n >= 200 and time.perf_counter() - t0 > seconds / 3:
                break
        found.append(1e6 * (time.perf_counter() - t0) / n)
    return statistics.median(found)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=1)
    seconds = options.parse_args().seconds
    common.prepare(1)
    for name, (examples, widths) in SETS.items():
        of_bytes = name.endswith("_bytes")
        data, batch = arrays(examples, widths, of_bytes), common.BATCH[name.removesuffix("_bytes")]
        for loaders in (pytorch, tensorflow):
            for system, batches in loaders(data, batch):
                print(json.dumps({"set": name, "batch": batch, "system": system,
                                  "fill_us": microseconds(batches, seconds)}), flush=True)


if __name__ == "__main__":
    main()

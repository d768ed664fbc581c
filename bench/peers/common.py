# SPDX-License-Identifier: BSL-1.0
"""What every peer shares: options, the nets as data, first weights and inputs, and how a step is
timed."""
import argparse
import json
import math
import os
import statistics
import sys
import time

# Layers that follow each other. ("conv", channels, kernel, padding) is followed by relu and 2x2
# max-pooling; ("dense", units) by relu but for the last. The first four nets take images,
# mlp_fashion Fashion-MNIST's, of whose pixels half are zero; policy four numbers, columns five and
# a row of TABLE for each category.
MODELS = {
    "mlp": [("dense", 128), ("dense", 10)],
    "mlp_fashion": [("dense", 128), ("dense", 10)],
    "lenet": [("conv", 6, 5, "same"), ("conv", 16, 5, "valid"), ("dense", 120), ("dense", 84), ("dense", 10)],
    "cnn": [("conv", 32, 3, "same"), ("conv", 64, 3, "same"), ("dense", 128), ("dense", 10)],
    "policy": [("dense", 64), ("dense", 64), ("dense", 2)],
    "columns": [("dense", 64), ("dense", 1)],
}
BATCH = {"mlp": 64, "mlp_fashion": 64, "lenet": 64, "cnn": 64, "policy": 32, "columns": 256}
SMALL = ["policy", "columns"]
TABLE = {"rows": [10, 16, 25, 40, 80, 150, 300, 600, 1000], "width": 16, "numbers": 5}
FLAT = {"policy": 4, "columns": len(TABLE["rows"]) * TABLE["width"] + TABLE["numbers"]}
# Nets on sequences: two LSTMs over rows of `width`, of which the last step is classified; GPT-2's
# blocks over symbols; five GRUs whose weights are a gigabyte, of which every step is classified.
SEQUENCES = {
    "lstm": {"batch": 32, "steps": 32, "width": 256, "layers": 2, "classes": 10},
    "gpt": {"batch": 8, "steps": 64, "width": 128, "heads": 4, "blocks": 4, "classes": 65},
    "gru": {"batch": 16, "steps": 20, "width": 3000, "layers": 5, "classes": 29},
}


def resnet(blocks, bottleneck):
    stages = [(64 << i, n, 2 if i else 1) for i, n in enumerate(blocks)]
    return [("stem", 64, 7), ("max", 3, 2, 1),
            *(("residual", width, stride if i == 0 else 1, bottleneck)
              for width, n, stride in stages for i in range(n)),
            ("mean",), ("dense", 1000)]


def vgg(*plan):
    convs = [("max", 2, 2, 0) if n == "pool" else ("conv", n, 3, 1, 1) for n in plan]
    return [*convs, ("flatten", 7), ("dense", 4096), ("relu",), ("dropout", 0.5), ("dense", 4096), ("relu",),
            ("dropout", 0.5),
            ("dense", 1000)]


# Nets on photographs (zoo/ has the same). ("conv", channels, kernel, stride, padding) is followed
# by relu; ("stem", channels, kernel) is a first convolution with its normalisation, ("separable",
# channels, stride) MobileNet's block; ("flatten", side); a GoogLeNet trunk in three parts, a head
# beside all but the last.
IMAGES = {
    "resnet18": {"batch": 8, "side": 224, "trunk": resnet((2, 2, 2, 2), False)},
    "resnet50": {"batch": 8, "side": 224, "trunk": resnet((3, 4, 6, 3), True)},
    "alexnet": {"batch": 16, "side": 224, "trunk": [
        ("conv", 64, 11, 4, 2), ("max", 3, 2, 0), ("conv", 192, 5, 1, 2), ("max", 3, 2, 0), ("conv", 384, 3, 1, 1),
        ("conv", 256, 3, 1, 1), ("conv", 256, 3, 1, 1), ("max", 3, 2, 0), ("flatten", 6), ("dropout", 0.5),
        ("dense", 4096), ("relu",),
        ("dropout", 0.5), ("dense", 4096), ("relu",), ("dense", 1000)]},
    "vgg_a": {"batch": 8, "side": 224,
              "trunk": vgg(64, "pool", 128, "pool", 256, 256, "pool", 512, 512, "pool", 512, 512, "pool")},
    "googlenet": {"batch": 16, "side": 224, "trunk": [
        [("conv", 64, 7, 2, 3), ("max", 3, 2, 1), ("lrn",), ("conv", 64, 1, 1, 0), ("conv", 192, 3, 1, 1), ("lrn",),
         ("max", 3, 2, 1),
         ("inception", 64, 96, 128, 16, 32, 32), ("inception", 128, 128, 192, 32, 96, 64), ("max", 3, 2, 1),
         ("inception", 192, 96, 208, 16, 48, 64)],
        [("inception", 160, 112, 224, 24, 64, 64), ("inception", 128, 128, 256, 24, 64, 64),
         ("inception", 112, 144, 288, 32, 64, 64)],
        [("inception", 256, 160, 320, 32, 128, 128), ("max", 3, 2, 1), ("inception", 256, 160, 320, 32, 128, 128),
         ("inception", 384, 192, 384, 48, 128, 128), ("mean",), ("dropout", 0.4), ("dense", 1000)]],
        "heads": [("avg", 5, 3), ("conv", 128, 1, 1, 0), ("flatten", 4), ("dense", 1024), ("relu",), ("dropout", 0.7),
                  ("dense", 1000)]},
    "overfeat": {"batch": 16, "side": 231, "trunk": [
        ("conv", 96, 11, 4, 0), ("max", 2, 2, 0), ("conv", 256, 5, 1, 0), ("max", 2, 2, 0), ("conv", 512, 3, 1, 1),
        ("conv", 1024, 3, 1, 1),
        ("conv", 1024, 3, 1, 1), ("max", 2, 2, 0), ("flatten", 6), ("dropout", 0.5), ("dense", 3072), ("relu",),
        ("dropout", 0.5),
        ("dense", 4096), ("relu",), ("dense", 1000)]},
    "mobilenet": {"batch": 16, "side": 224, "trunk": [
        ("stem", 32, 3), *[("separable", *block) for block in (
            (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))],
        ("mean",), ("dense", 1000)]},
}
IMAGE_RATE = 1e-3   # of SGD, small enough that every net's loss falls
LEARNING_RATE = {"sgd": 0.01, "adam": 1e-3}
BETAS, EPSILON = (0.9, 0.999), 1e-7


def layers(model):
    """Each layer with its extents: ("conv", kernel, in, out, padding, input side) or ("dense", in,
    out)."""
    side, channels, flat = 28, 1, FLAT.get(model)
    for kind, *args in MODELS[model]:
        if kind == "conv":
            out, kernel, padding = args
            yield "conv", kernel, channels, out, padding, side
            side = (side if padding == "same" else side - kernel + 1) // 2
            channels = out
        else:
            flat = flat or side * side * channels
            yield "dense", flat, args[0]
            flat = args[0]


def sequence_flops(model):
    """As step_flops; attention counts in whole, though half of it is masked."""
    z = SEQUENCES[model]
    rows, w = z["batch"] * z["steps"], z["width"]
    if model == "gru":
        first = 2 * rows * w * 3 * w
        return 3 * (2 * z["layers"] * first + 2 * rows * w * z["classes"]) - first
    if model == "lstm":
        first = 2 * rows * w * 4 * w
        return 3 * (2 * z["layers"] * first + 2 * z["batch"] * w * z["classes"]) - first
    linear, attention = 2 * rows * 12 * w * w, 4 * rows * z["steps"] * w
    return 3 * (z["blocks"] * (linear + attention) + 2 * rows * w * z["classes"])


def image_products(entries, side, channels):
    """Dense multiply-adds of each convolution and dense layer for one image, then the side and
    channels that come out."""
    found = []

    def conv(out, k, stride, padding, c, s):
        s = (s + 2 * padding - k) // stride + 1
        found.append(s * s * k * k * c * out)
        return s

    for kind, *of in entries:
        if kind in ("conv", "stem"):
            out, k, stride, padding = of if kind == "conv" else (*of, 2, of[1] // 2)
            side, channels = conv(out, k, stride, padding, channels, side), out
        elif kind == "separable":
            out, stride = of
            side = conv(1, 3, stride, 1, channels, side)   # each of the channels by itself
            channels, side = out, conv(out, 1, 1, 0, channels, side)
        elif kind == "max":
            side = (side + 2 * of[2] - of[0]) // of[1] + 1
        elif kind == "avg":
            side = (side - of[0]) // of[1] + 1
        elif kind == "mean":
            side = 1
        elif kind == "flatten":
            channels *= of[0] ** 2
        elif kind == "dense":
            found.append(channels * of[0])
            channels = of[0]
        elif kind == "residual":
            width, stride, bottleneck = of
            result = width * (4 if bottleneck else 1)
            if stride > 1 or channels != result:
                conv(result, 1, stride, 0, channels, side)
            if bottleneck:
                conv(width, 1, 1, 0, channels, side)
                side = conv(width, 3, stride, 1, width, side)
                conv(result, 1, 1, 0, width, side)
            else:
                side = conv(width, 3, stride, 1, channels, side)
                conv(width, 3, 1, 1, width, side)
            channels = result
        elif kind == "inception":
            one, reduce3, three, reduce5, five, pooled = of
            for k, c, out in ((1, channels, one), (1, channels, reduce3), (3, reduce3, three), (1, channels, reduce5),
                              (5, reduce5, five),
                              (1, channels, pooled)):
                conv(out, k, 1, k // 2, c, side)
            channels = one + three + five + pooled
    return found, side, channels


def image_flops(model):
    """As step_flops."""
    z = IMAGES[model]
    parts = z["trunk"] if "heads" in z else [z["trunk"]]
    products, side, channels = [], z["side"], 3
    for i, part in enumerate(parts):
        found, side, channels = image_products(part, side, channels)
        products += found
        if i + 1 < len(parts):
            products += image_products(z["heads"], side, channels)[0]
    return 2 * z["batch"] * (3 * sum(products) - products[0])


def prediction_flops(model):
    """Of one example's way forward."""
    return sum(parts[0] for parts in layer_flops(model, 1))


def step_flops(model):
    """Dense multiply-adds of a training step times two: forward and both gradients, none for the
    input's own."""
    if model in SEQUENCES:
        return sequence_flops(model)
    if model in IMAGES:
        return image_flops(model)
    parts = list(layer_flops(model, BATCH[model]))
    return sum(forward * (3 if trained else 2) for forward, trained in parts)


def layer_flops(model, batch):
    """Each layer's way forward, and whether something before it learns."""
    for i, layer in enumerate(layers(model)):
        if layer[0] == "conv":
            _, kernel, c, out, padding, side = layer
            place = side if padding == "same" else side - kernel + 1
            forward = 2 * batch * place * place * kernel * kernel * c * out
        else:
            forward = 2 * batch * layer[1] * layer[2]
        yield forward, i > 0 or model == "columns"


def sequence_weights(model):
    """Name -> array, float32; matrices [in][out], gates in the order i, f, g, o, a GRU's r, z, n."""
    import numpy as np
    random = np.random.default_rng(1)
    z = SEQUENCES[model]
    w, found = z["width"], {}

    def matrix(name, rows, columns):
        limit = math.sqrt(6 / (rows + columns))
        found[name] = random.uniform(-limit, limit, (rows, columns)).astype(np.float32)

    def vector(name, size, value=0):
        found[name] = np.full(size, value, np.float32)

    def dense(name, rows, columns):
        matrix(f"{name}.kernel", rows, columns)
        vector(f"{name}.bias", columns)

    if model == "lstm":
        for i in range(z["layers"]):
            dense(f"{i}", w, 4 * w)
            matrix(f"{i}.recurrent", w, 4 * w)
    elif model == "gru":
        for i in range(z["layers"]):
            dense(f"{i}", w, 3 * w)
            matrix(f"{i}.recurrent", w, 3 * w)
            vector(f"{i}.recurrent_bias", w)
    else:
        matrix("symbols", z["classes"], w)
        matrix("places", z["steps"], w)
        for i in range(z["blocks"]):
            for name, rows, columns in (("qkv", w, 3 * w), ("out", w, w), ("up", w, 4 * w), ("down", 4 * w, w)):
                dense(f"{i}.{name}", rows, columns)
            for name in ("before", "between"):
                vector(f"{i}.{name}.scale", w, 1)
                vector(f"{i}.{name}.offset", w)
        vector("last.scale", w, 1)
        vector("last.offset", w)
    dense("head", w, z["classes"])
    return found


def sequence_batch(model):
    """lstm, gru: [batch][steps][width] in [0, 1) and a class each, gru's at each step; gpt: symbols
    and the symbols to predict, [batch][steps]."""
    import numpy as np
    random = np.random.default_rng(2)
    z = SEQUENCES[model]
    n, t = z["batch"], z["steps"]
    if model == "lstm":
        return random.random((n, t, z["width"]), np.float32), random.integers(0, z["classes"], n).astype(np.int32)
    if model == "gru":
        return random.random((n, t, z["width"]), np.float32), random.integers(0, z["classes"], (n, t)).astype(np.int32)
    return tuple(random.integers(0, z["classes"], (n, t)).astype(np.int32) for _ in range(2))


def weights(model):
    """Glorot-uniform kernels (HWIO, [in][out]) and zero biases, float32."""
    import numpy as np
    random = np.random.default_rng(1)
    for layer in layers(model):
        shape = (layer[1], layer[1], layer[2], layer[3]) if layer[0] == "conv" else layer[1:]
        taps = math.prod(shape[:-2])
        limit = math.sqrt(6 / (taps * (shape[-2] + shape[-1])))
        yield random.uniform(-limit, limit, shape).astype(np.float32), np.zeros(shape[-1], np.float32)


def fashion(part, n, skip):
    """n bytes behind the head of a file of Fashion-MNIST's training set, in the folder
    fashion-mnist below $SINTER_DATA."""
    import gzip
    import numpy as np
    with gzip.open(os.path.join(os.environ["SINTER_DATA"], "fashion-mnist", f"train-{part}-ubyte.gz")) as file:
        return np.frombuffer(file.read(skip + n), np.uint8, offset=skip)


def batch(model):
    """Images [64][28][28][1] or numbers [32][4], in [0, 1), and labels; the same batch for every
    step, so no peer waits for data."""
    import numpy as np
    random = np.random.default_rng(2)
    n = BATCH[model]
    if model == "mlp_fashion":
        images, labels = fashion("images-idx3", n * 784, 16), fashion("labels-idx1", n, 8)
        return (images.reshape(n, 28, 28, 1) / 255).astype(np.float32), labels.astype(np.int32)
    shape = (n, FLAT[model]) if model in FLAT else (n, 28, 28, 1)
    return random.random(shape, np.float32), random.integers(0, MODELS[model][-1][1], n).astype(np.int32)


def image_batch(model):
    """Pictures [batch][3][side][side] in [0, 1) and their classes."""
    import numpy as np
    random = np.random.default_rng(2)
    z = IMAGES[model]
    return (random.random((z["batch"], 3, z["side"], z["side"]), np.float32),
            random.integers(0, 1000, z["batch"]).astype(np.int32))


def table():
    """What columns learns of each category, [rows][width]; the columns' tables lie one behind the
    other."""
    import numpy as np
    return np.random.default_rng(3).uniform(-0.05, 0.05, (sum(TABLE["rows"]), TABLE["width"])).astype(np.float32)


def column_batch():
    """Rows of the table [256][9], numbers [256][5], and 0 or 1 for each example [256]."""
    import numpy as np
    random = np.random.default_rng(2)
    n, ends = BATCH["columns"], np.cumsum(TABLE["rows"])
    rows = np.stack([random.integers(end - size, end, n) for size, end in zip(TABLE["rows"], ends)], 1).astype(np.int32)
    return rows, random.random((n, TABLE["numbers"]), np.float32), random.integers(0, 2, n).astype(np.float32)


# Whose steps take seconds.
LONG = [*IMAGES, "gru"]


def options(modes, predicts=False):
    parser = argparse.ArgumentParser()
    if predicts:
        parser.add_argument("--onnx", help="the net as a file")
    else:
        parser.add_argument("--optimizer", choices=LEARNING_RATE, required=True)
    parser.add_argument("--model", choices=[*MODELS, *SEQUENCES, *IMAGES], required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--mode", choices=modes, default=modes[0])
    parser.add_argument("--samples", type=int, default=30, help="timed samples (default 30)")
    args = parser.parse_args()
    prepare(args.threads)
    return args


def prepare(threads):
    """Sets what the frameworks read before main: thread counts, and a malloc that keeps large
    blocks (a step would otherwise map and unmap its activations each time). Starts again where it
    was not set."""
    wanted = {
        "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "PJRT_NPROC": threads, "TF_CPP_MIN_LOG_LEVEL": 3,
        "MALLOC_MMAP_THRESHOLD_": 1 << 30, "MALLOC_TRIM_THRESHOLD_": 1 << 31, "MALLOC_TOP_PAD_": 1 << 26,
        "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "",
    }
    if threads == 1:
        wanted["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    wanted = {name: str(value) for name, value in wanted.items()}
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **wanted})


def report(system, version, args, step, finish):
    """Times step() and prints one JSON line. finish(result) waits for all of a step's work and
    gives its loss.

    A sample is as many steps as take 20 ms, ended by finish; warm-up lasts until the step is
    compiled and a second of training has passed; where steps are long there are fewer of both.
    cpu_ms is processor time, all threads together: near median_ms times the threads kept busy."""
    first = finish(step())
    began, warm = time.perf_counter(), 0
    while warm < 2 or time.perf_counter() - began < (4 if warm < 10 else 1):
        finish(step())
        warm += 1
    took = (time.perf_counter() - began) / warm
    steps = max(1, math.ceil(0.02 / took))
    samples, processor = [], time.process_time()
    for _ in range(max(3, min(max(30, args.samples), int(10 / (steps * took))))):
        start = time.perf_counter()
        for _ in range(steps):
            result = step()
        loss = finish(result)
        samples.append((time.perf_counter() - start) / steps * 1e3)
    processor = (time.process_time() - processor) / (len(samples) * steps) * 1e3
    few = args.model in LONG   # steps, and dropout's chance in them
    if not (math.isfinite(loss) and (few or loss < first)):
        sys.exit(f"{system}: loss went from {first} to {loss}: this is not training")
    print(json.dumps({
        "system": system, "model": args.model, "optimizer": args.optimizer, "threads": args.threads,
        "median_ms": round(statistics.median(samples), 5), "best_ms": round(min(samples), 5),
        "cpu_ms": round(processor, 5), "version": version}), flush=True)


def report_prediction(system, version, args, predict, result):
    """Times predict(), which is done when it returns, and prints one JSON line: the median of
    samples of at least 2 ms each, after half a second's warm-up. result() gives the last one's
    numbers."""
    import numpy as np
    began, calls = time.perf_counter(), 0
    while calls < 10 or time.perf_counter() - began < 0.5:
        predict()
        calls += 1
    per_sample = max(1, math.ceil(0.002 * calls / (time.perf_counter() - began)))
    samples, repeats = [], range(per_sample)
    for _ in range(10 * max(30, args.samples)):
        start = time.perf_counter()
        for _ in repeats:
            predict()
        samples.append((time.perf_counter() - start) / per_sample * 1e3)
    if not (np.isfinite(result()).all() and result().any()):
        sys.exit(f"{system}: the prediction is {result()}")
    print(json.dumps({
        "system": system, "model": args.model, "optimizer": "predict", "threads": args.threads,
        "median_ms": round(statistics.median(samples), 7), "best_ms": round(min(samples), 7),
        "version": version}), flush=True)

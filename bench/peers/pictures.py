# SPDX-License-Identifier: BSL-1.0
"""JPEG files decoded, and decoded and resized to 224 x 224, by Pillow, torchvision and tf.data on one thread, as JSON
lines: what bench/pictures.cpp does. Bilinear with antialiasing everywhere. Without a folder it makes files of its own,
of 500 x 375, with the statistics of photographs (noise of 1 / f); --write keeps them for bench/pictures.cpp."""
import argparse
import io
import json
import pathlib
import statistics
import tempfile
import time

import common
import numpy


def make(folder, count=100, height=375, width=500):
    from PIL import Image

    draw = numpy.random.default_rng(3)
    frequency = numpy.hypot(numpy.fft.fftfreq(height)[:, None], numpy.fft.fftfreq(width)[None])
    frequency[0, 0] = 1
    for i in range(count):
        noise = [numpy.fft.ifft2(numpy.fft.fft2(draw.normal(size=(height, width))) / frequency ** 1.1).real
                 for _ in range(3)]
        noise = [(n - n.mean()) / n.std() for n in noise]
        picture = numpy.stack([noise[0] + 0.3 * n for n in noise], -1) * 45 + 120
        Image.fromarray(picture.clip(0, 255).astype(numpy.uint8)).save(folder / f"{i:03}.jpg", quality=90)


def pillow(files):
    from PIL import Image

    def decode(file):
        return numpy.asarray(Image.open(io.BytesIO(file)).convert("RGB"))

    def resize(file):
        return numpy.asarray(Image.open(io.BytesIO(file)).convert("RGB").resize((224, 224), Image.BILINEAR))

    yield "pillow", files, decode, resize


def torchvision(files):
    import torch
    from torchvision.io import ImageReadMode, decode_jpeg
    from torchvision.transforms.v2 import functional

    torch.set_num_threads(1)
    tensors = [torch.frombuffer(bytearray(file), dtype=torch.uint8) for file in files]

    def decode(file):
        return decode_jpeg(file, ImageReadMode.RGB)

    def resize(file):
        return functional.resize(decode_jpeg(file, ImageReadMode.RGB), [224, 224], antialias=True)

    yield "torchvision", tensors, decode, resize


def tensorflow(files):
    import tensorflow as tf

    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)

    def decode(file):
        return tf.io.decode_jpeg(file, channels=3, dct_method="INTEGER_ACCURATE")

    def resize(file):
        return tf.image.resize(decode(file), [224, 224], antialias=True)

    def over(function):
        options = tf.data.Options()
        options.threading.private_threadpool_size = 1
        data = tf.data.Dataset.from_tensor_slices(files).map(function).with_options(options)
        return lambda _: [None for _ in data]

    yield "tf.data", [None], over(decode), over(resize)


def rate(items, count, function, seconds):
    """Pictures in a second of the processor: the median over passes."""
    found, began = [], time.process_time()
    while len(found) < 3 or time.process_time() - began < seconds:
        t0 = time.process_time()
        for item in items:
            function(item)
        found.append(count / (time.process_time() - t0))
    return statistics.median(found)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folder", type=pathlib.Path, help="of .jpg files")
    options.add_argument("--write", type=pathlib.Path, help="make the files there, and do nothing else")
    options.add_argument("--seconds", type=float, default=2)
    args = options.parse_args()
    common.prepare(1)
    if args.write:
        args.write.mkdir(parents=True, exist_ok=True)
        return make(args.write)
    with tempfile.TemporaryDirectory() as made:
        folder = args.folder or pathlib.Path(made)
        if not args.folder:
            make(folder)
        files = [path.read_bytes() for path in sorted(folder.glob("*.jpg"))]
    for peer in (pillow, torchvision, tensorflow):
        try:
            for system, items, decode, resize in peer(files):
                for what, function in (("decode", decode), ("decode_resize", resize)):
                    print(json.dumps({"pictures": what, "system": system, "threads": 1,
                                      "images_per_second": round(rate(items, len(files), function, args.seconds), 1)}),
                          flush=True)
        except ImportError as missing:
            print(json.dumps({"system": peer.__name__, "missing": str(missing)}), flush=True)


if __name__ == "__main__":
    main()

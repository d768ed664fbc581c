# SPDX-License-Identifier: BSL-1.0
"""file_rows.py --program bench/file_rows [--rounds 7] [--folder F]: rows of files read by Sinter's pipelines and by
tf.data, parse_example on batches, pandas and pyarrow, in turns, as JSON lines: medians of seconds of the processor, and
how many times as long as Sinter's the others take. One thread each (where a library starts more, their seconds count).

It writes the files first: 200 records of 1 MB in all forms: TFRecords of 100 KB, TFRecords of Examples with 32 floats,
16 whole numbers and a label, CSV with the columns of the Adult set, CSV of 16 floats a line. A library that is not
installed is left out."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["OMP_NUM_THREADS"] = "1"
import numpy


def write_csv(folder, draw, lines):
    words = {"workclass": ["Private", "Self-emp-not-inc", "Local-gov", "State-gov"],
             "education": ["Bachelors", "HS-grad", "Some-college", "Masters", "11th"],
             "marital_status": ["Married-civ-spouse", "Never-married", "Divorced", "Widowed"],
             "occupation": ["Tech-support", "Craft-repair", "Sales", "Exec-managerial", "Adm-clerical"],
             "relationship": ["Husband", "Not-in-family", "Own-child"], "race": ["White", "Black", "Other"],
             "sex": ["Male", "Female"], "native_country": ["United-States", "Mexico", "Philippines"],
             "income": ["<=50K", ">50K"]}
    numbers = {"age": (17, 91), "fnlwgt": (12285, 1484706), "education_num": (1, 17), "capital_gain": (0, 100000),
               "capital_loss": (0, 4357), "hours_per_week": (1, 100)}
    columns = ["age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
               "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country",
               "income"]
    drawn = [draw.choice(words[c], lines) if c in words else draw.integers(*numbers[c], lines) for c in columns]
    with open(folder / "texts.csv", "w") as file:
        file.write(",".join(columns) + "\n")
        for row in zip(*drawn):
            file.write(",".join(map(str, row)) + "\n")
    table = draw.normal(size=(lines, 16)) * 10
    with open(folder / "numbers.csv", "w") as file:
        file.write(",".join(f"x{i}" for i in range(16)) + "\n")
        for row in table:
            file.write(",".join(f"{v:.6g}" for v in row) + "\n")


def write_records(folder, draw, examples):
    import tensorflow as tf

    with tf.io.TFRecordWriter(str(folder / "records.tfrecord")) as writer:
        for _ in range(2000):
            writer.write(draw.bytes(100_000))
    with tf.io.TFRecordWriter(str(folder / "examples.tfrecord")) as writer:
        for _ in range(examples):
            writer.write(tf.train.Example(features=tf.train.Features(feature={
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=draw.normal(size=32))),
                "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=draw.integers(0, 1 << 20, 16))),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[draw.integers(0, 10)])),
            })).SerializeToString())


def tensorflow(folder):
    import tensorflow as tf

    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.autotune.enabled = False

    def records():
        for _ in tf.data.TFRecordDataset(str(folder / "records.tfrecord")).with_options(options):
            pass

    spec = {"x": tf.io.FixedLenFeature([32], tf.float32), "ids": tf.io.FixedLenFeature([16], tf.int64),
            "label": tf.io.FixedLenFeature([], tf.int64)}

    def examples():
        data = tf.data.TFRecordDataset(str(folder / "examples.tfrecord")).batch(256)
        for _ in data.map(lambda batch: tf.io.parse_example(batch, spec)).with_options(options):
            pass

    return {"records": ("tf.data", records), "examples": ("parse_example on batches", examples)}


def pandas(folder):
    import pandas

    return {"csv of texts and whole numbers": ("pandas", lambda: pandas.read_csv(folder / "texts.csv")),
            "csv of floats": ("pandas", lambda: pandas.read_csv(folder / "numbers.csv", dtype="float32"))}


def pyarrow(folder):
    import pyarrow
    from pyarrow import csv

    one = csv.ReadOptions(use_threads=False)
    floats = csv.ConvertOptions(column_types={f"x{i}": pyarrow.float32() for i in range(16)})
    return {"csv of texts and whole numbers": ("pyarrow", lambda: csv.read_csv(folder / "texts.csv", one)),
            "csv of floats": ("pyarrow", lambda: csv.read_csv(folder / "numbers.csv", one, convert_options=floats))}


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--program", required=True)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--folder", type=pathlib.Path)
    o = options.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = o.folder or pathlib.Path(made)
        draw = numpy.random.default_rng(1)
        write_csv(folder, draw, 300_000)
        peers = []
        for peer in (tensorflow, pandas, pyarrow):
            try:
                peers.append(peer(folder))
            except ImportError as missing:
                print(f"left out: {missing}", file=sys.stderr)
        try:
            write_records(folder, draw, 100_000)
        except ImportError:
            sys.exit("TensorFlow writes the files of records: it is not there")
        seconds = {}
        for round in range(o.rounds + 1):   # the first one warms caches, and counts nothing
            said = subprocess.run([o.program, "--folder", str(folder)], check=True, capture_output=True, text=True)
            found = [(line["what"], "sinter", line["seconds"]) for line in map(json.loads, said.stdout.splitlines())]
            for peer in peers:
                for what, (name, read) in peer.items():
                    began = time.process_time()
                    read()
                    found.append((what, name, time.process_time() - began))
            if round:
                for what, name, s in found:
                    seconds.setdefault(what, {}).setdefault(name, []).append(s)
    for what, all in seconds.items():
        medians = {name: statistics.median(s) for name, s in all.items()}
        for name, s in medians.items():
            line = {"what": what, "system": name, "seconds": round_to(s), "of_sinter": round_to(s / medians["sinter"])}
            if what == "records" and name == "sinter":
                line["of_read"] = round_to(statistics.median(seconds["read"]["sinter"]) / s)
            print(json.dumps(line))


def round_to(x):
    return float(f"{x:.4g}")


if __name__ == "__main__":
    main()

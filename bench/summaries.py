# SPDX-License-Identifier: BSL-1.0
"""The short tables of doc/benchmarks.md and README.md, made of the same lines as the full ones of
tables.py.

Each function takes the folders of results, measured last first, and the module tables.
"""
import math
import textwrap

import machine

STEPS = {"mlp": "784-128-10 perceptron, batch 64", "lenet": "LeNet, batch 64",
         "cnn": "two convolutions, two dense layers, batch 64",
         "gpt": "GPT of four blocks, width 128", "resnet50": "ResNet-50, 8 photographs"}
SYSTEMS = {"pytorch": "PyTorch", "pytorch-compile": "compiled", "jax": "JAX", "tensorflow": "TensorFlow",
           "tensorflow-xla": "XLA",
           "onnxruntime": "onnxruntime", "pytorch-jit": "PyTorch, jit"}


def short(x):
    """Three digits that count, without an exponent: 0.0812, 3.01, 648."""
    return f"{x:.{max(0, 2 - math.floor(math.log10(x)))}f}"


def filled(text, indent=""):
    """As lines of at most 120 columns."""
    return textwrap.fill(text, 120, subsequent_indent=indent, break_on_hyphens=False)


def sentence(folder, where, hidden=("left_out", "round_trip_ns", "core")):
    """The machine of a folder's lines, by the folder's name."""
    shown = {k: v for k, v in where["machine"].items() if k not in hidden}
    return f"**{folder.name}**: " + machine.sentence({**where, "machine": shown})


def times(rows):
    """{(model, optimizer): {(system, threads): median ms}}; PyTorch's is that of its faster memory
    format."""
    found = {}
    for r in rows:
        if "median_ms" in r:
            system = r["system"].removesuffix("-contiguous")
            of = found.setdefault((r["model"], r["optimizer"]), {})
            of[system, r["threads"]] = min(r["median_ms"], of.get((system, r["threads"]), r["median_ms"]))
    return found


def versions(rows):
    found = {(r["system"].split("-")[0], r["version"]) for r in rows if r.get("version")}
    return ", ".join(f"{name} {version}" for name, version in sorted(found))


def of_each(folders, file, table):
    """A table for each machine that has `file`, under a line that says which, when and beside what."""
    parts = []
    for folder in folders:
        path = folder / file
        if path.exists():
            parts.append(table(folder, path))
    return "\n\n".join(parts)


def timed(folders, tables, file, unit, scale, first, with_two):
    def table(folder, path):
        where, rows = tables.read(path)
        found = times(rows)
        peers = [s for s in SYSTEMS if any((s, 1) in of for of in found.values())]
        cells = []
        for (model, optimizer), of in found.items():
            ours = of.get(("sinter", 1))
            if ours is None:
                continue
            best = min((of[p, 1] for p in peers if (p, 1) in of), default=None)
            two = of.get(("sinter", 2))
            cells.append([f"{model}, {optimizer}" if with_two else model, short(scale * ours),
                          *(short(scale * of[p, 1]) if (p, 1) in of else "" for p in peers),
                          f"{best / ours:.2f}" if best else "",
                          *([short(scale * two) if two else ""] if with_two else [])])
        head = [first, f"Sinter, {unit}", *(SYSTEMS[p] for p in peers), "fastest peer / Sinter",
                *(["Sinter, 2 threads"] if with_two else [])]
        return filled(f"{sentence(folder, where)}. {versions(rows)}.") + "\n\n" + tables.markdown(head, cells)
    return of_each(folders, file, table)


def steps(folders, tables):
    return timed(folders, tables, "step.jsonl", "ms", 1, "step", True)


def predictions(folders, tables):
    return timed(folders, tables, "predict.jsonl", "us", 1000, "net", False)


def operations(folders, tables):
    def table(folder, path):
        said, rest = tables.operations_table(path).split("\n", 1)
        return filled(said) + "\n" + rest
    return of_each(folders, "operations.jsonl", table)


def build(folders, tables):
    """A row for each case and compiler, two columns for each machine."""
    found = [(folder, *tables.read(folder / "build.jsonl")) for folder in folders if (folder / "build.jsonl").exists()]
    at = {(r["case"], r["compiler"], folder.name): r for folder, _, rows in found for r in rows}
    cells = [[case, compiler, *(text for folder, _, _ in found for r in [at.get((case, compiler, folder.name), {})]
                                for text in ((f"{r['seconds']:.1f}", f"{r['megabytes']:.0f}")
                                             if "seconds" in r else ("", "")))]
             for case, compiler in dict.fromkeys(key[:2] for key in at)]
    compilers = lambda where: "; ".join(where["machine"].get("compilers", {}).values())
    where = "\n".join(filled(f"- {sentence(folder, where)}; {compilers(where)}", "  ") for folder, where, _ in found)
    head = ["case", "compiler", *(text for folder, _, _ in found for text in (f"{folder.name}, CPU s", "MB"))]
    return where + "\n\n" + tables.markdown(head, cells)


def memory(folders, tables):
    """Each net's memory and launches, fused and not."""
    def table(folder, path):
        where, rows = tables.read(path)
        mb = lambda r, name: f"{r[name] / 1e6:.2f}"
        pairs = [(r, o) for r in rows if r["fused"] for o in rows if o["model"] == r["model"] and not o["fused"]]
        cells = [[r["model"], mb(r, "peak_bytes"), mb(r, "activation_bytes"), r["launches"], mb(o, "peak_bytes"),
                  mb(o, "activation_bytes"), o["launches"]]
                 for r, o in pairs]
        head = ["net", "MB in all", "activations, MB", "launches", "unfused: MB in all", "activations, MB", "launches"]
        return filled(f"{sentence(folder, where)}.") + "\n\n" + tables.markdown(head, cells)
    return of_each(folders, "fusion.jsonl", table)


def speed(folders, tables):
    """README's five rows: steps of the machine that was measured last."""
    where, rows = tables.read(folders[0] / "step.jsonl")
    found, cells = times(rows), []
    for model, text in STEPS.items():
        of = found.get((model, "sgd"), {})
        peers = {system: ms for (system, threads), ms in of.items() if threads == 1 and system != "sinter"}
        if ("sinter", 1) not in of or not peers:
            continue
        name = min(peers, key=peers.get)
        shown = {"pytorch-compile": "PyTorch, compiled", "tensorflow-xla": "TensorFlow, XLA"}.get(name, SYSTEMS[name])
        ours = of["sinter", 1]
        cells.append([text, short(ours), f"{short(peers[name])} ({shown})", f"{peers[name] / ours:.1f}"])
    m = where["machine"]
    return (tables.markdown(["one training step", "Sinter, ms", "fastest peer, ms", "times as fast"], cells)
            + f"\n\nOne thread, SGD, float32; {m['cpu']} ({m['core']}), {m['date']}; {versions(rows)}.")


SUMMARIES = {"steps": ("doc/benchmarks.md", steps), "predictions": ("doc/benchmarks.md", predictions),
             "operations": ("doc/benchmarks.md", operations), "build": ("doc/benchmarks.md", build),
             "memory": ("doc/benchmarks.md", memory), "speed": ("README.md", speed)}

# SPDX-License-Identifier: BSL-1.0
"""The short tables of bench/README.md and README.md, made of the same lines as the full ones of
tables.py.

Each function takes the folders of results, measured last first, and the module tables. "": no
folder has lines for it.
"""
import math
import statistics
import textwrap

import aims
import machine

STEPS = {"mlp": "784-128-10 perceptron, batch 64", "lenet": "LeNet, batch 64",
         "cnn": "two convolutions, two dense layers, batch 64",
         "gpt": "GPT of four blocks, width 128", "resnet50": "ResNet-50, 8 photographs"}
SYSTEMS = {"pytorch": "PyTorch", "pytorch-compile": "compiled", "libtorch": "libtorch", "jax": "JAX",
           "tensorflow": "TensorFlow", "tensorflow-xla": "XLA",
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


def of_last(folders, file, table):
    """The table of the machine whose `file` was measured last, under a line that says which, when and beside what. The
    other machines' are in bench/notes/tables-CORE.md."""
    last = next((folder for folder in folders if (folder / file).exists()), None)
    return table(last, last / file) if last else ""


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
    return of_last(folders, file, table)


def steps(folders, tables):
    return timed(folders, tables, "step.jsonl", "ms", 1, "step", True)


def predictions(folders, tables):
    return timed(folders, tables, "predict.jsonl", "us", 1000, "net", False)


def operations(folders, tables):
    def table(folder, path):
        said, rest = tables.operations_table(path).split("\n", 1)
        return filled(said) + "\n" + rest
    return of_last(folders, "operations.jsonl", table)


def build(folders, tables):
    """A row for each case and compiler, two columns for each machine."""
    found = [(folder, *tables.read(folder / "build.jsonl")) for folder in folders if (folder / "build.jsonl").exists()]
    if not found:
        return ""
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
    return of_last(folders, "fusion.jsonl", table)


def speed(folders, tables):
    """README's five rows: steps of the machine that was measured last."""
    last = next((f for f in folders if (f / "step.jsonl").exists()), None)
    if last is None:
        return ""
    where, rows = tables.read(last / "step.jsonl")
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


STRATEGIES = {"single": "one trainer, two threads", "mirrored": "`mirrored<2>`",
              "multi_worker:automatic": "`multi_worker<automatic>`, two processes (shared memory of one host)",
              "multi_worker:ring": "`multi_worker<ring>`, likewise (TCP)",
              "multi_worker:halving_doubling": "`multi_worker<halving_doubling>`, likewise",
              "pytorch-ddp": "PyTorch, DistributedDataParallel on gloo, likewise"}
SUMS = {"sinter ring": "`ring` (TCP)", "sinter shared_memory": "`shared_memory`, as `automatic` picks",
        "openmpi": "Open MPI (shared memory)", "openmpi tcp": "Open MPI, TCP", "gloo (PyTorch)": "gloo (PyTorch)"}
SERVERS = {"sinter": "`parameter_server<async>`", "tensorflow": "TensorFlow, ParameterServerStrategy"}
NETS = {"mlp": "MLP", "lenet": "LeNet", "cnn": "CNN", "gpt": "GPT"}


def grid(tables, head, names, columns, rows, system, column, field):
    """A row for each of `names` that `rows` have, a column for each of `columns`: medians of a
    field over the rounds. "" without rows."""
    found = {}
    for r in rows:
        found.setdefault((system(r), column(r)), []).append(r[field])
    columns = {key: name for key, name in columns.items() if any((s, key) in found for s in names)}
    cells = [[name, *(short(statistics.median(found[s, key])) if (s, key) in found else "" for key in columns)]
             for s, name in names.items() if any((s, key) in found for key in columns)]
    return tables.markdown([head, *columns.values()], cells) if cells else ""


def shares(rows):
    """In words: steps of parameter servers and of ps-lite over those of plain sockets."""
    rates = {}
    for r in rows:
        if r["what"].startswith("push and pull") and "compute_ms" not in r:
            job = tuple(r.get(k) for k in ("what", "servers", "workers", "dim", "rows", "table"))
            rates.setdefault((r["system"], job), []).append(r["steps_per_s"])
    of = {key: statistics.median(found) for key, found in rates.items()}
    said = []
    for what, words in (("push and pull rows", "rows of a table"), ("push and pull", "a vector of 4 MiB")):
        over = {}
        for (system, job), rate in of.items():
            if job[0] == what and ("raw", job) in of:
                over.setdefault(system, []).append(rate / of["raw", job])
        ranges = [f"{name}{min(over[system]):.2f} to {max(over[system]):.2f}"
                  for system, name in (("sinter", ""), ("ps-lite", "ps-lite ")) if system in over]
        if ranges:
            said.append(f"{words} {', '.join(ranges)}")
    return filled("Steps of parameter servers, times those of plain sockets without checks: "
                  f"{'; '.join(said)}.") if said else ""


def processes(folders, tables):
    """Steps under strategies, sums, what servers do, and how many aims are reached: medians over
    the rounds. All in full: tables.py's distributed and distributed_aims."""
    def table(folder, path):
        where, rows = tables.read(path)
        steps = [r for r in rows if r["what"] == "step"]
        parts = [filled(f"{sentence(folder, where)}. Adam. {versions(rows)}".rstrip(" .") + ".")]
        parts.append(grid(tables, "global batch 64, ms a step", STRATEGIES, NETS,
                          [r for r in steps if "servers" not in r and r["batch"] == 64],
                          lambda r: r.get("strategy", r["system"]), lambda r: r["model"], "median_ms"))
        parts.append(grid(tables, "two workers, one server, MLP, batch 32", SERVERS,
                          {"parameter_server:async": "asynchronous steps a second"},
                          [r for r in steps if "servers" in r], lambda r: r["system"], lambda r: r["strategy"],
                          "steps_per_s"))
        size = {4 << 10: "4 KiB", 64 << 10: "64 KiB", 1 << 20: "1 MiB", 16 << 20: "16 MiB", 64 << 20: "64 MiB"}
        parts.append(grid(tables, "all-reduce of two processes, ms", SUMS, size,
                          [r for r in rows if r["what"] == "all_reduce" and r["ranks"] == 2],
                          lambda r: r["system"], lambda r: r["bytes"], "median_ms"))
        parts.append(shares(rows))
        words = [word for _, _, word in aims.of_processes(tables.lines_for_aims(path))]
        parts.append(filled(f"Aims: {words.count('reached')} are reached, {words.count('missed')} missed, "
                            f"{words.count('not measured')} were not measured in this run, and "
                            f"{words.count('by hand')} are not measured by the script: "
                            f"[each of them, and all tables](../bench/notes/tables-{folder.name}.md)."))
        return "\n\n".join(filter(None, parts))
    return of_last(folders, "distributed.jsonl", table)


SUMMARIES = {"steps": ("bench/README.md", steps), "predictions": ("bench/README.md", predictions),
             "operations": ("bench/README.md", operations), "build": ("bench/README.md", build),
             "memory": ("bench/README.md", memory), "processes": ("bench/README.md", processes),
             "speed": ("README.md", speed)}

#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Turns the JSON lines of scripts/bench.sh's pieces into tables, and fills them into the documents.

Usage: tables.py NAME FILE   prints a table: step, aims, precision, predict, build, fusion, kernels, gemm,
                             conv, general_conv, bandwidth, distributed, distributed_aims
       tables.py fill [--top FOLDER] [--results FOLDER]

`fill` puts summaries between <!-- table NAME --> and <!-- end --> in bench/README.md and
README.md (summaries.py), and writes every table in full to bench/notes/tables-CORE.md, one page for
each folder of --results, such as zen4. What no folder has lines for is left as it is.
"""
import argparse
import json
import math
import pathlib
import re
import statistics
import sys

import aims
import machine
import summaries


def read(path):
    rows = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines() if line.strip()]
    return next(r for r in rows if "machine" in r), [r for r in rows if "machine" not in r]


def markdown(head, rows):
    width = [max(len(str(r[i])) for r in [head, *rows]) for i in range(len(head))]
    line = lambda r: "| " + " | ".join(str(c).ljust(w) if i == 0 else str(c).rjust(w)
                                       for i, (c, w) in enumerate(zip(r, width))) + " |"
    rule = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(width)) + "|"
    return "\n".join([line(head), rule, *map(line, rows)])


def digits(x):
    """Three digits behind the point, and always three that count."""
    return f"{x:.3f}" if x >= 0.1 or x <= 0 else f"{x:.{2 - math.floor(math.log10(x))}f}"


def step_table(path):
    """One table per model, optimizer and number of threads; fastest first."""
    where, rows = read(path)
    parts = [machine.sentence(where) + "."]
    for key in dict.fromkeys((r["model"], r["optimizer"], r["threads"]) for r in rows):
        group = [r for r in rows if (r["model"], r["optimizer"], r["threads"]) == key]
        done = sorted((r for r in group if "median_ms" in r), key=lambda r: r["median_ms"])
        floor, ours = group[0]["floor_ms"], next((r["median_ms"] for r in done if r["system"] == "sinter"), None)
        short = bool(done) and done[0]["median_ms"] < 0.1
        unit, of_ms = ("us", 1000) if short else ("ms", 1)
        cells = [[f"{r['system']} {r['version']}".strip(), digits(of_ms * r["median_ms"]), digits(of_ms * r["best_ms"]),
                  f"{r['median_ms'] / ours:.2f}" if ours else "", f"{floor / r['median_ms']:.2f}"] for r in done]
        cells += [[r["system"], "failed", "", "", ""] for r in group if "median_ms" not in r]
        what = f"{digits(group[0]['mflop'])} MFLOP" + " a step" * (key[1] != "predict")
        parts.append(f"**{key[0]}, {key[1]}, {key[2]} thread{'s' * (key[2] > 1)}**: {what}, "
                     f"dense floor {digits(of_ms * floor)} {unit}")
        parts.append(markdown(["system", f"median {unit}", f"best {unit}", "over Sinter", "floor / time"], cells))
    return "\n\n".join(parts)


def aims_table(path):
    """Each step of one thread beside what it shall reach."""
    where, steps = read(path)
    head = ["step", "time / floor (best)", "aim", "times the fastest peer", "aim", "that peer",
            f"2 threads over 1 ({aims.TWO_THREADS}; with lists {aims.TWO_THREADS_WITH_LISTS})"]
    return f"{machine.sentence(where)}.\n\n" + markdown(head, list(aims.rows(steps)))


def precision_table(path):
    """What step_precision.cpp printed, several lines a model: medians of their medians, and of each
    turn's ratio to the first model's."""
    where, rows = read(path)
    of = {model: [r for r in rows if r["model"] == model] for model in dict.fromkeys(r["model"] for r in rows)}
    first, *_ = of.values()
    cells = [[model, f"{statistics.median(r['median_ms'] for r in found):.1f}",
              f"{min(r['best_ms'] for r in found):.1f}",
              f"{statistics.median(a['median_ms'] / b['median_ms'] for a, b in zip(first, found)):.2f}"]
             for model, found in of.items()]
    return (f"{machine.sentence(where)}; {rows[0]['threads']} thread(s), {len(first)} turns.\n\n"
            + markdown(["model", "median ms", "best ms", "as fast as the first"], cells))


def build_table(path):
    where, rows = read(path)
    cells = []
    for r in rows:
        if "seconds" not in r:
            cells.append([r["case"], r["compiler"], "failed", "", ""])
            continue
        budget = f"{r['budget_seconds']} s" if "budget_seconds" in r else ""
        budget += f", {r['budget_mb']} MB" if "budget_mb" in r else ""
        over = r["seconds"] > r.get("budget_seconds", 1e9) or r["megabytes"] > r.get("budget_mb", 1e9)
        cells.append([r["case"], r["compiler"], f"{r['seconds']:.2f}", f"{r['megabytes']:.0f}",
                      budget + " (over)" * over])
    compilers = "; ".join(where["machine"].get("compilers", {}).values())
    return (f"{machine.sentence(where)}. {compilers}.\n\n"
            + markdown(["case", "compiler", "CPU s", "MB", "budget"], cells))


def fusion_table(path):
    """What fusion.cpp printed: each net's fused line above its unfused one."""
    where, rows = read(path)
    cells = []
    for r in rows:
        other = next((o for o in rows if o["model"] == r["model"] and o["fused"] != r["fused"]), None)
        ratio = f"{r['median_ms'] / other['median_ms']:.2f}" if other and not r["fused"] else ""
        cells.append([r["model"], "fused" if r["fused"] else "unfused", r["kernels"], r["launches"],
                      f"{r['moved_bytes'] / 1e6:.1f}",
                      f"{r['activation_bytes'] / 1e6:.2f}", f"{r['peak_bytes'] / 1e6:.2f}", f"{r['median_ms']:.3f}",
                      ratio])
    head = ["model", "program", "kernels", "launches", "MB moved", "MB activations", "MB in all", "median ms",
            "over fused"]
    return f"{machine.sentence(where)}; {rows[0]['threads']} thread(s).\n\n" + markdown(head, cells)


def kernels_table(path):
    """What kernels.cpp printed; its first line is the peak."""
    where, rows = read(path)
    peak = next(r["peak_gflops"] for r in rows if "peak_gflops" in r)
    cells = [[r["case"], f"{r['us']:.3f}", f"{r['gflops']:.0f}" if "gflops" in r else "",
              f"{r['of_peak']:.2f}" if "of_peak" in r else ""]
             for r in rows if "case" in r]
    return (f"{machine.sentence(where)}; peak of one thread {peak:.0f} GFLOP/s.\n\n"
            + markdown(["case", "us", "GFLOP/s", "of peak"], cells))


def peers_table(path, general=False):
    """What gemm_peers.cpp and conv_peers.cpp printed: Sinter's time, each peer's, and the best of
    these over Sinter's. `general`: the convolutions that the general kernels take, instead of the
    others."""
    where, rows = read(path)
    rows = [r for r in rows if "layer" in r and r.get("general", False) == general]
    if not rows:
        return "Not measured yet."
    others = list(dict.fromkeys(k[:-3] for r in rows for k in r
                                if k.endswith("_us") and not k.endswith("_best_us") and k != "sinter_us"))
    others.sort(key=lambda name: not name.startswith("sinter"))
    cells = [[f"{r['layer']}, {r['kind']}" + (f" ({r['m']} x {r['n']} x {r['k']})" if "k" in r else ""),
              f"{r['sinter_us']:.1f}",
              *(f"{r[p + '_us']:.1f}" if p + "_us" in r else "" for p in others), f"{r['of_peak']:.2f}",
              f"{r['over_best_peer']:.2f}"] for r in rows]
    ratios = [r["over_best_peer"] for r in rows]
    said = (f"Best peer over Sinter: geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}, "
            f"{sum(x >= 0.9 for x in ratios)} of {len(ratios)} at least 0.9.")
    head = ["layer, kind", "Sinter us", *(p.replace("_", " ").replace("sinter", "Sinter") for p in others), "of peak",
            "best peer / Sinter"]
    return f"{machine.sentence(where)}; one thread. {said}\n\n" + markdown(head, cells)


def bandwidth_table(path):
    """What bandwidth.cpp printed: a row for each kernel, two columns for each level of memory."""
    where, rows = read(path)
    levels = list(dict.fromkeys(r["level"] for r in rows))
    of = {(r["case"], r["level"]): r for r in rows}
    cells = [[case, *(text for at in levels
                      for text in ((f"{of[case, at]['gbs']:.1f}", f"{of[case, at]['of_copy']:.2f}")
                                   if (case, at) in of else ("", "")))]
             for case in dict.fromkeys(r["case"] for r in rows)]
    copies = ", ".join(f"{at} {statistics.median(r['copy_gbs'] for r in rows if r['level'] == at):.0f}"
                       for at in levels)
    head = ["kernel", *(text for at in levels for text in (f"{at} GB/s", "of copy"))]
    return f"{machine.sentence(where)}; one thread; copy, GB/s: {copies}.\n\n" + markdown(head, cells)


def pipelines_table(path):
    """What pipelines.cpp and its peers printed: a row for each set."""
    where, rows = read(path)
    peers = list(dict.fromkeys(r["system"] for r in rows if r["system"] != "sinter"))
    of = {(r["set"], r["system"]): r["fill_us"] for r in rows}
    cells = [[r["set"], r["examples"], r["batch"], digits(r["fill_us"]),
              *(digits(of[r["set"], p]) if (r["set"], p) in of else "" for p in peers),
              *(digits(r[k]) for k in ("step_us", "both_us", "ahead_us"))] for r in rows if r["system"] == "sinter"]
    head = ["set", "examples", "batch of", "Sinter fills it, us", *(p.replace("_", " ") for p in peers), "a step",
            "both in turns", "with prefetch()"]
    return f"{machine.sentence(where)}; one thread trains.\n\n" + markdown(head, cells)


def operations_table(path):
    """What operations.cpp and pytorch_operations.py printed, in turns: a row for each op. Both must
    have come to the same."""
    where, rows = read(path)
    us, size = {}, {}
    for r in rows:
        us.setdefault((r["op"], r["kind"], r["system"]), []).append(r["us"])
        there = size.setdefault((r["op"], r["kind"]), r["size"])
        if abs(r["size"] - there) > 1e-3 * abs(there):
            raise SystemExit(f"operations: {r['op']}, {r['kind']}: {r['system']} comes to {r['size']}, "
                             f"others to {there}")
    kinds, ratios, cells = ["forward", "with gradient"], [], []
    for op in dict.fromkeys(r["op"] for r in rows):
        cells.append([op.replace("_", " ")])
        for kind in kinds:
            ours, peer = (us.get((op, kind, system)) for system in ("sinter", "pytorch"))
            cells[-1] += [f"{statistics.median(t):.1f}" if t else "" for t in (ours, peer)]
            if ours and peer:
                ratios.append(statistics.median(peer) / statistics.median(ours))
            cells[-1].append(f"{ratios[-1]:.2f}" if ours and peer else "")
    said = (f" PyTorch's time over Sinter's: geometric mean {statistics.geometric_mean(ratios):.2f}, "
            f"{sum(x >= 1 for x in ratios)} of {len(ratios)} at least 1." if ratios else "")
    head = ["op", *(text for kind in kinds for text in (f"{kind}: Sinter us", "PyTorch us", "times as fast"))]
    return f"{machine.sentence(where)}; one thread.{said}\n\n" + markdown(head, cells)


def distributed_table(path):
    """What collectives.py printed: a row for each number of ranks and bytes, a column for each
    system; best of each run in brackets."""
    where, all_rows = read(path)
    rows = [r for r in all_rows if "bytes" in r]
    times = {}
    for r in rows:
        times.setdefault((r["ranks"], r["bytes"]), {}).setdefault(r["system"], []).append(r)
    of = lambda rows, key: statistics.median(r[key] for r in rows)
    systems = list(dict.fromkeys(r["system"] for r in rows if r["system"] != "ping" and "buckets" not in r["system"]))
    size = lambda n: f"{n >> 20} MiB" if n >= 1 << 20 else f"{n >> 10} KiB"
    cells = []
    for (ranks, n), got in sorted(times.items()):
        if n < 1024 or any("buckets" in s for s in got):
            continue
        cells.append([f"{ranks} ranks, {size(n)}",
                      *(f"{digits(of(got[s], 'median_ms'))} ({digits(min(r['best_ms'] for r in got[s]))})"
                        if s in got else "" for s in systems)])
    said = []
    if (2, 8) in times:
        said.append("A ping of 8 bytes between two that do not sleep: "
                    f"{1e3 * of(times[2, 8]['ping'], 'median_ms'):.1f} us.")
    for (ranks, n), got in sorted(times.items()):
        for s in got:
            if "buckets" in s and "sinter ring" in got:
                said.append(f"{ranks} ranks, {size(n)} in {s.split()[-2]} buckets: "
                            f"{digits(of(got[s], 'median_ms'))} ms, "
                            f"in one: {digits(of(got['sinter ring'], 'median_ms'))} ms.")
    head = ["all-reduce, ms (best)", *systems]
    text = f"{machine.sentence(where)}; all ranks on this machine. {' '.join(said)}\n\n" + markdown(head, cells)
    servers = servers_table([r for r in all_rows if "servers" in r])
    return text + strategies_table(all_rows) + servers + sparse_table(all_rows)


def strategies_table(all_rows):
    """What strategies.py printed: milliseconds a step, and how many times as long PyTorch's
    DistributedDataParallel takes."""
    times, seconds = {}, {}
    for r in all_rows:
        if r["what"] == "step" and "servers" not in r:
            name = r.get("strategy", "PyTorch DDP") + (f", {r['ranks']} processes" if r["model"] == "small" else "")
            times.setdefault((r["model"], r["batch"]), {}).setdefault(name, []).append(r["median_ms"])
        elif r["what"] in ("meet", "kill", "stop"):
            seconds.setdefault((r["what"], r["ranks"]), []).append(r["median_ms"])
    text = ""
    nets = {k: v for k, v in times.items() if k[0] != "small"}
    small = {k: v for k, v in times.items() if k[0] == "small"}
    if nets:
        systems = list(dict.fromkeys(s for got in nets.values() for s in got))
        cells = []
        for (model, batch), got in nets.items():
            ms = {s: statistics.median(t) for s, t in got.items()}
            peer = ms.get("PyTorch DDP")
            cells.append([f"{model}, batch {batch}",
                          *(digits(ms[s]) + (f" ({peer / ms[s]:.1f})" if peer and s != "PyTorch DDP" else "")
                                                       if s in ms else "" for s in systems)])
        text += "\n\n" + markdown(["ms a step (DDP's over it)", *systems], cells)
        both = [f"{model} {statistics.median(got['mirrored']) / statistics.median(got['single']):.2f}"
                for (model, _), got in nets.items() if {"single", "mirrored"} <= got.keys()]
        if both:
            text += "\n\n`mirrored<2>` over one trainer of two threads: " + ", ".join(both) + "."
    for (_, batch), got in small.items():
        text += f"\n\nA net of 38 KB, batch {batch}: " + ", ".join(f"{s} {1e3 * statistics.median(t):.1f} us"
                                                                   for s, t in got.items()) + "."
    words = {"meet": "until the last of {} members is connected",
             "kill": "from SIGKILL of one of {} until all others know",
             "stop": "from SIGSTOP of one of {} until all others know"}
    if seconds:
        text += "\n\nMilliseconds " + "; ".join(f"{words[what].format(ranks)}: {statistics.median(t):.0f}"
                                                for (what, ranks), t in seconds.items()) + "."
    return text


def servers_table(rows):
    """What parameter_servers.py printed: steps a second of all workers, and what part of plain
    sockets' they are."""
    if not rows:
        return ""
    rates = {}
    for r in rows:
        size = lambda n: f"{4 * n >> 20} MiB" if 4 * n >= 1 << 20 else f"{4 * n >> 10} KiB"
        if r["what"] == "step":
            what = f"{r['model']}, batch {r['batch']}, {r['strategy'].split(':', 1)[1]}"
        elif "rows" in r:
            what = f"{r['rows']} rows of {r['dim']} out of {r['table']:,}"
        else:
            what = size(r["dim"])
        if "compute_ms" in r:
            what += f", {r['compute_ms']} ms of computing, {r['mode']}"
            if r["slower"] > 1:
                what += f", a worker more that takes {r['slower']} times as long"
        rates.setdefault((what, r["workers"], r["servers"]), {}).setdefault(r["system"], []).append(r["steps_per_s"])
    systems = list(dict.fromkeys(r["system"] for r in rows))
    cells = []
    for (what, workers, servers), got in rates.items():
        limit = statistics.median(got["raw"]) if "raw" in got else None
        share = lambda rate: f" ({rate / limit:.2f})" if limit else ""
        def cell(s):
            if s not in got:
                return ""
            rate = statistics.median(got[s])
            return f"{rate:,.0f}" + ("" if s == "raw" else share(rate))
        cells.append([f"{what}; {workers} workers, {servers} servers", *map(cell, systems)])
    return "\n\n" + markdown(["steps a second with servers (of plain sockets')", *systems], cells)


def sparse_table(all_rows):
    """What sparse_step.cpp printed: microseconds by the size of the table, and each over the smallest one's."""
    cells = [[f"{r['table']:,}", *(f"{r[k + '_us']:.0f} ({r[k + '_ratio']:.2f})" for k in ("step", "rows"))]
             for r in all_rows if r.get("what") == "sparse step"]
    head = ["rows in the table", "a step, us (over the first)", "without the net's own"]
    return "\n\n" + markdown(head, cells) if cells else ""


def lines_for_aims(path):
    """A run's lines, and those that shaped_links.py wrote on the same kind of machine."""
    links = path.with_name("shaped_links.jsonl")
    return read(path)[1] + (read(links)[1] if links.exists() else [])


def distributed_aims_table(path):
    """Each aim of several processes beside what was measured."""
    head = ["", "what", "aim", "measured", ""]
    return f"{machine.sentence(read(path)[0])}.\n\n" + markdown(head, list(aims.process_rows(lines_for_aims(path))))


TABLES = {"step": step_table, "aims": aims_table, "precision": precision_table, "predict": step_table,
          "fusion": fusion_table, "build": build_table,
          "kernels": kernels_table, "gemm": peers_table, "conv": peers_table,
          "general_conv": lambda path: peers_table(path, general=True), "operations": operations_table,
          "bandwidth": bandwidth_table, "distributed": distributed_table,
          "distributed_aims": distributed_aims_table, "pipelines": pipelines_table}
# Whose lines a table is made of, where they do not bear its name.
FILES = {"aims": "step", "general_conv": "conv", "distributed_aims": "distributed"}
TITLES = {"step": "A training step", "aims": "Aims", "precision": "Products of bfloat16", "predict": "A prediction",
          "fusion": "Fusion", "build": "Build time and memory", "kernels": "Kernels", "gemm": "Products",
          "conv": "Convolutions",
          "general_conv": "General convolutions", "operations": "Operations", "bandwidth": "Bandwidth",
          "distributed": "All-reduce",
          "distributed_aims": "Aims of several processes", "pipelines": "Input pipelines"}


def table_of(name, folder):
    path = folder / f"{FILES.get(name, name)}.jsonl"
    return TABLES[name](path) if path.exists() else "Not measured yet."


def measured(folder):
    """When its steps were timed."""
    path = folder / "step.jsonl"
    return read(path)[0]["machine"]["date"] if path.exists() else ""


def fill(top, results):
    folders = sorted((f for f in results.glob("*") if f.is_dir()), key=lambda f: (measured(f), f.name), reverse=True)
    if not folders:
        raise SystemExit(f"{results}: no results there, in a folder such as zen4")
    for name, (page, summary) in summaries.SUMMARIES.items():
        path = top / page
        text = path.read_text()
        place = re.compile(rf"(<!-- table {name} -->\n).*?(<!-- end -->)", re.S)
        if not place.search(text):
            raise SystemExit(f"{page}: no place for table {name}")
        if made := summary(folders, sys.modules[__name__]):
            path.write_text(place.sub(lambda m: m[1] + "\n" + made + "\n\n" + m[2], text))
    for folder in folders:
        page = [f"<!-- SPDX-License-Identifier: BSL-1.0 -->\n# Benchmarks in full: {folder.name}",
                f"Measured on a machine with {folder.name} cores; filled by `bench/tables.py fill`.\n"
                "[How it is measured](../README.md), and [notes](benchmarks.md)."]
        for name in TABLES:
            page += [f"## {TITLES[name]}", *(part if part.lstrip().startswith("|") else summaries.filled(part)
                                             for part in table_of(name, folder).split("\n\n"))]
        (top / "bench" / "notes" / f"tables-{folder.name}.md").write_text("\n\n".join(page) + "\n")


def main():
    bench = pathlib.Path(__file__).parent
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=[*TABLES, "fill"])
    options.add_argument("file", nargs="?", type=pathlib.Path)
    options.add_argument("--top", type=pathlib.Path, default=bench.parent,
                         help="the repository whose documents are filled")
    options.add_argument("--results", type=pathlib.Path, default=bench / "results")
    args = options.parse_args()
    if args.what == "fill":
        fill(args.top, args.results)
    elif args.file is None:
        options.error("which FILE?")
    else:
        print(TABLES[args.what](args.file))


if __name__ == "__main__":
    main()

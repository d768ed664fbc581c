#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What stale gradients cost: runs bench/staleness under each mode of the parameter servers at several learning rates,
and makes of what it found a picture and a table for bench/notes/staleness.md.

    bench/staleness.py --program build/release/bench/staleness --out FILE.jsonl     measures: minutes on two cores
    bench/staleness.py --draw FILE.jsonl --svg bench/notes/staleness.svg                    draws, and prints the table

Accuracy is counted over updates and not over time, so that it makes no difference how many cores the workers share."""
import argparse
import contextlib
import io
import json
import pathlib
import statistics
from xml.sax.saxutils import escape

import json_line
import machine
import tables

MODES = [("single", 1), ("async", 1), ("async", 2), ("async", 4), ("async", 8), ("stale:0", 4), ("stale:3", 4),
         ("stale:10", 4), ("sync:1", 4)]
RATES = {"sgd": [0.03, 0.1, 0.3], "momentum": [0.003, 0.01, 0.03], "adam": [0.0003, 0.001, 0.003]}
NAMES = {"sgd": "SGD", "momentum": "momentum 0.9", "adam": "Adam"}
# Okabe and Ito's colours, which people who see red and green alike can tell apart; dashed: with a bound.
CURVES = {("single", 1): ("#000000", ""), ("async", 2): ("#56b4e9", ""), ("async", 4): ("#0072b2", ""),
          ("async", 8): ("#d55e00", ""), ("stale:3", 4): ("#009e73", "4 2"), ("stale:10", 4): ("#cc79a7", "4 2")}
LOW, HIGH = 0.6, 0.9   # the accuracies that the picture shows


def words(mode, workers):
    name = mode if mode in ("single", "async") else "{}<{}>".format(*mode.split(":"))
    return name if mode == "single" else f"{name}, {workers} worker{'s' * (workers > 1)}"


def counted(row):
    """A run's line with sums over its workers in place of each one's counters."""
    workers = row["counters"]["workers"] if row["counters"] else []
    sums = {key: sum(w[key] for w in workers) for key in ("applied", "dropped", "staleness_sum")}
    return row | {"counters": sums | {"staleness_max": max(w["staleness_max"] for w in workers)} if workers else None}


def measure(args):
    with open(args.out, "w") as out:
        print(json.dumps(machine.describe()), file=out)
        for seed in range(1, args.seeds + 1):
            for optimizer, rates in RATES.items():
                for rate in rates:
                    for mode, workers in MODES:
                        said = io.StringIO()
                        with contextlib.redirect_stdout(said):
                            json_line.run(f"{mode}, {workers} workers, {optimizer} {rate}",
                                          [args.program, "--mode", mode, "--workers", workers,
                                           "--optimizer", optimizer, "--rate", rate, "--steps", args.steps,
                                           "--every", args.every, "--seed", seed])
                        if said.getvalue():
                            print(json.dumps(counted(json.loads(said.getvalue()))), file=out, flush=True)


def read(path):
    """Where it was measured, and the runs of each mode, optimizer and rate."""
    where, rows = tables.read(path)
    runs = {}
    for r in rows:
        runs.setdefault((r["mode"], r["workers"], r["optimizer"], r["rate"]), []).append(r)
    return where, runs


def mean_curve(runs, every):
    """Of several runs: mean step and accuracy of their points between two multiples of `every`. A chief that had no
    core for a while has left one out."""
    points = {}
    for r in runs:
        for step, accuracy in zip(r["steps"], r["accuracy"]):
            points.setdefault(step // every, []).append((step, accuracy))
    return [tuple(statistics.mean(p[i] for p in at) for i in (0, 1)) for _, at in sorted(points.items())]


def distance(runs):
    """Updates from one point to the next."""
    return min(r["steps"][0] for all_of in runs.values() for r in all_of)


def staleness(runs):
    """Of the updates that a gradient's weights lacked the mean, and the most in a run (the median of several, since a
    worker that loses its core for a second has thousands), and the share of pushes that were dropped."""
    all_of = [r["counters"] for r in runs if r["counters"]]
    applied, dropped, late = (sum(c[key] for c in all_of) for key in ("applied", "dropped", "staleness_sum"))
    if not applied:
        return None
    return late / applied, statistics.median(c["staleness_max"] for c in all_of), dropped / (applied + dropped)


def svg(runs):
    """A panel for each optimizer and rate."""
    width, height, left, top, gap = 210, 130, 40, 62, 34
    whole = (left + 3 * width + 2 * 12 + 12, top + 3 * height + 2 * gap + 40)
    last = max(max(r["steps"]) for all_of in runs.values() for r in all_of)
    across, up = (lambda step: width * step / last), (lambda accuracy: height * (HIGH - accuracy) / (HIGH - LOW))
    text = lambda x, y, what, more="": f'<text x="{x:.0f}" y="{y:.0f}"{more}>{what}</text>'
    size = f'width="{whole[0]}" height="{whole[1]}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole[0]} {whole[1]}" {size} '
             'font-family="Helvetica, Arial, sans-serif" font-size="11" fill="#222222" role="img">',
             "<!-- SPDX-License-Identifier: BSL-1.0; bench/staleness.py draws this -->",
             "<title>Test accuracy against updates, by optimizer, learning rate and staleness</title>",
             f'<rect {size} rx="6" fill="#ffffff"/>']
    x = left
    for (mode, workers), (colour, dash) in CURVES.items():
        name = words(mode, workers).removesuffix(" workers").replace(",", "")
        parts.append(f'<path d="M{x} 18h18" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/>' +
                     text(x + 22, 22, escape(name)))
        x += 42 + 7 * len(name)
    parts.append(text(x - 16, 22, "workers"))
    for row, (optimizer, rates) in enumerate(RATES.items()):
        for column, rate in enumerate(rates):
            x, y = left + column * (width + 12), top + row * (height + gap)
            parts.append(text(x, y - 6, f"{NAMES[optimizer]}, rate {rate:g}", ' font-weight="bold"'))
            for accuracy in (0.6, 0.7, 0.8, 0.9):
                at = y + up(accuracy)
                parts.append(f'<path d="M{x} {at:.0f}h{width}" stroke="#dddddd"/>')
                if column == 0:
                    parts.append(text(x - 6, at + 4, f"{accuracy:g}", ' text-anchor="end" fill="#555555"'))
            curves = []
            for (mode, workers), (colour, dash) in CURVES.items():
                if (mode, workers, optimizer, rate) not in runs:
                    continue
                curve = mean_curve(runs[mode, workers, optimizer, rate], distance(runs))
                points = [(round(across(s)), round(up(a))) for s, a in curve]
                lines = (f"l{b[0] - a[0]} {b[1] - a[1]}" for a, b in zip(points, points[1:]))
                path = "M{} {}".format(*points[0]) + "".join(lines)
                curves.append(f'<path d="{path}" stroke="{colour}" stroke-dasharray="{dash}"/>')
            inner = f'<svg x="{x}" y="{y}" width="{width}" height="{height}" fill="none" stroke-width="1.6">'
            parts += [inner, *curves, "</svg>"]
            if row == 2:
                for step in range(0, last, last // 4):
                    parts.append(text(x + across(step), y + height + 16, step, ' text-anchor="middle" fill="#555555"'))
    below = "test accuracy against updates by all workers"
    parts.append(text(whole[0] / 2, whole[1] - 8, below, ' text-anchor="middle"'))
    return "\n".join(parts) + "\n</svg>\n"


def table(runs):
    settings = [(optimizer, rate) for optimizer, rates in RATES.items() for rate in rates]
    cells = []
    for mode, workers in MODES:
        of = {s: runs.get((mode, workers, *s)) for s in settings}
        late = staleness([r for found in of.values() if found for r in found])
        cell = [words(mode, workers).replace("stale<", "`stale<").replace("sync<", "`sync<").replace(">", ">`")]
        dropped = f"; {100 * late[2]:.0f} % dropped" if late and late[2] > 0 else ""
        cell += [f"{late[0]:.1f}, {late[1]:.0f}{dropped}" if late else ""]
        for found in of.values():
            if not found:
                cell.append("")
                continue
            points = mean_curve(found, distance(runs))
            cell.append(f"{statistics.mean(a for _, a in points[-len(points) // 5:]):.3f}")
        cells.append(cell)
    return tables.markdown(["", "staleness: mean, most", *(f"{NAMES[o]}, {r:g}" for o, r in settings)], cells)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", type=pathlib.Path, help="bench/staleness, built: measure")
    options.add_argument("--out", type=pathlib.Path, help="where lines of JSON are written")
    options.add_argument("--seeds", type=int, default=3,
                         help="runs of each, by other first weights and another order (default 3)")
    options.add_argument("--steps", type=int, default=4000, help="updates of a run (default 4000)")
    options.add_argument("--every", type=int, default=200,
                         help="updates from one point of a curve to the next (default 200)")
    options.add_argument("--draw", type=pathlib.Path, help="lines of JSON that were measured before")
    options.add_argument("--svg", type=pathlib.Path, help="the picture that is made of them")
    args = options.parse_args()
    if bool(args.program) == bool(args.draw) or bool(args.program) != bool(args.out):
        options.error("needed is --program with --out, or --draw")
    if args.program:
        return measure(args)
    where, runs = read(args.draw)
    if args.svg:
        args.svg.write_text(svg(runs))
    print(machine.sentence(where) + "\n\n" + table(runs))


if __name__ == "__main__":
    main()

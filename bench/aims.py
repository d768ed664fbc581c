# SPDX-License-Identifier: BSL-1.0
"""What a training step shall reach, and the table of what it does reach: filled by tables.py from
what compare.py wrote. Below that the same of training in several processes, P1 to P30 of
bench/notes/distributed.md: from what collectives.py, strategies.py and parameter_servers.py wrote,
and shaped_links.py."""
import statistics
import typing


class Aim(typing.NamedTuple):
    of_floor: float | None    # a step's time over its dense floor, at most
    of_peers: float           # the fastest peer's time over the step's, at least


BIG = Aim(0.85, 1.4)
AIMS = {
    ("mlp", "sgd"): Aim(0.95, 1.6), ("mlp", "adam"): Aim(1.1, 1.6),
    ("mlp_fashion", "sgd"): Aim(0.80, 1.9), ("mlp_fashion", "adam"): Aim(0.95, 1.9),
    ("lenet", "sgd"): Aim(0.85, 4.3), ("cnn", "sgd"): Aim(0.50, 2.8),
    ("lstm", "sgd"): Aim(1.09, 1.3), ("gpt", "sgd"): Aim(1.16, 1.5), ("gru", "sgd"): Aim(1.25, 1.2),
    ("policy", "adam"): Aim(None, 7), ("columns", "adam"): Aim(0.75, 5),
    ("resnet18", "sgd"): BIG, ("resnet50", "sgd"): BIG, ("alexnet", "sgd"): BIG, ("vgg_a", "sgd"): BIG,
    ("googlenet", "sgd"): BIG,
    ("overfeat", "sgd"): BIG,
}
# Of one thread's time over two's; less where programs skip zeros by lists, whose lengths the
# threads' halves do not share evenly.
TWO_THREADS, TWO_THREADS_WITH_LISTS = 1.85, 1.7
LISTS = ("mlp", "mlp_fashion", "lenet", "cnn", "policy", "columns")


def rows(steps):
    """A row for each aim; what is missed is in bold. Medians, behind them the best."""
    at = {(r["system"], r["model"], r["optimizer"], r["threads"]): r for r in steps if "median_ms" in r}
    mark = lambda text, reached: text if reached else f"**{text}**"
    for (model, optimizer), aim in AIMS.items():
        ours = at.get(("sinter", model, optimizer, 1))
        if not ours:
            yield [f"{model}, {optimizer}", "not timed", "", "", "", "", ""]
            continue
        floor, best = ours["median_ms"] / ours["floor_ms"], ours["best_ms"] / ours["floor_ms"]
        peers = {key[0]: r["median_ms"] for key, r in at.items()
                 if key[0] != "sinter" and key[1:] == (model, optimizer, 1)}
        name = min(peers, key=peers.get, default=None)
        ratio = peers[name] / ours["median_ms"] if name else None
        two, least = at.get(("sinter", model, optimizer, 2)), TWO_THREADS_WITH_LISTS if model in LISTS else TWO_THREADS
        yield [f"{model}, {optimizer}",
               mark(f"{floor:.2f} ({best:.2f})", aim.of_floor is None or floor <= aim.of_floor),
               f"{aim.of_floor:.2f}" if aim.of_floor else "",
               mark(f"{ratio:.2f}", ratio >= aim.of_peers) if name else "", f"{aim.of_peers:.1f}", name or "",
               mark(f"{ours['median_ms'] / two['median_ms']:.2f}", ours["median_ms"] / two["median_ms"] >= least)
               if two else ""]


# ---- training in several processes

KIB, MIB = 1 << 10, 1 << 20


class Lines:
    """What a run's lines say."""

    def __init__(self, rows):
        self.rows = rows

    def median(self, field, **where):
        """Of a field over the rounds' lines that have these other fields; None: do not have it.
        KeyError where there is no such line."""
        found = [r[field] for r in self.rows if field in r and all(r.get(k) == v for k, v in where.items())]
        if not found:
            raise KeyError(field)
        return statistics.median(found)

    def sum(self, system, ranks, size):
        """Milliseconds of an all-reduce."""
        return self.median("median_ms", system=system, what="all_reduce", ranks=ranks, bytes=size, line_mbit=None)

    def of_line(self, mbit, size):
        """What part of a line's rate the ring makes use of."""
        return self.median("of_line", system=RING, what="all_reduce", bytes=size, line_mbit=mbit)

    def step(self, model, strategy, ranks, batch=64):
        """Milliseconds of a step without servers."""
        return self.median("median_ms", what="step", model=model, strategy=strategy, ranks=ranks, batch=batch,
                           servers=None, line_mbit=None)

    def rows_rate(self, system, n, rows, dim, table=100_000):
        """Steps a second of n workers with n servers: rows of a table."""
        return self.median("steps_per_s", system=system, what="push and pull rows", servers=n, workers=n, rows=rows,
                           dim=dim, table=table, compute_ms=None)

    def vector_rate(self, system, n):
        """The same of a vector of 4 MiB."""
        return self.median("steps_per_s", system=system, what="push and pull", servers=n, workers=n, dim=MIB,
                           compute_ms=None)

    def computing_rate(self, mode, workers, slower):
        """Steps a second of the two fast workers, which compute for 3 ms."""
        return self.median("steps_per_s", system="sinter", what="push and pull", mode=mode, workers=workers,
                           slower=slower, compute_ms=3)

    def server_steps(self, system):
        """Steps a second of two workers that train the perceptron."""
        return self.median("steps_per_s", system=system, what="step", model="mlp", workers=2, servers=1,
                           strategy="parameter_server:async")


class ProcessAim(typing.NamedTuple):
    number: str
    what: str
    at_most: bool
    aim: float
    measured: typing.Callable[[Lines], float] | None   # None: not by scripts/bench.sh; `what` says why


def most(number, what, aim, measured):
    return ProcessAim(number, what, True, aim, measured)


def least(number, what, aim, measured):
    return ProcessAim(number, what, False, aim, measured)


def by_hand(number, what):
    return ProcessAim(number, what, True, 0, None)


RING = "sinter ring"
PROCESS_AIMS = [
    least("P1", "ring, 2 processes, 16 MiB, of `flood`'s rate", 0.85,
          lambda l: l.sum("flood", 2, 16 * MIB) / l.sum(RING, 2, 16 * MIB)),
    least("P2", "the same, 64 MiB", 0.75, lambda l: l.sum("flood", 2, 64 * MIB) / l.sum(RING, 2, 64 * MIB)),
    most("P3", "1 MiB, times `raw`'s time", 1.25, lambda l: l.sum(RING, 2, MIB) / l.sum("raw", 2, MIB)),
    least("P4", "4 processes, 16 MiB, of `flood`'s rate", 0.65,
          lambda l: l.sum("flood", 4, 16 * MIB) / l.sum(RING, 4, 16 * MIB)),
    most("P5", "2 processes, 4 KiB, times `raw`'s", 1.3, lambda l: l.sum(RING, 2, 4 * KIB) / l.sum("raw", 2, 4 * KIB)),
    most("P6", "4 processes, 4 KiB, times `raw`'s", 1.5, lambda l: l.sum(RING, 4, 4 * KIB) / l.sum("raw", 4, 4 * KIB)),
    *(least("P7", f"`bench/shaped_links.py`: 1 Gbit/s, {n} MiB, of the line", aim,
            lambda l, n=n: l.of_line(1000, n * MIB)) for n, aim in ((1, 0.90), (16, 0.94))),
    least("P8", "likewise: 200 Mbit/s, 64 KiB", 0.94, lambda l: l.of_line(200, 64 * KIB)),
    least("P9", "a key, 16 MiB, of the rate without", 0.85,
          lambda l: l.sum(RING, 2, 16 * MIB) / l.sum("sinter ring, key", 2, 16 * MIB)),
    by_hand("P10", "checksums: they have no switch"),
    most("P11", "threads, 16 MiB, times Open MPI's shared memory", 0.4,
         lambda l: l.sum("sinter threads", 2, 16 * MIB) / l.sum("openmpi", 2, 16 * MIB)),
    *(most("P12", f"shared memory of processes, {name}, times Open MPI's", 1.2,
           lambda l, size=size: l.sum("sinter shared_memory", 2, size) / l.sum("openmpi", 2, size))
      for name, size in (("16 MiB", 16 * MIB), ("4 KiB", 4 * KIB))),
    most("P13", "a job of one process, more than a plain step, us", 30,
         lambda l: 1e3 * (l.step("small", "multi_worker:ring", 1) - l.step("small", "single", 1))),
    most("P14", "a step of 38 KB, 2 processes, more than one alone, times an all-reduce of 40 KiB", 1.5,
         lambda l: (l.step("small", "multi_worker:ring", 2) - l.step("small", "single", 1, batch=32))
         / l.sum(RING, 2, 40 * KIB)),
    by_hand("P15", "overlap on 200 Mbit/s: `bench/shaped_links.py --steps`"),
    by_hand("P16", "160 tensors of 1 KiB: one bucket since the program is compiled so"),
    least("P17", "128 rows of 16, 2 workers, 2 servers, of plain sockets' steps", 0.5,
          lambda l: l.rows_rate("sinter", 2, 128, 16) / l.rows_rate("raw", 2, 128, 16)),
    least("P17", "the same, times ps-lite's", 3,
          lambda l: l.rows_rate("sinter", 2, 128, 16) / l.rows_rate("ps-lite", 2, 128, 16)),
    *(least("P18", f"1024 rows of 64, {n} workers, {n} servers, of plain sockets' steps", 0.6,
            lambda l, n=n: l.rows_rate("sinter", n, 1024, 64) / l.rows_rate("raw", n, 1024, 64)) for n in (1, 2)),
    *(least("P19", f"4 MiB, {n} workers, {n} servers, of plain sockets' steps", 0.85,
            lambda l, n=n: l.vector_rate("sinter", n) / l.vector_rate("raw", n)) for n in (1, 2)),
    most("P20", "1024 rows of 64, a step with 10^7 rows over one with 10^4", 1.15,
         lambda l: l.rows_rate("sinter", 2, 1024, 64, 10_000) / l.rows_rate("sinter", 2, 1024, 64, 10_000_000)),
    most("P20", "likewise without sockets, a net's step (`bench/sparse_step`)", 1.15,
         lambda l: l.median("step_ratio", what="sparse step", table=10_000_000)),
    by_hand("P21", "the log that makes each push count once: it has no switch"),
    *(most("P22", f"death by SIGKILL of one of {n} is known to all, s", 0.2,
           lambda l, n=n: l.median("median_ms", what="kill", ranks=n) / 1e3) for n in (2, 4)),
    most("P22", "by SIGSTOP (dead after 5 s), s", 5.5, lambda l: l.median("median_ms", what="stop", ranks=2) / 1e3),
    *(most("P23", f"{n} processes are connected after the last has started, ms", ms,
           lambda l, n=n: l.median("median_ms", what="meet", ranks=n)) for n, ms in ((2, 50), (8, 200))),
    by_hand("P24", "memory beyond the operation's own: SINTER_BENCH_MEMORY has bench/collectives say it"),
    most("P25", "a backup worker beside one ten times slower, times the step without these", 1.1,
         lambda l: l.computing_rate("sync:0", 2, 1) / l.computing_rate("sync:1", 3, 10)),
    most("P26", "an elastic job of 3: from SIGKILL of one until the others have made a step, s", 5,
         lambda l: l.median("median_s", what="recover, killed", ranks=3)),
    most("P26", "from SIGSTOP (dead after 5 s), s", 5,
         lambda l: l.median("median_s", what="recover, stopped", ranks=3)),
    most("P27", "all weights compared every 100 steps, MLP, of its time", 1.01,
         lambda l: l.median("ratio", what="check weights")),
    most("P28", "sums checked every 100 steps, the same", 1.03, lambda l: l.median("ratio", what="check sums")),
    least("P29", "steps a second of the two that are left while the third is healed", 0.9,
          lambda l: l.median("ratio", what="heal")),
    by_hand("P30", "bytes of the file of what has changed in a table: a count, not a time"),
    # Without a number there.
    *(most("", f"`mirrored<2>` over one trainer of two threads, {model}", 1.05,
           lambda l, m=model: l.step(m, "mirrored", 2) / l.step(m, "single", 1))
      for model in ("mlp", "lenet", "cnn", "gpt")),
    least("", "`async` beside a worker ten times slower, of the steps without it", 0.95,
          lambda l: l.computing_rate("async", 3, 10) / l.computing_rate("async", 2, 1)),
    least("", "`parameter_server<async>`, MLP, times TensorFlow's steps", 8,
          lambda l: l.server_steps("sinter") / l.server_steps("tensorflow")),
]


def of_processes(rows):
    """(aim, what was measured or None, a word) of each: reached, missed, not measured, by hand."""
    lines = Lines(rows)
    for aim in PROCESS_AIMS:
        if aim.measured is None:
            yield aim, None, "by hand"
            continue
        try:
            value = aim.measured(lines)
        except KeyError:
            yield aim, None, "not measured"
            continue
        yield aim, value, "reached" if (value <= aim.aim if aim.at_most else value >= aim.aim) else "missed"


def process_rows(rows):
    """A row for each aim; what is missed is in bold."""
    for aim, value, word in of_processes(rows):
        yield [aim.number, aim.what, f"{'at most' if aim.at_most else 'at least'} {aim.aim:g}" if aim.measured else "",
               "" if value is None else f"{value:.4g}", f"**{word}**" if word == "missed" else word]

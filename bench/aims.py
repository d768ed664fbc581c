# SPDX-License-Identifier: BSL-1.0
"""What a training step shall reach, and the table of what it does reach: filled by tables.py from
what compare.py wrote."""
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

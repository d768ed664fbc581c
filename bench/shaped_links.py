#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Times members of a job on a line of a known rate: two network namespaces with a cable (veth) between them, both ends
of which send so many bits a second at most (`tc`, token bucket). Needs root and iproute2.

    bench/shaped_links.py --program build/release/bench/collectives [--steps build/release/bench/distributed]

Prints a JSON line for each row, with what part of the line's rate is data, and what part of what plain sockets get
through it in both directions at once. Ends what it has started and removes its namespaces, however it ends; what a run
that was killed by SIGKILL has left behind goes with the next one."""
import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

import machine

KIB, MIB = 1 << 10, 1 << 20
HOSTS = [("a", "10.93.8.1"), ("b", "10.93.8.2")]
BURST = "256kb"   # of the token bucket: with less the shaper, woken too late on busy cores, gives less than its rate
# Megabits a second, bytes of an all-reduce, with a key.
SUMS = [(1000, 64 * KIB, False), (1000, MIB, False), (1000, 16 * MIB, False), (1000, MIB, True), (1000, 16 * MIB, True),
        (200, 64 * KIB, False), (200, MIB, False)]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"shaped_links.py: {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


class Line:
    """The two hosts, for as long as a with statement lasts."""

    def __init__(self):
        self.id = os.getpid()

    def name(self, side):
        return f"sinter-line-{self.id}-{side}"

    def __enter__(self):
        for old in re.findall(r"^sinter-line-(\d+)-[ab]", run("ip", "netns", "list"), re.M):
            if not pathlib.Path(f"/proc/{old}").exists():
                for side, _ in HOSTS:
                    subprocess.run(["ip", "netns", "del", f"sinter-line-{old}-{side}"], capture_output=True)
        try:
            for side, _ in HOSTS:
                run("ip", "netns", "add", self.name(side))
            run("ip", "link", "add", "line", "netns", self.name("a"), "type", "veth", "peer", "name", "line",
                "netns", self.name("b"))
            for side, address in HOSTS:
                for command in (f"addr add {address}/24 dev line", "link set line up", "link set lo up"):
                    run("ip", "-n", self.name(side), *command.split())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for side, _ in HOSTS:   # the cable goes with them
            subprocess.run(["ip", "netns", "del", self.name(side)], capture_output=True)

    def shape(self, megabits):
        for side, _ in HOSTS:
            run("tc", "-n", self.name(side), "qdisc", "replace", "dev", "line", "root", "tbf",
                "rate", f"{megabits}mbit", "burst", BURST, "latency", "100ms")

    def on_both(self, command_of, seconds=120):
        """What the two processes print, as JSON: command_of(host) is a command. None: one has failed, which is said."""
        end_with_parent = lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL)   # PR_SET_PDEATHSIG
        all_of = [subprocess.Popen(["ip", "netns", "exec", self.name(side), *map(str, command_of(i))], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=end_with_parent)
                  for i, (side, _) in enumerate(HOSTS)]
        try:
            until = time.monotonic() + seconds
            said = [p.communicate(timeout=max(1, until - time.monotonic())) for p in all_of]
        except subprocess.TimeoutExpired:
            print(f"not over after {seconds} s: {' '.join(map(str, command_of(0)))}", file=sys.stderr)
            return None
        finally:
            for p in all_of:
                with contextlib.suppress(ProcessLookupError):
                    p.kill()
                p.wait()
        for p, (_, complaint) in zip(all_of, said):
            if p.returncode:
                command = " ".join(map(str, command_of(0)))
                print(f"{command}: status {p.returncode}: {complaint.strip()[-300:]}", file=sys.stderr)
                return None
        return [json.loads(line) for out, _ in said for line in out.splitlines() if line.startswith("{")]


def send_and_receive(host, seconds):
    """One end of plain sockets: sends without a pause, and counts what comes. In a process of its own, on one of
    the hosts."""
    if host == 0:
        with socket.create_server((HOSTS[0][1], 7000)) as door:
            peer, _ = door.accept()
    else:
        until = time.monotonic() + 10
        while True:
            try:
                peer = socket.create_connection((HOSTS[0][1], 7000), timeout=10)
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)
    peer.settimeout(10)
    end = time.monotonic() + seconds

    def send():
        piece = bytes(256 * KIB)
        while time.monotonic() < end:
            peer.sendall(piece)
        peer.shutdown(socket.SHUT_WR)

    sender = threading.Thread(target=send)
    sender.start()
    room, counts = bytearray(256 * KIB), []   # (when, bytes until then)
    total = 0
    while n := peer.recv_into(room):
        total += n
        counts.append((time.monotonic(), total))
    sender.join()
    begun = counts[0][0] + seconds / 4        # behind the bucket's first burst
    first = next(c for c in counts if c[0] >= begun)
    print(json.dumps({"megabits": 8e-6 * (counts[-1][1] - first[1]) / (counts[-1][0] - first[0])}))


def all_reduce(line, args, size, key, seconds=None):
    at = ",".join(f"{address}:7001" for _, address in HOSTS)
    more = ["--key", "a secret"] if key else []
    got = line.on_both(lambda i: [args.program, "--algorithm", "ring", "--bytes", size,
                                  "--seconds", seconds or args.seconds, "--addresses", at, "--rank", i, *more])
    return got[0] if got else None


def measure(args):
    print(json.dumps(machine.describe(burst=BURST)), flush=True)
    with Line() as line:
        plain = {}
        for megabits in dict.fromkeys(m for m, _, _ in SUMS):
            line.shape(megabits)
            got = line.on_both(lambda i: [sys.executable, __file__, "--end", i, "--seconds", args.seconds])
            if not got:
                continue
            plain[megabits] = statistics.mean(r["megabits"] for r in got)
            print(json.dumps({"system": "plain sockets", "what": "both ways at once", "line_mbit": megabits,
                              "of_line": round(plain[megabits] / megabits, 4)}), flush=True)
            for at, size, key in SUMS:
                row = all_reduce(line, args, size, key) if at == megabits else None
                if not row:
                    continue
                # Of two members each sends, and receives, as many bytes as the vector has. The best time says
                # nothing: a bucket that was full lets its burst through at once.
                rate = 8e-3 * size / row["median_ms"]
                print(json.dumps(row | {"line_mbit": megabits, "of_line": round(rate / megabits, 4),
                                        "of_plain_sockets": round(rate / plain[megabits], 4)}), flush=True)
        if args.steps:
            step(line, args)


def step(line, args, megabits=200):
    """Sending while gradients are computed: a step on the line beside one that only computes, and one that only
    sends."""
    line.shape(megabits)
    at = ",".join(f"{address}:7002" for _, address in HOSTS)
    common = [args.steps, "--model", "gpt", "--seconds", 2 * args.seconds]
    # Each computes its half of 64.
    alone = line.on_both(lambda i: [*common, "--strategy", "single", "--threads", 1, "--batch", 32])
    both = line.on_both(lambda i: [*common, "--strategy", "multi_worker:ring", "--batch", 64, "--addresses", at,
                                   "--rank", i])
    if not alone or not both:
        return
    sent = all_reduce(line, args, both[0]["gradient_bytes"], True, 2 * args.seconds)
    if not sent:
        return
    computing = statistics.mean(r["median_ms"] for r in alone)
    longer = max(computing, sent["median_ms"])
    took = both[0]["median_ms"]
    print(json.dumps(both[0] | {"line_mbit": megabits, "computing_ms": round(computing, 3),
                                "sending_ms": round(sent["median_ms"], 3), "of_longer": round(took / longer, 3),
                                "of_both": round(took / (computing + sent["median_ms"]), 3)}), flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", type=pathlib.Path, help="bench/collectives, built")
    options.add_argument("--steps", type=pathlib.Path, help="bench/distributed, built: steps of a GPT, too")
    options.add_argument("--seconds", type=float, default=2, help="of one row (default 2)")
    options.add_argument("--end", type=int, help=argparse.SUPPRESS)   # one end of plain sockets
    args = options.parse_args()
    if args.end is not None:
        return send_and_receive(args.end, args.seconds)
    if not args.program:
        options.error("needed is --program")
    missing = [tool for tool in ("ip", "tc") if not shutil.which(tool)]
    if os.geteuid() != 0 or missing:
        raise SystemExit("shaped_links.py: network namespaces and shapers need root and iproute2: " +
                         (f"no {' and no '.join(missing)} here" if missing else f"this is user {os.geteuid()}"))
    def end(number, _):
        raise SystemExit(128 + number)   # by way of what cleans up
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    measure(args)


if __name__ == "__main__":
    main()

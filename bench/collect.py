#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Puts the JSON lines of scripts/bench.sh's pieces into one JSON object: date, commit, machine and
compilers, the seconds that each piece took, and of each piece the machine's state when it began,
its rows and its table.

    printf 'PIECE SECONDS\\n...' | collect.py --lines FOLDER --commit HASH >bench.json
"""
import argparse
import json
import pathlib
import sys
import time

import machine
import tables


def collect(folder, seconds, commit):
    versions = {c: machine.compiler_version(c) for c in ("g++", "clang++", "nvcc")}
    all_of_it = {"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "commit": commit,
                 "machine": machine.describe()["machine"],
                 "compilers": {c: v for c, v in versions.items() if v}, "seconds": seconds, "pieces": {}}
    for name, table in tables.TABLES.items():
        path = folder / f"{name}.jsonl"
        if name in seconds and path.exists():   # what else lies there is of other runs
            where, rows = tables.read(path)
            all_of_it["pieces"][name] = {"machine": where["machine"], "rows": rows, "table": table(path)}
    return all_of_it


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lines", type=pathlib.Path, required=True, help="the folder with PIECE.jsonl")
    options.add_argument("--commit", default="unknown")
    args = options.parse_args()
    seconds = {name: int(n) for name, n in (line.split() for line in sys.stdin)}
    json.dump(collect(args.lines, seconds, args.commit), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()

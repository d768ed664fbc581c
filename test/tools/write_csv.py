#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes random records with Python's csv module, and what they hold: one field a line, in
hexadecimal, and an empty line behind each record; "-" stands for the empty field.

usage: write_csv.py CSV HELD RECORDS SEED
"""
import csv
import random
import sys

csv_file, held_file, records, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rng = random.Random(seed)
pieces = ["a", "7", ",", '"', '""', "\n", "\r\n", "\r", " ", ";", "é", "漢", "\t", "x" * 100, "'", "\\"]
with open(csv_file, "w", newline="", encoding="utf-8") as out, open(held_file, "w", encoding="ascii") as held:
    for _ in range(records):
        row = ["".join(rng.choices(pieces, k=rng.randrange(5))) for _ in range(4)]
        # With line feeds alone Python leaves a carriage return within a field without quotes, which RFC 4180 forbids.
        quoting, end = rng.choice([(csv.QUOTE_MINIMAL, "\r\n"), (csv.QUOTE_ALL, "\r\n"), (csv.QUOTE_ALL, "\n")])
        csv.writer(out, quoting=quoting, lineterminator=end).writerow(row)
        held.write("".join((f.encode().hex() or "-") + "\n" for f in row) + "\n")

#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints what NumPy reads from an .npz file, one line for each array.

usage: check_npz.py FILE
needs: pip install numpy
exit status: 0 read, 77 the package is not installed; anything else: refused by NumPy or by Python's zipfile
"""
import sys
import zipfile

try:
    import numpy
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(77)


def main(path):
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
        if damaged:
            sys.exit(f"{damaged}: its checksum does not hold")
    arrays = numpy.load(path, allow_pickle=False)
    for name in sorted(arrays.files):
        a = arrays[name]
        shape = ",".join(map(str, a.shape))
        flat = a.astype(numpy.float64).ravel()
        print(f"{name} {a.dtype} [{shape}] sum {float(flat.sum()):.6f} last {float(flat[-1]) if flat.size else 0:.6f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

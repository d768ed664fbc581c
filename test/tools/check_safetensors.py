#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Prints what the reference package reads from a safetensors file, one line for each metadata entry and tensor.

usage: check_safetensors.py FILE
needs: pip install safetensors numpy
exit status: 0 read, 1 refused by the reference, 77 the package is not installed
"""
import sys

try:
    import numpy
    from safetensors import SafetensorError, safe_open
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(77)


def main(path):
    with safe_open(path, framework="np") as file:
        for key, value in sorted((file.metadata() or {}).items()):
            print(f"metadata {key} = {value}")
        for name in sorted(file.keys()):
            tensor = file.get_tensor(name)
            shape = ",".join(map(str, tensor.shape))
            flat = tensor.astype(numpy.float64).ravel()
            # the moment, sum of i x_i with i from 1, tells orders apart that have one sum
            moment = float(flat @ numpy.arange(1, flat.size + 1))
            print(f"tensor {name} {tensor.dtype} [{shape}] sum {float(flat.sum()):.6f} moment {moment:.6f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except SafetensorError as fault:
        sys.exit(f"{sys.argv[1]}: {fault}")

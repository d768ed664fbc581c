#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Fits the polynomials of kernel/cpu/math that are pieces of a function, and prints their coefficients as C++.

Each piece gets the polynomial whose greatest error is least in units of the last place of the function's smallest value
there (relative in the first piece of a function that is 0 at 0, which has no constant), by Lawson's
weights: least squares over and over, each point weighted by the errors that it had so far. Needs
NumPy.
"""
import argparse
import math
import textwrap

import numpy as np

erf, log1p = np.vectorize(math.erf), np.log1p


def fit(function, middle, half, degree):
    """(greatest error in halves of units of the last place, coefficients from the constant on) of
    f(middle + u), |u| <= half."""
    first = middle == 0 and function(0.0) == 0
    u = np.cos(np.linspace(0, np.pi, 400))
    u = half * (1 - u) / 2 if middle == 0 else half * u
    u = u[1:] if first else u
    y = function(middle + u)
    unit = y if first else 2.0 ** math.floor(math.log2(min(y.min(), 0.999)))
    powers = np.arange(1 if first else 0, degree + 1)
    v = (u[:, None] / half) ** powers / (unit[:, None] if first else unit)
    weights, best = np.full(len(u), 1 / len(u)), (math.inf, None)
    for _ in range(300):
        root = np.sqrt(weights)
        x = np.linalg.lstsq(v * root[:, None], y / unit * root, rcond=None)[0]
        error = np.abs(v @ x - y / unit)
        best = min(best, (error.max(), tuple(x / half ** powers)))
        weights *= error / error.max() + 1e-3
        weights /= weights.sum()
    return best[0] * 2 ** 24, [0.0] * int(first) + list(best[1])


def print_pieces(name, function, width, pieces, degree):
    fits = [fit(function, i * width, width / 2, degree) for i in range(pieces)]
    print(f"{name}, {pieces} pieces: {max(e for e, _ in fits):.2f} halves of a unit")
    for power in range(degree, -1, -1):
        numbers = [f"{np.float32(c[power]):.9g}" for _, c in fits]
        row = ", ".join(n + ("f" if "." in n or "e" in n else ".f") for n in numbers)
        print(textwrap.fill("{" + row + "},", 132, initial_indent=" " * 8, subsequent_indent=" " * 9))


def bent(end):
    """erf, but that it reaches 1 at `end`, within the last quarter before."""
    missing = 1.00000001 - math.erf(end)
    return lambda z: erf(z) + missing * np.clip((z - end + 0.25) / 0.25, 0, 1) ** 3


def gamma_quotient(t):
    """lgamma(x) / ((x - 1) (x - 2)), x = t + 1/2; by their series next to 1 and 2, where both vanish."""
    def at(x):
        for zero, slope, bend in ((1, -0.5772156649015329, 0.8224670334241132),
                                  (2, 0.42278433509846714, 0.3224670334241132)):
            d = x - zero
            if abs(d) < 1e-5:
                return (slope + bend * d) / (x - 3 + zero)
        return math.lgamma(x) / ((x - 1) * (x - 2))
    return np.vectorize(at)(np.asarray(t) + 0.5)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for pieces, width, degree in ((16, 0.25, 5), (8, 0.515625, 6)):
        print_pieces("erf", bent((pieces - 0.5) * width), width, pieces, degree)
    for pieces, degree in ((16, 4), (8, 5)):
        print_pieces("log(1 + t)", log1p, float(np.float32(1 / (pieces - 1))), pieces, degree)
    for pieces, width, degree in ((16, 0.25, 6), (8, 0.5, 7)):
        print_pieces("lgamma(t + 0.5) / ((t - 0.5) (t - 1.5))", gamma_quotient, width, pieces, degree)

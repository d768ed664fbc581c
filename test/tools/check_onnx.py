#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs an ONNX file in onnxruntime and compares what it gives with what Sinter gave.

usage: check_onnx.py MODEL.onnx VALUES.npz [TOLERANCE]
VALUES.npz holds a batch under the names of the model's inputs, and what came out under those of its
outputs. Differences are held against 1 or the value, whatever is larger; NaN and infinities must be
the same. The first example is tried alone as well, as another batch.
needs: pip install onnxruntime numpy; onnx, too, has its checker look at the file
exit status: 0 they agree, 1 they do not, 77 a package is not installed
"""
import sys

try:
    import numpy
    import onnxruntime
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(77)
try:
    import onnx
except ImportError:
    onnx = None


def differences(got, wanted):
    """Of each element: the distance, infinite where one of them is not a number."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        sys.exit(f"got {got.dtype} {got.shape}, needed {wanted.dtype} {wanted.shape}")
    got, wanted = got.astype(float), wanted.astype(float)
    same = (got == wanted) | (numpy.isnan(got) & numpy.isnan(wanted))
    with numpy.errstate(invalid="ignore"):
        apart = numpy.abs(got - wanted) / numpy.maximum(1, numpy.abs(wanted))
    return numpy.where(same, 0, numpy.where(numpy.isfinite(apart), apart, numpy.inf))


def main(model, values, tolerance):
    if onnx is not None:
        onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    values = numpy.load(values)
    batched = {p.name: p.shape[:1] == ["batch"] for p in session.get_inputs() + session.get_outputs()}
    if sorted(batched) != sorted(values.files):
        sys.exit(f"names: got {sorted(batched)}, needed {sorted(values.files)}")
    worst = 0.0
    for alone in (False, True):
        def part(name):
            return values[name][:1] if alone and batched[name] else values[name]

        got = session.run(None, {p.name: part(p.name) for p in session.get_inputs()})
        for port, y in zip(session.get_outputs(), got):
            apart = differences(y, part(port.name))
            worst = max(worst, float(apart.max(initial=0)))
            for at in numpy.argwhere(~(apart <= tolerance))[:8]:
                at = tuple(at.tolist())
                print(f"{port.name}{list(at)}: got {y[at]}, needed {part(port.name)[at]}")
    print(f"{model}: largest difference {worst:.3g}")
    if not worst <= tolerance:
        sys.exit(1)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]) if len(sys.argv) == 4 else 1e-5)

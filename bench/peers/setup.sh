#!/bin/sh
# SPDX-License-Identifier: BSL-1.0
# Makes a Python environment with the frameworks that bench/compare.py puts beside Sinter.
# Usage: bench/peers/setup.sh [FOLDER]    (default build/peers; about 4 GB on Linux)
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:-$root/build/peers}

test -x "$folder/bin/python" || python3 -m venv "$folder"
pip() { "$folder/bin/python" -m pip --disable-pip-version-check "$@"; }

echo "numpy, safetensors, JAX, TensorFlow, onnxruntime"
pip install --quiet numpy safetensors jax tensorflow-cpu onnxruntime

# The default Linux build of PyTorch asks for the CUDA libraries (several GB) and links to some of
# them even where no GPU is used. Without its dependencies it takes those that the system has; those
# that are missing are added one by one.
echo "PyTorch (pip names the CUDA packages left out; that is meant so)"
pip install --quiet --no-deps torch
pip install --quiet filelock typing-extensions 'setuptools>=77.0.3' sympy networkx jinja2 fsspec

pinned() {  # the package at the version that PyTorch asks for, else its plain name
    "$folder/bin/python" - "$1" <<'PY'
import importlib.metadata, re, sys
wanted = [r.split(";")[0].strip() for r in importlib.metadata.requires("torch") or []]
print(next((r for r in wanted if re.match(re.escape(sys.argv[1]) + r"(-cu\d+)?==", r)), sys.argv[1]))
PY
}
for package in nvidia-nccl nvidia-cusparselt nvidia-nvshmem nvidia-cufile nvidia-cudnn; do
    "$folder/bin/python" -c 'import torch' 2>/dev/null && break
    pip install --quiet --no-deps "$(pinned "$package")"
done
# Whatever else is missing: PyTorch's own list, CUDA toolkit and all.
"$folder/bin/python" -c 'import torch' 2>/dev/null || pip install --quiet torch

"$folder/bin/python" - <<'PY'
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import jax, onnxruntime, tensorflow, torch
print("PyTorch", torch.__version__, " JAX", jax.__version__, " TensorFlow", tensorflow.__version__,
      " onnxruntime", onnxruntime.__version__)
PY

#!/bin/sh
# `quantize_dynamic` silently leaves a product in floating point if the constant is on the left.
#
# A layer may be written as x @ W or as W @ x. Exporters write the second for models that keep columns as
# samples. ONNX Runtime's dynamic quantisation converts the first to eight bits. It ignores the second:
# the node stays a MatMul, its table stays in 32 bits, and the file does not shrink. There is no error and
# no warning.
#
# onnxruntime 1.32.0, onnx 1.22.0, numpy 2.4.6, Python 3.11; 28 November 2026. Seen:
#   x @ W: MatMulInteger, 0.25 of the bytes
#   W @ x: MatMul, 1.00 of the bytes
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages onnxruntime==1.32.0 onnx==1.22.0 numpy==2.4.6
export PYTHONPATH=packages
python3 - <<'PY' 2> /dev/null
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import quantize_dynamic

table = numpy_helper.from_array(np.random.default_rng(0).normal(size=(256, 256)).astype(np.float32), "W")
seen = {}
for name, inputs in (("x @ W", ["x", "W"]), ("W @ x", ["W", "x"])):
    node = helper.make_node("MatMul", inputs, ["y"], name="product")
    ends = [helper.make_tensor_value_info(end, TensorProto.FLOAT, [256, 256]) for end in "xy"]
    graph = helper.make_graph([node], "layer", ends[:1], ends[1:], [table])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), "float.onnx")
    quantize_dynamic("float.onnx", "eight.onnx")
    kinds = {one.op_type for one in onnx.load("eight.onnx").graph.node}
    share = Path("eight.onnx").stat().st_size / Path("float.onnx").stat().st_size
    seen[name] = (next(kind for kind in ("MatMulInteger", "MatMul") if kind in kinds), share)
    print(f"{name}: {seen[name][0]}, {share:.2f} of the bytes")
assert seen["x @ W"][0] == "MatMulInteger" and seen["x @ W"][1] < 0.3
assert seen["W @ x"][0] == "MatMul" and seen["W @ x"][1] > 0.99
PY

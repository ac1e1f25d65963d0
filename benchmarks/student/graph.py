"""Makes an ONNX graph of what learn.py saved, the layers of the encoder in eight bits:

    python benchmarks/student/graph.py student.npz student.onnx

Inputs: embeds (rows, tokens, 384), the sums of the embeddings of pieces, places, tags and drafts;
bias (rows, 1, 1, tokens), 0 or a large negative number. Output: margins (rows, tokens, 1). Needs
the packages onnx and onnxruntime.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh
from onnxruntime.quantization import QuantType, quantize_dynamic


def build(state, layers, width=384, heads=12, eps=1e-12):
    """Return the graph in float32."""
    nodes, inits = [], []

    def const(name, value):
        inits.append(nh.from_array(np.ascontiguousarray(value), name))
        return name

    n = [0]

    def op(kind, ins, **kw):
        n[0] += 1
        out = f"t{n[0]}"
        nodes.append(h.make_node(kind, ins, [out], name=f"{kind}{n[0]}", **kw))
        return out

    shape4 = const("s4", np.array([0, 0, heads, width // heads], np.int64))
    shape3 = const("s3", np.array([0, 0, width], np.int64))
    scale = const("scale", np.array((width // heads) ** -0.5, np.float32))

    def linear(x, p):
        return op("Add", [op("MatMul", [x, const(p + ".w", state[p + ".w"].T)]), const(p + ".b", state[p + ".b"])])

    def ln(x, p):
        return op(
            "LayerNormalization",
            [x, const(p + ".w", state[p + ".w"]), const(p + ".b", state[p + ".b"])],
            axis=-1,
            epsilon=eps,
        )

    x = ln("embeds", "emb.ln")
    for layer in range(layers):
        p = f"l{layer}."
        q = op("Transpose", [op("Reshape", [linear(x, p + "q"), shape4])], perm=[0, 2, 1, 3])
        k = op("Transpose", [op("Reshape", [linear(x, p + "k"), shape4])], perm=[0, 2, 3, 1])
        v = op("Transpose", [op("Reshape", [linear(x, p + "v"), shape4])], perm=[0, 2, 1, 3])
        s = op("Add", [op("Mul", [op("MatMul", [q, k]), scale]), "bias"])
        a = op("MatMul", [op("Softmax", [s], axis=-1), v])
        a = op("Reshape", [op("Transpose", [a], perm=[0, 2, 1, 3]), shape3])
        x = ln(op("Add", [x, linear(a, p + "ao")]), p + "aln")
        f = op("Gelu", [linear(x, p + "fi")])
        x = ln(op("Add", [x, linear(f, p + "fo")]), p + "oln")
    out = op("MatMul", [x, const("head.w", state["head.w"].reshape(-1, 1))])
    nodes.append(h.make_node("Add", [out, const("head.b", state["head.b"])], ["margins"]))
    g = h.make_graph(
        nodes,
        "reader",
        [
            h.make_tensor_value_info("embeds", T.FLOAT, ["b", "t", width]),
            h.make_tensor_value_info("bias", T.FLOAT, ["b", 1, 1, "t"]),
        ],
        [h.make_tensor_value_info("margins", T.FLOAT, ["b", "t", 1])],
        inits,
    )
    m = h.make_model(g, opset_imports=[h.make_opsetid("", 20)], ir_version=10)
    onnx.checker.check_model(m)
    return m


def read_state(file):
    """Return the tensors and the number of layers of a file that learn.py saved in eight bits."""
    saved = np.load(file)
    state = {"head.w": saved["head.weight"], "head.b": saved["head.bias"]}
    state |= {"emb.ln.w": saved["ln.weight"], "emb.ln.b": saved["ln.bias"]}
    layers = 1 + max(int(name.split(".")[1]) for name in saved if name.startswith("layers."))
    for layer in range(layers):
        for part in ["q", "k", "v", "ao", "fi", "fo", "aln", "oln"]:
            name = f"layers.{layer}.{part}"
            weight = saved[f"{name}.weight"]
            if weight.dtype == np.int8:
                weight = weight.astype(np.float32) * saved[f"{name}.weight.scale"][:, None]
            state |= {f"l{layer}.{part}.w": weight, f"l{layer}.{part}.b": saved[f"{name}.bias"]}
    return state, layers


def main(source, target):
    """Write the graph. Seven bits of eight: without VNNI, sums of products of eight overflow."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        onnx.save(build(*read_state(source)), whole)
        quantize_dynamic(
            whole, target, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul"],
        )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])

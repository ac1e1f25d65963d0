"""Makes an ONNX graph of what learn.py saved, the layers of the encoder in eight bits:

    python benchmarks/student/graph.py student.npz student.onnx

Inputs: embeds (rows, tokens, 384), the sums of the embeddings of pieces, places, tags and drafts;
bias (rows, 1, 1, tokens), 0 or a large negative number. Output: margins (rows, tokens, 1). Needs
the packages onnx and onnxruntime.
"""

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from network import EPSILON, HEADS, WIDTH, read_int8
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic


class Graph:
    """A graph that grows by an operation at a time; values go by their names."""

    def __init__(self, state: Mapping[str, npt.NDArray[np.float32]]) -> None:
        self._state = state
        self.nodes, self.constants = list[onnx.NodeProto](), list[onnx.TensorProto]()

    def constant(self, name: str, value: npt.NDArray[Any]) -> str:
        """Add a constant; return its name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, output: str = "", **options: Any) -> str:
        """Add an operation; return the name of its output."""
        output = output or f"t{len(self.nodes) + 1}"
        name = f"{kind}{len(self.nodes) + 1}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=name, **options))
        return output

    def linear(self, states: str, part: str) -> str:
        """Add a linear part."""
        matrix = self.constant(f"{part}.weight", self._state[f"{part}.weight"].T)
        bias = self.constant(f"{part}.bias", self._state[f"{part}.bias"])
        return self.add("Add", self.add("MatMul", states, matrix), bias)

    def norm(self, states: str, part: str) -> str:
        """Add a layer norm."""
        both = [self.constant(f"{part}.{name}", self._state[f"{part}.{name}"]) for name in ("weight", "bias")]
        return self.add("LayerNormalization", states, *both, axis=-1, epsilon=EPSILON)


def build(state: Mapping[str, npt.NDArray[np.float32]], layers: int) -> onnx.ModelProto:
    """Return the model in float32."""
    graph = Graph(state)
    split = graph.constant("split", np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
    joined = graph.constant("joined", np.array([0, 0, WIDTH], np.int64))
    scale = graph.constant("scale", np.array((WIDTH // HEADS) ** -0.5, np.float32))

    def head(states: str, part: str, order: list[int]) -> str:
        return graph.add("Transpose", graph.add("Reshape", graph.linear(states, part), split), perm=order)

    states = graph.norm("embeds", "ln")
    for layer in range(layers):
        prefix = f"layers.{layer}."
        q, v = (head(states, prefix + part, [0, 2, 1, 3]) for part in "qv")
        k = head(states, prefix + "k", [0, 2, 3, 1])
        scores = graph.add("Add", graph.add("Mul", graph.add("MatMul", q, k), scale), "bias")
        seen = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), v)
        seen = graph.add("Reshape", graph.add("Transpose", seen, perm=[0, 2, 1, 3]), joined)
        states = graph.norm(graph.add("Add", states, graph.linear(seen, prefix + "ao")), prefix + "aln")
        inner = graph.add("Gelu", graph.linear(states, prefix + "fi"))
        states = graph.norm(graph.add("Add", states, graph.linear(inner, prefix + "fo")), prefix + "oln")
    graph.add("Identity", graph.linear(states, "head"), output="margins")
    shapes = {"embeds": ["b", "t", WIDTH], "bias": ["b", 1, 1, "t"], "margins": ["b", "t", 1]}
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    made = helper.make_graph(graph.nodes, "student", values[:2], values[2:], graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.checker.check_model(model)
    return model


def main(source: str, target: str) -> None:
    """Write the graph. Seven bits of eight: without VNNI, sums of products of eight overflow."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        onnx.save(build(*read_int8(Path(source))), whole)
        quantize_dynamic(
            whole, target, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul"],
        )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])

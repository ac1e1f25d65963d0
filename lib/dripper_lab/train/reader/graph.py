"""Builds the ONNX graph of the reader's encoder, with 8-bit matrices.

Input: `embeds`, (1, n_tokens, width), the sums of the embeddings of a window's tokens. Output:
`margins`, (1, n_tokens, 1).
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from dripper_labelers.reader.weights import Matrix

_OPSET, _IR_VERSION = 20, 10
"""The first opset with `Gelu`, and an IR version that ONNX Runtime 1.17 can read."""


class Graph:
    """Builds a graph, one operation at a time. Values are referred to by name."""

    def __init__(self, state: Mapping[str, Matrix], epsilon: float) -> None:
        self._state, self._epsilon = state, epsilon
        self.nodes, self.constants = list[onnx.NodeProto](), list[onnx.TensorProto]()

    def constant(self, name: str, value: npt.NDArray[Any]) -> str:
        """Add a constant, and return its name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, output: str = "", **options: Any) -> str:
        """Add an operation, and return the name of its output."""
        output = output or f"t{len(self.nodes) + 1}"
        name = f"{kind}{len(self.nodes) + 1}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=name, **options))
        return output

    def linear(self, states: str, part: str) -> str:
        """Add a linear layer, and return the name of its output."""
        matrix = self.constant(f"{part}.weight", self._state[f"{part}.weight"].T)
        bias = self.constant(f"{part}.bias", self._state[f"{part}.bias"])
        return self.add("Add", self.add("MatMul", states, matrix), bias)

    def norm(self, states: str, part: str) -> str:
        """Add a layer norm, and return the name of its output."""
        both = [self.constant(f"{part}.{name}", self._state[f"{part}.{name}"]) for name in ("weight", "bias")]
        return self.add("LayerNormalization", states, *both, axis=-1, epsilon=self._epsilon)


def build(state: Mapping[str, Matrix], heads: int, epsilon: float) -> onnx.ModelProto:
    """Return the graph in float32.

    Args:
        state: The trained weights of the network, keyed by name.
        heads: The number of attention heads.
        epsilon: The epsilon of the layer norms.
    """
    graph, width = Graph(state, epsilon), len(state["ln.bias"])
    split = graph.constant("split", np.array([0, 0, heads, width // heads], np.int64))
    joined = graph.constant("joined", np.array([0, 0, width], np.int64))
    scale = graph.constant("scale", np.array((width // heads) ** -0.5, np.float32))

    def head(states: str, part: str, order: list[int]) -> str:
        return graph.add("Transpose", graph.add("Reshape", graph.linear(states, part), split), perm=order)

    states = graph.norm("embeds", "ln")
    for layer in range(1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))):
        prefix = f"layers.{layer}."
        q, v = (head(states, prefix + part, [0, 2, 1, 3]) for part in "qv")
        k = head(states, prefix + "k", [0, 2, 3, 1])
        scores = graph.add("Mul", graph.add("MatMul", q, k), scale)
        seen = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), v)
        seen = graph.add("Reshape", graph.add("Transpose", seen, perm=[0, 2, 1, 3]), joined)
        states = graph.norm(graph.add("Add", states, graph.linear(seen, prefix + "ao")), prefix + "aln")
        inner = graph.add("Gelu", graph.linear(states, prefix + "fi"))
        states = graph.norm(graph.add("Add", states, graph.linear(inner, prefix + "fo")), prefix + "oln")
    graph.add("Identity", graph.linear(states, "head"), output="margins")
    shapes = {"embeds": [1, "t", width], "margins": [1, "t", 1]}
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    made = helper.make_graph(graph.nodes, "reader", values[:1], values[1:], graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)
    onnx.checker.check_model(model)
    return model


def write_graph(model: onnx.ModelProto, target: Path) -> None:
    """Write a graph with 8-bit matrices that use only 7 bits. On CPUs without VNNI, sums of
    products of 8-bit values would overflow."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        onnx.save(model, whole)
        quantize_dynamic(
            whole, target, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul"],
        )  # fmt: skip

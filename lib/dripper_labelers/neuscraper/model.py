"""Defines the networks. Importing this module imports PyTorch."""

import math
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig, AutoModel

from dripper.errors import MachineError
from dripper_labelers.neuscraper.checkpoint import Shape

WEIGHTS = "model.safetensors"
_models: Any = AutoModel  # Not typed.


class NodeEncoder(nn.Module):  # type: ignore[misc]
    """Converts the tokens of nodes to vectors, using the first layer of a language model (equation
    1 of the paper)."""

    def __init__(self, first_layer: Any, pooling: str) -> None:
        """`first_layer` is a transformers model that returns `last_hidden_state`."""
        super().__init__()
        self.first_layer, self.pooling = first_layer, pooling

    def forward(self, ids: Any, inside: Any) -> Any:
        """Return the vectors of nodes, (n_nodes, hidden).

        Args:
            ids: The token IDs, (n_nodes, n_tokens).
            inside: The attention mask, (n_nodes, n_tokens), 0 for padding.
        """
        states = self.first_layer(input_ids=ids, attention_mask=inside).last_hidden_state
        if self.pooling == "first":
            return states[:, 0]
        weight = inside.unsqueeze(-1).to(states.dtype)
        return (states * weight).sum(1) / weight.sum(1).clamp(min=1)


class NodeClassifier(nn.Module):  # type: ignore[misc]
    """Converts the vectors of a chunk's nodes to logits (equations 2 and 3 of the paper). The first
    logit is for main."""

    def __init__(self, hidden: int, shape: Shape) -> None:
        super().__init__()
        self.project = nn.Linear(hidden, shape.width)
        # No dropout: in attention, dropout makes training steps several times slower on a CPU.
        layer = nn.TransformerEncoderLayer(
            shape.width, shape.heads, shape.inner, 0.0, "gelu", batch_first=True, layer_norm_eps=1e-12
        )
        self.encoder = nn.TransformerEncoder(layer, shape.layers, enable_nested_tensor=False)
        self.head = nn.Linear(shape.width, shape.outputs)
        places = compute_sinusoids(shape.context_nodes, shape.width)
        if shape.positions == "pairs":
            places = places.repeat_interleave(2, dim=0)[: shape.context_nodes]
        self.register_buffer("places", places, persistent=False)

    def forward(self, vectors: Any, beyond: Any) -> Any:
        """Return logits, (n_chunks, n_nodes, n_outputs).

        Args:
            vectors: The vectors of nodes, (n_chunks, n_nodes, hidden).
            beyond: The padding mask, (n_chunks, n_nodes), true for padding.
        """
        nodes = self.project(vectors) + self.places[: vectors.shape[1]]
        return self.head(self.encoder(nodes, src_key_padding_mask=beyond))


def compute_sinusoids(length: int, width: int) -> Any:
    """Return fixed sinusoidal position vectors (Vaswani et al. 2017), (length, width)."""
    places = torch.arange(length).unsqueeze(1)
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    table = torch.zeros(length, width)
    table[:, 0::2], table[:, 1::2] = torch.sin(places * rates), torch.cos(places * rates)
    return table


class NeuScraper(nn.Module):  # type: ignore[misc]
    """Combines the node encoder and the classifier."""

    def __init__(self, nodes: NodeEncoder, shape: Shape) -> None:
        super().__init__()
        self.nodes = nodes
        self.classifier = NodeClassifier(nodes.first_layer.config.hidden_size, shape)


def load_model(folder: Path, shape: Shape) -> NeuScraper:
    """Load the networks of a checkpoint. Raises MachineError if the folder contains no such
    checkpoint."""
    from safetensors.torch import load_file

    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        model = NeuScraper(NodeEncoder(_models.from_config(config, **_no_pooler(config)), shape.pooling), shape)
        model.load_state_dict(load_file(folder / WEIGHTS))
    except Exception as error:  # Several packages can fail here, for example because of damaged weights.
        raise MachineError(
            f"{folder} is not a checkpoint of the labeler neuscraper: {str(error).splitlines()[0]}"
        ) from None
    model.eval()
    return model


def load_base(folder: Path, shape: Shape) -> NeuScraper:
    """Create networks for training. The node encoder is the first layer of a pretrained model, and
    all other weights are random. Raises MachineError if the model lacks `encoder.layer`. BERT and
    XLM-RoBERTa have it."""
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        base = _models.from_pretrained(folder, config=config, local_files_only=True, **_no_pooler(config))
    except (OSError, ValueError) as error:
        raise MachineError(f"{folder} is not a pretrained model: {str(error).splitlines()[0]}") from None
    if not hasattr(getattr(base, "encoder", None), "layer"):
        raise MachineError(f"{type(base).__name__} in {folder} has no encoder.layer, as BERT and XLM-RoBERTa have")
    base.encoder.layer = base.encoder.layer[:1]
    base.config.num_hidden_layers = 1
    return NeuScraper(NodeEncoder(base, shape.pooling), shape)


def save_model(model: NeuScraper, shape: Shape, tokenizer: Any, folder: Path) -> None:
    """Write a checkpoint."""
    from safetensors.torch import save_file

    model.nodes.first_layer.config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    shape.save(folder)
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, folder / WEIGHTS)


def _no_pooler(config: Any) -> dict[str, bool]:
    """Return the option that disables the pooling layer, for models that have one."""
    return {"add_pooling_layer": False} if config.model_type in ("bert", "roberta", "xlm-roberta") else {}

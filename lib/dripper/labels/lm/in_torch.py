"""Implements the decoder `parallel` in PyTorch, with the model's own code in transformers. Meant
for machines without vLLM, or with a driver that is too old for vLLM's kernels.

The model reads rows of tokens (`row_model`). A page's second pass starts at the first changed
label, and the instruction at the beginning of all prompts is read only once.
"""

import logging
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from dripper.errors import MachineError
from dripper.extras import needed
from dripper.labels.arrays import FloatArray
from dripper.labels.lm.decoder import DecodedLabels
from dripper.labels.lm.encoder import PageEncoder
from dripper.labels.lm.engine import weights
from dripper.labels.lm.form_check import FormCheck
from dripper.labels.lm.parallel import Draft, ParallelDecoder, Reading, check_form
from dripper.labels.lm.row_model import Piece, RowModel
from dripper.labels.lm.settings import LmSettings
from dripper.labels.torch_device import choose_device

log = logging.getLogger(__name__)


class TorchDecoder(ParallelDecoder):
    """A parallel decoder that runs a `RowModel`; see the module."""

    @classmethod
    def start(cls, encoder: PageEncoder, settings: LmSettings) -> "TorchDecoder":
        """Return the decoder with its model loaded.

        Raises:
            MachineError: If PyTorch, transformers, a GPU or memory is missing, or the checkpoint
                cannot run in rows.
        """
        with needed("labels.lm.engine=transformers", "lm,encoder"):
            import torch  # noqa: F401
            import transformers  # noqa: F401
        device = choose_device(settings.device, "labels.lm.device")
        dtype = settings.dtype if settings.dtype != "auto" else {"cuda": "bfloat16", "cpu": "float32"}[device]
        check = FormCheck.of(encoder)
        tokens = (encoder.templates.main, encoder.templates.other, *check.tokens)
        model = RowModel.load(weights(encoder, settings), tokens, device, dtype)
        model.make_room(settings.gpu_memory_share)
        prefix = encoder.tokenizer.prompt_ids(encoder.prompt.text(""))
        room = model.cache.tokens - len(prefix)
        if room < encoder.context and settings.context_tokens:
            raise MachineError(
                f"labels.lm.context_tokens={settings.context_tokens}: on this {device} there is memory for {room} tokens: "
                "lower it, or see labels.lm.gpu_memory_share"
            )
        if room < encoder.context:
            log.warning("%s: windows of %d tokens, for which there is memory", encoder.checkpoint.version, room)
        encoder.limit_context(room)
        made = cls(model, encoder.templates, room, check)
        made.read_prefix(prefix)
        log.info("transformers serves %s on %s in %s", encoder.checkpoint.version, device, dtype)
        return made

    def read_prefix(self, prefix: Sequence[int]) -> None:
        """Read the common beginning of all prompts, and keep its keys and values."""
        self._prefix = prefix
        self._engine.logits([Piece(0, 0, np.array(prefix, np.int64), np.arange(1))])

    def close(self) -> None:
        """Release the model and its memory."""
        import torch

        self._engine = None
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _decode_together(self, readings: Sequence[Reading]) -> list[DecodedLabels]:
        slots = accumulate((reading.length for reading in readings), initial=len(self._prefix))
        for reading, slot in zip(readings, slots, strict=False):
            reading.slot = slot
            self._engine.cache.copy(self._count_shared(reading), slot)
        return super()._decode_together(readings)

    def _margins(self, readings: Sequence[Reading], drafts: Sequence[Draft]) -> list[FloatArray]:
        check = self.form_check
        checked = max((rival.at for rival in check.rivals), default=0) + 1 if check is not None and check.wants else 0
        pieces = [
            self._piece(reading, draft, checked if not reading.passes else 0)
            for reading, draft in zip(readings, drafts, strict=True)
        ]
        found = list[FloatArray]()
        for reading, draft, piece, logits in zip(readings, drafts, pieces, self._engine.logits(pieces), strict=True):
            if check is not None and checked and not reading.passes:
                first = len(reading.job.prompt_ids) - 1
                check_form(check, logits[np.searchsorted(piece.wanted, first + np.arange(checked))])
            labels = logits[np.searchsorted(piece.wanted, reading.open(draft))]
            found.append(labels[:, 0] - labels[:, 1])
            reading.passes += 1
            reading.tokens += len(piece.ids)
        return found

    def _count_shared(self, reading: Reading) -> int:
        # The prompt's last token is always read, because logits are needed from this token on.
        return min(len(reading.job.prompt_ids) - 1, count_shared(reading.job.prompt_ids, self._prefix))

    def _piece(self, reading: Reading, draft: Draft, checked: int) -> Piece:
        """Return the piece of a page to read. It begins at the first label that changed in the last
        pass or, in the first pass, after the prefix.

        Args:
            checked: The number of positions, from the prompt's last token on, that are wanted in
                addition to the labels' positions.
        """
        ids = np.array(reading.ids(self._templates.labels(draft.main)), np.int64)
        last = len(reading.job.prompt_ids) - 1
        changed = int(reading.template.holes[draft.settled - 1])
        first = last + 1 + changed if draft.settled else self._count_shared(reading)
        wanted = np.union1d(reading.open(draft), last + np.arange(checked))
        return Piece(reading.slot, first, ids[first:], wanted[wanted < len(ids)])


def count_shared(ids: Sequence[int], prefix: Sequence[int]) -> int:
    """Return the length of the longest common prefix of two token sequences.

    >>> count_shared([4, 5, 6], [4, 5, 7, 8])
    2
    """
    return next(
        (at for at, (one, two) in enumerate(zip(ids, prefix, strict=False)) if one != two), min(len(ids), len(prefix))
    )

"""Computes the loss of a training step: weighted cross-entropy at the separators, and the distance
to a teacher (Pulpie: "Teaching a teacher", "Distilling")."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dripper.errors import InputError
from dripper.labels.arrays import FloatArray
from dripper_lab.train.encoder.base import Recipe
from dripper_lab.train.encoder.examples import Example
from dripper_labelers.encoder.reading import Reading
from dripper_labelers.encoder.sequence import Chunk

Drawn = tuple[Example, Chunk]


@dataclass(frozen=True, slots=True)
class Objective:
    """The loss function of a training run."""

    recipe: Recipe
    of_class: tuple[float, float] = (1.0, 1.0)
    """The weights of a block labeled other and of a block labeled main."""
    teacher: Any = None
    """A larger model that reads the same tokens, or None."""

    @classmethod
    def of(cls, recipe: Recipe, examples: Sequence[Example], teacher: Any = None) -> "Objective":
        """Create the loss function for training on `examples`."""
        by_class = "class" in recipe.weighting
        return cls(recipe, class_weights(examples) if by_class else (1.0, 1.0), teacher)

    def loss(self, model: Any, batch: Sequence[Drawn]) -> Any:
        """Return the weighted mean loss over the blocks of a batch."""
        import torch

        functional = torch.nn.functional
        *tokens, where = pack(batch, int(model.config.pad_token_id or 0))
        ids, inside = (each.to(model.device) for each in tokens)
        main = torch.tensor([bool(each) for page, part in batch for each in page.truth.main[part.start : part.end]])
        weights = torch.tensor(np.concatenate([self.weights_of(page, part) for page, part in batch]))
        logits = self._logits(model, ids, inside, where)
        main, weights = main.to(model.device), weights.to(model.device)
        losses = functional.cross_entropy(logits, main.long(), reduction="none")
        if self.teacher is not None:
            heat, share = self.recipe.temperature, self.recipe.distil_share
            with torch.no_grad():
                teacher_log = functional.log_softmax(self._logits(self.teacher, ids, inside, where) / heat, 1)
            own_log = functional.log_softmax(logits / heat, 1)
            gap = functional.kl_div(own_log, teacher_log, reduction="none", log_target=True).sum(1)
            # The distance is multiplied by the squared temperature (Hinton et al.), because
            # softening shrinks gradients by this factor.
            losses = share * heat**2 * gap + (1 - share) * losses
        return (losses * weights).sum() / weights.sum()

    def weights_of(self, example: Example, chunk: Chunk) -> FloatArray:
        """Return the weight of each block in a chunk, (end - start,)."""
        part = slice(chunk.start, chunk.end)
        weights = np.array(self.of_class)[example.truth.main[part].astype(np.int64)]
        if "words" in self.recipe.weighting:
            weights = weights * np.sqrt(example.truth.words[part] + float(self.recipe.edge_words))
        return np.asarray(weights)

    def _logits(self, model: Any, ids: Any, inside: Any, where: tuple[list[int], list[int]]) -> Any:
        import torch

        with torch.autocast(model.device.type, torch.bfloat16, enabled=self.recipe.bfloat16):
            return model(input_ids=ids, attention_mask=inside).logits[where].float()


def class_weights(examples: Sequence[Example]) -> tuple[float, float]:
    """Return the weight per block of each class. Both classes have the same total weight, and the
    mean weight is 1."""
    main = np.concatenate([example.truth.main for example in examples])
    share = min(max(float(main.mean()), 1 / (len(main) + 1)), 1 - 1 / (len(main) + 1))
    return 0.5 / (1 - share), 0.5 / share


def pack(batch: Sequence[Drawn], padding: int) -> tuple[Any, Any, tuple[list[int], list[int]]]:
    """Return the token IDs and the mask of tokens other than padding, both (n_chunks, longest), and
    the rows and columns of the separators."""
    import torch

    longest = max(len(chunk.ids) for _, chunk in batch)
    ids = torch.full((len(batch), longest), padding)
    inside = torch.zeros((len(batch), longest), dtype=torch.int64)
    rows, places = list[int](), list[int]()
    for row, (_, chunk) in enumerate(batch):
        ids[row, : len(chunk.ids)] = torch.tensor(chunk.ids)
        inside[row, : len(chunk.ids)] = 1
        rows += [row] * len(chunk.separators)
        places += chunk.separators
    return ids, inside, (rows, places)


def load_teacher(folder: Path, tokenizer: Any, reading: Reading) -> Any:
    """Load the model of a checkpoint that an earlier run wrote.

    Args:
        tokenizer: The student's tokenizer.
        reading: The way in which the student reads pages.

    Raises:
        InputError: The folder contains no checkpoint, or the checkpoint reads pages in another way.
    """
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    try:
        teacher = AutoModelForTokenClassification.from_pretrained(folder, local_files_only=True)
        vocabulary = AutoTokenizer.from_pretrained(folder, local_files_only=True).get_vocab()
    except (OSError, ValueError) as error:
        raise InputError(f"--teacher {folder} is no checkpoint: {str(error).splitlines()[0]}") from None
    teacher_reading = Reading.load(folder)
    if (reading.form, reading.block_tokens) != (
        teacher_reading.form,
        teacher_reading.block_tokens,
    ) or vocabulary != tokenizer.get_vocab():
        raise InputError(
            f"--teacher {folder} reads other tokens than the student: both need the same tokenizer and --block-tokens"
        )
    if teacher.config.max_position_embeddings < reading.context_tokens:
        raise InputError(f"--teacher {folder} has too few positions for --context-tokens {reading.context_tokens}")
    return teacher.eval()

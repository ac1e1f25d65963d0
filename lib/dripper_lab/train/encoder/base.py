"""Prepares a pretrained encoder for training: tokenizer with separator and markers, a new last
layer, all arguments in one recipe.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dripper.errors import InputError
from dripper.extras import needed
from dripper_labelers.encoder.reading import PULPIE_SEPARATOR, Reading
from dripper_labelers.encoder.sequence import MARKERS, Sequencer

WEIGHTINGS = ("words", "class", "words+class", "none")


@dataclass(frozen=True, slots=True)
class Recipe:
    """Chosen for an hour of one CPU core."""

    layers: int = 6
    """Number of layers: the lower ones of the base model."""
    context_tokens: int = 512
    block_tokens: int = 24
    overlap_blocks: int = 8
    chunks_a_page: int = 2
    """Chunks of a page an epoch, at random places."""
    epochs: int = 1
    batch_chunks: int = 8
    learning_rate: float = 3e-4
    warmup: float = 0.06
    """Share of the steps in which the learning rate rises; then it falls to 0 in a line."""
    weight_decay: float = 0.01
    balance: float = 0.5
    """0: every page comes once an epoch; 1: every kind of page as often as any other; between: see
    `dripper_lab.train.recipe`."""
    weighting: str = "words"
    """Weight of a block in the loss: `words`, by its words; `class`, so that main and other weigh
    the same in all, as Pulpie's; `words+class`; `none`."""
    edge_words: int = 4
    """Words that are added before the square root of them is taken."""
    distil_share: float = 0.7
    """Share of the loss, with a teacher, that is the distance of the student's outputs from its;
    Pulpie's."""
    temperature: float = 2.0
    """Temperature by which both outputs are softened before that; Pulpie's."""
    bfloat16: bool = True
    """Matrix products in half precision, sums and weights in full."""
    seed: int = 0


def base_model(folder: Path, recipe: Recipe) -> tuple[Any, Any, Sequencer]:
    """Return the model, the tokenizer, and the sequencer that makes tokens of pages.

    Args:
        folder: A pretrained BERT-like checkpoint with its tokenizer, or the checkpoint of an
            earlier run, to train further.

    Raises:
        InputError: If it is no checkpoint, or has too few layers or positions.
    """
    with needed("training the labeler encoder", "encoder"):
        import torch
        from transformers import AutoModelForTokenClassification, AutoTokenizer
    if not folder.is_dir():
        raise InputError(f"--base {folder}: there is no such folder")
    torch.manual_seed(recipe.seed)
    # Nothing is dropped: dropout in attention makes a step two and a half times as slow on a CPU,
    # and one epoch does not overfit.
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForTokenClassification.from_pretrained(
            folder, id2label={0: "other", 1: "main"}, label2id={"other": 0, "main": 1}, local_files_only=True,
            attn_implementation="sdpa", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise InputError(f"{folder} is no pretrained encoder: {str(error).splitlines()[0]}") from None
    layers = model.config.num_hidden_layers
    if not 1 <= recipe.layers <= layers or recipe.context_tokens > model.config.max_position_embeddings:
        raise InputError(
            f"{folder} has {layers} layers and {model.config.max_position_embeddings} positions: too few for {recipe.layers} "
            f"and {recipe.context_tokens}"
        )
    _keep_layers(model, recipe.layers)
    lacking = [token for token in (PULPIE_SEPARATOR, *MARKERS) if token not in tokenizer.get_vocab()]
    if lacking:
        tokenizer.add_special_tokens({"additional_special_tokens": lacking})
        model.resize_token_embeddings(len(tokenizer))
    if PULPIE_SEPARATOR in lacking:
        with torch.no_grad():
            # The model knows its own separator of sentences: a better start than a random one.
            vectors = model.get_input_embeddings().weight
            vectors[tokenizer.convert_tokens_to_ids(PULPIE_SEPARATOR)] = vectors[tokenizer.sep_token_id]
    reading = replace(
        Reading(), form="outline", block_tokens=recipe.block_tokens, context_tokens=recipe.context_tokens,
        overlap_blocks=recipe.overlap_blocks,
    )  # fmt: skip
    return model, tokenizer, Sequencer(tokenizer, reading, recipe.context_tokens)


def _keep_layers(model: Any, layers: int) -> None:
    encoder = model.base_model.encoder
    encoder.layer = encoder.layer[:layers]
    model.config.num_hidden_layers = layers

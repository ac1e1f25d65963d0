"""Prepares a pretrained encoder for training: a tokenizer with separator and markers, a new last
layer, and a recipe with all hyperparameters."""

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
    """The hyperparameters. The defaults were chosen for one hour of training on one CPU core."""

    layers: int = 6
    """The number of layers to keep. The base model's upper layers are removed."""
    context_tokens: int = 512
    block_tokens: int = 24
    overlap_blocks: int = 8
    chunks_a_page: int = 2
    """The number of chunks per page and epoch, at random positions."""
    epochs: int = 1
    batch_chunks: int = 8
    learning_rate: float = 3e-4
    warmup: float = 0.06
    """The fraction of steps during which the learning rate rises. Afterwards, it falls linearly to
    0."""
    weight_decay: float = 0.01
    balance: float = 0.5
    """Balance between kinds of pages. 0: each page occurs once per epoch. 1: each kind of page is
    equally frequent. For values in between, see `dripper_lab.train.recipe`."""
    weighting: str = "words"
    """The weight of a block in the loss. `words`: by its number of words. `class`: main and other
    have the same total weight, as in Pulpie. `words+class`: both. `none`: equal weights."""
    edge_words: int = 4
    """A number that is added to a block's number of words. The block's weight is the square root of
    the sum."""
    distil_share: float = 0.7
    """If there is a teacher, the fraction of the loss that measures the distance between the
    outputs of student and teacher, as in Pulpie."""
    temperature: float = 2.0
    """The softmax temperature for both outputs in the distance between student and teacher, as in
    Pulpie."""
    bfloat16: bool = True
    """Use half precision for matrix products, and full precision for sums and weights."""
    seed: int = 0


def base_model(folder: Path, recipe: Recipe) -> tuple[Any, Any, Sequencer]:
    """Return the model, the tokenizer, and the sequencer that converts pages to tokens.

    Args:
        folder: A pretrained BERT-like checkpoint with its tokenizer, or a checkpoint of an earlier
            run to train further.

    Raises:
        InputError: The folder contains no checkpoint, or the checkpoint has too few layers or
            positions.
    """
    with needed("training the labeler encoder", "encoder"):
        import torch
        from transformers import AutoModelForTokenClassification, AutoTokenizer
    if not folder.is_dir():
        raise InputError(f"--base {folder}: there is no such folder")
    torch.manual_seed(recipe.seed)
    # No dropout: in attention, it makes a step two and a half times as slow on a CPU, and one epoch
    # does not overfit.
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
            # The new separator starts as a copy of the model's sentence separator, because a known
            # token is a better start than random values.
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

"""Creates a new tokenizer and a Qwen3 model with random weights, and defines the
hyperparameters."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dripper.extras import needed
from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.settings import LmSettings

ANSWER = "compact"
PROFILE = "dripper"
"""The `cpu` labeler reads this profile, too, so both labelers can be in one chain."""
PROMPT_FILE = "prompt.txt"

_END, _PADDING, _USER, _ASSISTANT = "<|im_end|>", "<|endoftext|>", "<|user|>", "<|assistant|>"
# Numbers of up to three digits are one token, so that a block's number in the answer is the same
# token as on the page.
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_CHAT = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}"
    "{% if message['role'] == 'assistant' %}<|im_end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
_NUMBERS, _NUMBER_TIMES = 400, 200
"""The number of blocks in each answer that the tokenizer is trained on, and the number of these
answers."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The hyperparameters. With the defaults, training takes some minutes on one CPU core. The
    model has 5.8 million weights, and each token uses 1.7 million of them."""

    vocabulary: int = 16_000
    layers: int = 3
    width: int = 256
    inner: int = 384
    """Width of the feed-forward part."""
    heads: int = 8
    context_tokens: int = 512
    windows_a_page: int = 2
    """Maximum number of windows per page, drawn at random. Each window is seen once."""
    batch_windows: int = 4
    learning_rate: float = 1e-3
    warmup_steps: int = 60
    weight_decay: float = 0.05
    form_weight: float = 0.2
    """The weight, in the loss, of answer tokens other than labels. Labels have weight 1."""
    block_weight: float = 0.5
    """The weight, in the loss, of predicting a block's label at the end of the block itself. The
    answer then only has to find the label there."""
    averaged_steps: int = 150
    """Saved weights are a mean over about this many last steps, or over the last quarter of all
    steps so far, whichever is fewer. The learning rate does not fall, so each checkpoint is like a
    complete training on its number of pages."""
    bfloat16: bool = False
    """Whether matrix products on a CPU are in half precision. On a GPU, they always are."""
    seed: int = 0


def labeler_options(folder: Path, recipe: Recipe) -> dict[str, object]:
    """Return the settings `labels.lm` with which a checkpoint reads pages as in its training."""
    return {
        "model": str(folder),
        "prompt": str(folder / PROMPT_FILE),
        "answer": ANSWER,
        "chat": "once",
        "context_tokens": recipe.context_tokens,
        "dtype": "float32",
    }


def labeler_settings(folder: Path, recipe: Recipe) -> LmSettings:
    """Return `labeler_options` as a settings object."""
    return LmSettings.model_validate(labeler_options(folder, recipe))


def make_base(texts: Iterable[str], folder: Path, recipe: Recipe) -> Any:
    """Write a tokenizer, a prompt and a random model to a folder. Return the model.

    Args:
        texts: Simplified HTML of pages, on which the tokenizer is trained.
    """
    with needed("training the labeler lm", "encoder"):
        import torch
        import transformers
    folder.mkdir(parents=True, exist_ok=True)
    size = _make_tokenizer(texts, folder, recipe)
    (folder / PROMPT_FILE).write_text("{html}", encoding="utf-8")
    torch.manual_seed(recipe.seed)
    # transformers has no type annotations for these classes.
    library: Any = transformers
    config = library.Qwen3Config(
        vocab_size=size, hidden_size=recipe.width, intermediate_size=recipe.inner, num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads, num_key_value_heads=recipe.heads, head_dim=recipe.width // recipe.heads,
        max_position_embeddings=4 * recipe.context_tokens, tie_word_embeddings=True, dtype="float32",
        eos_token_id=0, pad_token_id=1, bos_token_id=None,
    )  # fmt: skip
    model = library.Qwen3ForCausalLM(config).float()
    with torch.no_grad():
        for layer in model.model.layers:
            # If queries equal keys, a token attends to other occurrences of itself. This helps to
            # find a block's number again.
            layer.self_attn.k_proj.weight.copy_(layer.self_attn.q_proj.weight)
    model.save_pretrained(folder)
    return model


def _make_tokenizer(texts: Iterable[str], folder: Path, recipe: Recipe) -> int:
    """Write a byte-level BPE tokenizer, and return its number of tokens."""
    import transformers
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_WORDS), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=recipe.vocabulary, special_tokens=[_END, _PADDING, _USER, _ASSISTANT], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    tokenizer.train_from_iterator(itertools.chain(_answers(), texts), trainer)
    library: Any = transformers
    wrapped = library.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=_END, pad_token=_PADDING, additional_special_tokens=[_USER, _ASSISTANT],
        clean_up_tokenization_spaces=False,
    )  # fmt: skip
    wrapped.chat_template = _CHAT
    wrapped.save_pretrained(folder)
    return int(tokenizer.get_vocab_size())


def _answers() -> Iterator[str]:
    draw = np.random.default_rng(0)
    for _ in range(_NUMBER_TIMES):
        yield FORMS[ANSWER].text((draw.random(_NUMBERS) < 0.5).tolist())

"""Applies the checkpoint's tokenizer and chat template. Runs on CPU machines without vLLM."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dripper.errors import MachineError
from dripper.labels.lm.settings import import_extra

VOCABULARIES = ("tokenizer.json", "tokenizer.model", "vocab.*", "*.tiktoken")
# MinerU-HTML 1.1 prepends this message when it applies the template for the second time.
SYSTEM_MESSAGE = "You are a helpful assistant."

_REFERENCES = {"<": "&lt;"}
"""Named references for characters. The text of a page already has `<` in this form."""
_ORDINARY = re.compile(r"[\w\s]*")
"""Words and runs of spaces. They are common on pages, and are not markers even if a vocabulary has
them as added tokens."""


class ChatTokenizer:
    """A tokenizer with a chat template.

    chat: how often the chat template is applied to a prompt: `none`, `once` or `twice`. MinerU-HTML
    1.1 applies it twice: `process` wraps the prompt without a generation prompt, and `generate`
    wraps the result again after a system message.
    """

    def __init__(self, tokenizer: Any, chat: str) -> None:
        """tokenizer: a transformers tokenizer. Raises MachineError if it has no chat template and
        `chat` needs one."""
        if chat != "none" and not tokenizer.chat_template:
            raise MachineError("the model's tokenizer has no chat template: set labels.lm.chat=none")
        self._tokenizer = tokenizer
        self._chat = chat
        self._specials = _specials(tokenizer)

    @classmethod
    def load(cls, folder: Path, chat: str) -> "ChatTokenizer":
        """Return the tokenizer in a checkpoint's folder. Raises MachineError if there is no
        tokenizer."""
        transformers = import_extra("transformers")
        # For a folder without a tokenizer, transformers silently creates an empty one.
        if not any(file for pattern in VOCABULARIES for file in folder.glob(pattern)):
            raise MachineError(f"{folder} has no tokenizer: none of {', '.join(VOCABULARIES)}")
        try:
            return cls(transformers.AutoTokenizer.from_pretrained(folder), chat)
        except (OSError, ValueError, ImportError) as error:
            raise MachineError(f"{folder} has no tokenizer that can be read: {str(error).splitlines()[0]}") from None

    def encode(self, text: str) -> list[int]:
        """Return the token ids of `text`, without added special tokens."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False)
        return ids

    def count(self, text: str) -> int:
        """Return the number of tokens in `text`."""
        return len(self.encode(text))

    def token(self, token_id: int) -> str:
        """Return the text of a token, as written in the vocabulary."""
        return str(self._tokenizer.convert_ids_to_tokens(token_id))

    def prompt_ids(self, prompt: str) -> list[int]:
        """Apply the chat template to a prompt, and return the tokens up to the beginning of the
        answer."""
        text = prompt
        if self._chat == "twice":
            text = self._apply_template([{"role": "user", "content": text}], generate=False)
        if self._chat != "none":
            system = [{"role": "system", "content": SYSTEM_MESSAGE}] if self._chat == "twice" else []
            text = self._apply_template([*system, {"role": "user", "content": text}], generate=True)
        # A template writes the special tokens itself. For `twice`, they are added again, because
        # the published code of MinerU-HTML 1.1 lets vLLM add them.
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=self._chat != "once")
        return ids

    def without_specials(self, html: str) -> str:
        """Return HTML without the model's special tokens. Otherwise, a page could end the prompt,
        for example by a class named `<|im_end|>` or the text `[/INST]`.

        The first character of such a token is replaced by its HTML character reference, so that the
        page's meaning does not change.
        """
        for token in self._specials:
            if token in html:
                html = html.replace(token, f"{_REFERENCES.get(token[0]) or f'&#{ord(token[0])};'}{token[1:]}")
        return html

    def _apply_template(self, messages: Sequence[dict[str, str]], *, generate: bool) -> str:
        return str(
            self._tokenizer.apply_chat_template(
                list(messages), tokenize=False, add_generation_prompt=generate, enable_thinking=False
            )
        )


def _specials(tokenizer: Any) -> list[str]:
    """Return the tokens that page text must not contain: the tokenizer's special tokens, and
    markers that were added to its vocabulary. Longer tokens come first, because one token may be
    the end of another."""
    special = {token.content for token in tokenizer.added_tokens_decoder.values() if token.special}
    special |= set(tokenizer.all_special_tokens)
    marks = {token for token in tokenizer.get_added_vocab() if not _ORDINARY.fullmatch(token)}
    return sorted(filter(None, special | marks), key=lambda token: (-len(token), token))

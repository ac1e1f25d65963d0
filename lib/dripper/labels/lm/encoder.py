"""Turns a simplified page into the model's input: resolves settings, cuts windows, and tokenizes
prompts. Does not need vLLM."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from dripper.errors import SettingsError
from dripper.labels.base import SimplifiedPage
from dripper.labels.lm.answer import FORMS
from dripper.labels.lm.checkpoint import Checkpoint, find_checkpoint
from dripper.labels.lm.prompt import PUBLIC, Prompt, find_prompt, prompt_folder
from dripper.labels.lm.settings import LmSettings
from dripper.labels.lm.template import Templates
from dripper.labels.lm.tokenizer import ChatTokenizer
from dripper.labels.lm.windows import PageWindow, cut_windows

# Spare tokens for the end of the answer, and for tokens that merge or split at the boundary of
# prompt and page.
SPARE_TOKENS = 8
# While a window grows block by block, the answer's length is needed for each number of blocks. To
# save work, the number of blocks is rounded up to a multiple of this value.
ANSWER_STEP = 16

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """One window for a decoder: the tokens up to the beginning of the answer, and the number of
    blocks (>= 1)."""

    prompt_ids: Sequence[int]
    n_blocks: int
    draft: Sequence[bool] | None = None
    """Initial labels, as in SimplifiedPage."""


class PageEncoder:
    """The part of the `lm` labeler that does not need the model's weights.

    context: maximum tokens of prompt and answer together. version: checkpoint, prompt and answer
    form, for the output tables.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        tokenizer: ChatTokenizer,
        prompt: Prompt,
        templates: Templates,
        settings: LmSettings,
    ) -> None:
        """Raises SettingsError if the prompt and the answer for one block do not fit the
        context."""
        self.checkpoint = checkpoint
        self.tokenizer = tokenizer
        self.prompt = prompt
        self.templates = templates
        self.context = min(checkpoint.context, settings.context_tokens or checkpoint.training.context)
        self._prompt_tokens = len(tokenizer.prompt_ids(prompt.text("")))
        self._answer_tokens = lru_cache(maxsize=1024)(self._count_answer)
        self.limit_context(self.context)

    @classmethod
    def load(cls, settings: LmSettings) -> "PageEncoder":
        """Return the encoder for a checkpoint. Raises SettingsError or MachineError. The message
        includes a remedy."""
        checkpoint = find_checkpoint(settings.model)
        training = checkpoint.training
        prompt_name = training.prompt if settings.prompt == "auto" else settings.prompt
        answer: str = settings.answer
        if answer == "auto":
            public = None if settings.prompt == "auto" else PUBLIC.get(prompt_name)
            answer = public.answer if public is not None else training.answer
        prompt = find_prompt(prompt_name, answer, prompt_folder(settings.prompt_folder))
        chat = training.chat if settings.chat == "auto" else settings.chat
        tokenizer = ChatTokenizer.load(checkpoint.folder, chat)
        templates = Templates(FORMS[answer], tokenizer.encode, checkpoint.name)
        if prompt.name == "own" and settings.prompt == "auto":
            log.warning(
                "%s is not known by name as a public Dripper model and gets our own prompt; if it is MinerU-HTML 1.1, set "
                "labels.lm.prompt=short_compact, labels.lm.answer=tagged and labels.lm.chat=twice",
                checkpoint.name,
            )
        log.info("%s: prompt %s, answer %s, chat template %s", checkpoint.version, prompt.version, answer, chat)
        return cls(checkpoint, tokenizer, prompt, templates, settings)

    @property
    def version(self) -> str:
        """The checkpoint with its fingerprint, the prompt with its hash, and the answer form."""
        return f"{self.checkpoint.version}/{self.prompt.version}/{self.templates.form.name}"

    def limit_context(self, tokens: int) -> None:
        """Limit windows to the number of tokens that an engine can hold. Raises SettingsError if
        the prompt and the answer for one block do not fit."""
        self.context = min(self.context, tokens)
        if self._budget(1) < 1:
            raise SettingsError(
                f"the prompt takes {self._prompt_tokens} tokens, and prompt and answer must fit {self.context}: raise "
                "labels.lm.context_tokens"
            )

    def count_tokens(self, simplified_html: str) -> int:
        """Return the number of tokens in a page's simplified HTML, without prompt and answer."""
        return self.tokenizer.count(self.tokenizer.without_specials(simplified_html))

    def windows(self, page: SimplifiedPage) -> list[PageWindow]:
        """Split a page into windows that fit the context. Most pages have one window, and a page
        without blocks has none."""
        return [window for window, _ in self.read(page)]

    def read(self, page: SimplifiedPage) -> list[tuple[PageWindow, Job]]:
        """Return the page's windows, each with its decoder job. A page that fits the context is
        tokenized only once."""
        if not page.n_blocks:
            return []
        html = self.tokenizer.without_specials(page.simplified_html)
        draft = None if page.draft is None else page.draft.main.tolist()
        job = Job(self.tokenizer.prompt_ids(self.prompt.text(html)), page.n_blocks, draft)
        if len(job.prompt_ids) - self._prompt_tokens <= self._budget(page.n_blocks):
            return [(PageWindow(0, page.n_blocks, html), job)]
        safe = SimplifiedPage(html, page.n_blocks)
        windows = cut_windows(safe, self._budget, self.tokenizer.count)
        return [
            (window, self.job(window, None if draft is None else draft[window.start : window.end]))
            for window in windows
        ]

    def job(self, window: PageWindow, draft: Sequence[bool] | None = None) -> Job:
        """Return the decoder job for a window; prompt and answer together have at most `context`
        tokens."""
        return Job(self.tokenizer.prompt_ids(self.prompt.text(window.html)), window.end - window.start, draft)

    def _budget(self, n_blocks: int) -> int:
        rounded = -(-n_blocks // ANSWER_STEP) * ANSWER_STEP
        return self.context - self._prompt_tokens - self._answer_tokens(rounded) - SPARE_TOKENS

    def _count_answer(self, n_blocks: int) -> int:
        return len(self.templates.of(n_blocks).tokens)

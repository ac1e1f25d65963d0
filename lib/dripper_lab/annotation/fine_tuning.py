"""Writes prompts and answers for fine-tuning a language model, in the form that the `lm` labeler
uses (Dripper paper A.11).

The files are JSON lines with `messages`, as TRL and LLaMA-Factory expect. A page that exceeds the
context is split into the same windows as in the labeler.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt
import yaml

from dripper.blocks.page import Page
from dripper.errors import PageError
from dripper.labels.align import match_shares
from dripper.labels.base import SimplifiedPage
from dripper.labels.cost import estimate_tokens
from dripper.labels.lm.answer import FORMS, AnswerForm
from dripper.labels.lm.checkpoint import OWN
from dripper.labels.lm.encoder import SPARE_TOKENS, PageEncoder
from dripper.labels.lm.prompt import Prompt, find_prompt, prompt_folder
from dripper.labels.lm.settings import LmSettings
from dripper.labels.lm.windows import PageWindow, cut_windows
from dripper.labels.words import words_of
from dripper_lab.annotation.answers import from_ranges
from dripper_lab.annotation.folders import new_folder
from dripper_lab.annotation.sources import split_page
from dripper_lab.datasets import LabelledPage

TRAIN, VALIDATION = "train.jsonl", "validation.jsonl"
RECIPE_FILE = "llamafactory.yaml"
RECIPE: Mapping[str, Any] = {
    "model_name_or_path": "Qwen/Qwen3-0.6B",
    "stage": "sft",
    "do_train": True,
    "finetuning_type": "full",
    "template": "qwen3",
    "enable_thinking": False,
    "dataset_dir": ".",
    "dataset": "dripper_train",
    "cutoff_len": 32_000,
    "output_dir": "checkpoint",
    "num_train_epochs": 4,
    "per_device_train_batch_size": 1,
    "gradient_accumulation_steps": 128,
    "learning_rate": 1e-4,
    "lr_scheduler_type": "cosine",
    "warmup_ratio": 0.1,
    "bf16": True,
}
"""The training configuration of the Dripper paper (Table 11) for LLaMA-Factory.

The paper used 32 GPUs. Here, a single GPU accumulates gradients over a batch of 128 pages.
"""


@dataclass(frozen=True, slots=True)
class Framing:
    """The format of the prompts and of the expected answers."""

    prompt: Prompt
    form: AnswerForm
    windows: Callable[[SimplifiedPage], list[PageWindow]]

    @classmethod
    def of(cls, settings: LmSettings) -> "Framing":
        """Return the framing for the settings of a model. Raises SettingsError or MachineError.

        With a checkpoint, tokens are counted with its tokenizer, so that windows are the same as in
        labeling. Without a checkpoint, tokens are estimated, and the settings must name the prompt
        and the answer format.
        """
        if settings.model:
            encoder = PageEncoder.load(settings)
            return cls(encoder.prompt, encoder.templates.form, encoder.windows)
        prompt = find_prompt(settings.prompt, settings.answer, prompt_folder(settings.prompt_folder))
        beside = estimate_tokens(prompt.text("")) + SPARE_TOKENS
        a_block = 5 if settings.answer == "json" else 1
        context = settings.context_tokens or OWN.context

        def budget(n_blocks: int) -> int:
            return context - beside - n_blocks * (a_block + len(str(n_blocks)))

        def windows(page: SimplifiedPage) -> list[PageWindow]:
            # Escape special tokens in attributes. Only `PageEncoder` knows the special tokens of a
            # tokenizer.
            safe = SimplifiedPage(page.simplified_html.replace("<|", "&lt;|"), page.n_blocks)
            return cut_windows(safe, budget, estimate_tokens)

        return cls(prompt, FORMS[settings.answer], windows)

    def messages(self, page: Page, main: npt.NDArray[np.bool_]) -> list[list[dict[str, str]]]:
        """Return one conversation per window.

        Args:
            main: Whether each block is main, (n_blocks,).
        """
        return [
            [
                {"role": "user", "content": self.prompt.text(window.html)},
                {"role": "assistant", "content": self.form.text(main[window.start : window.end].tolist())},
            ]
            for window in self.windows(SimplifiedPage.of(page))
        ]


@dataclass(slots=True)
class Written:
    """The counts of pages and windows written, and of pages left out."""

    pages: Counter[str] = field(default_factory=Counter)
    """The number of pages per file."""
    windows: Counter[str] = field(default_factory=Counter)
    """The number of windows per file, one per line."""
    aligned: int = 0
    """The number of pages with labels aligned from the ground-truth text, because their rows have
    no block numbers for this profile."""
    left_out: Counter[str] = field(default_factory=Counter)
    """The number of pages left out, keyed by reason."""


def write_conversations(
    pages: Iterable[LabelledPage],
    framing: Framing,
    out: Path,
    profile: str,
    validation: float,
    about: Mapping[str, Any],
) -> Written:
    """Write train.jsonl, validation.jsonl and META.json, and the files dataset_info.json and a
    training recipe for LLaMA-Factory.

    Pages without main content (paper 4.1) and pages with `split: evaluation` are left out.

    Args:
        validation: The fraction of sites for validation. No site is in both files.
        about: Additional fields for META.json.

    Raises:
        InputError: `out` exists.
    """
    written = Written()
    with new_folder(out) as folder:
        with ExitStack() as open_files:
            files = {
                name: open_files.enter_context((folder / name).open("w", encoding="utf-8"))
                for name in (TRAIN, VALIDATION)
            }
            for labelled in pages:
                name = VALIDATION if is_held_out(labelled.host, validation) else TRAIN
                _write_page(labelled, framing, profile, files[name], name, written)
        (folder / "dataset_info.json").write_text(json.dumps(_dataset_info(), indent=1) + "\n", encoding="utf-8")
        (folder / RECIPE_FILE).write_text(yaml.safe_dump(_recipe(written), sort_keys=False), encoding="utf-8")
        meta = {**_meta(framing, profile, written), **about}
        (folder / "META.json").write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")
    return written


def is_held_out(site: str, share: float) -> bool:
    """Return whether a site's pages are for validation. A hash of the site decides, so adding pages
    never moves existing ones.

    The hash input has a prefix, because some data sets have already used the plain hash of the site
    to split off their evaluation pages. Without the prefix, these sets would have no validation
    pages.
    """
    digest = hashlib.sha256(f"validation {site}".encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def main_blocks(labelled: LabelledPage, page: Page) -> tuple[npt.NDArray[np.bool_], bool]:
    """Return whether each block is main, (n_blocks,), and whether this was aligned from the
    ground-truth text.

    Annotated numbers are used if they refer to these blocks. Annotators do not see blocks without
    text. Such a block is main if the nearest blocks with text on both sides are main.
    """
    more = labelled.more
    annotated = "main_blocks" in more and more.get("n_blocks") == len(page.blocks)
    aligned = not annotated or more.get("profile", "dripper") != page.profile
    words = [words_of(block.text) for block in page.blocks]
    if aligned:
        main = (match_shares(words, words_of(labelled.truth_text)) >= 0.5) & np.array([bool(of) for of in words])
    else:
        main = np.isin(page.item_ids, from_ranges(str(more["main_blocks"]), len(page.blocks)))
    return _with_silent(main, [bool(block.text) for block in page.blocks]), aligned


def _with_silent(main: npt.NDArray[np.bool_], has_text: Sequence[bool]) -> npt.NDArray[np.bool_]:
    indexes = np.flatnonzero(has_text)
    if not len(indexes):
        return main
    places = np.searchsorted(indexes, np.arange(len(main)))
    before, after = indexes[np.clip(places - 1, 0, None)], indexes[np.clip(places, None, len(indexes) - 1)]
    around = main[before] & main[after] & (places > 0) & (places < len(indexes))
    return np.where(has_text, main, around)


def _write_page(
    labelled: LabelledPage, framing: Framing, profile: str, file: TextIO, name: str, written: Written
) -> None:
    if labelled.more.get("split") == "evaluation":
        written.left_out["split: evaluation"] += 1
        return
    try:
        page = split_page(labelled, profile)
        main, aligned = main_blocks(labelled, page)
        if not main.any():
            written.left_out["no block is main"] += 1
            return
        conversations = framing.messages(page, main)
    except PageError as error:
        written.left_out[error.code.value] += 1
        return
    for window, messages in enumerate(conversations):
        row = {"id": f"{labelled.data_set}/{labelled.id}#{window}", "messages": messages}
        file.write(json.dumps(row) + "\n")
    written.pages[name] += 1
    written.windows[name] += len(conversations)
    written.aligned += aligned


def _meta(framing: Framing, profile: str, written: Written) -> dict[str, Any]:
    return {
        "prompt": framing.prompt.version,
        # Settings with which the labeler lm runs a model trained on these files.
        "settings": {
            "profile": profile,
            "labels.lm.prompt": framing.prompt.name,
            "labels.lm.answer": framing.form.name,
            "labels.lm.chat": "once",
        },
        "pages": written.pages,
        "windows": written.windows,
        "labels_from_text": written.aligned,
        "left_out": written.left_out,
    }


def _recipe(written: Written) -> dict[str, Any]:
    return {**RECIPE, "eval_dataset": "dripper_validation"} if written.windows[VALIDATION] else dict(RECIPE)


def _dataset_info() -> dict[str, Any]:
    tags = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}
    form = {"formatting": "sharegpt", "columns": {"messages": "messages"}, "tags": tags}
    return {f"dripper_{Path(name).stem}": {"file_name": name, **form} for name in (TRAIN, VALIDATION)}

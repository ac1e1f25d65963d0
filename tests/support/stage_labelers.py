"""Labelers that need no engine, for the stage `label`: importable by Spark's workers,
deterministic."""

import hashlib
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from dripper.html import Page
from dripper.labels import Labels, SimplifiedPage
from dripper.labels.registry import labeler_settings
from dripper.settings import Settings

BLOCK = re.compile(r'_item_id="\d+"')


class HashLabeler:
    """Marks a block main by a hash of its simplified HTML; nothing on one page in eight."""

    name = "hash"
    version = "1"

    def label(self, pages: Sequence[Page]) -> list[Labels]:
        return self.label_simplified([SimplifiedPage.of(page) for page in pages])

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        return [self.of(page) for page in pages]

    def of(self, page: SimplifiedPage) -> Labels:
        digests = [
            hashlib.sha256(part.encode("utf-8", "replace")).digest() for part in BLOCK.split(page.simplified_html)[1:]
        ]
        assert len(digests) == page.n_blocks
        wants = hashlib.sha256(page.simplified_html.encode("utf-8", "replace")).digest()[0] % 8
        probability = np.array([digest[0] / 255 * bool(wants) for digest in digests], np.float32)
        return Labels(
            probability > 0.5, probability, float(probability.mean()), passes=3, windows=1 + (page.n_blocks > 40)
        )


class PoisonedLabeler(HashLabeler):
    """Fails on every batch with a page that says "poison"; its answer to "short" is one label too
    few."""

    name = "poisoned"

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        if any("poison" in page.simplified_html for page in pages):
            raise RuntimeError("cannot read this")
        labels = super().label_simplified(pages)
        return [
            Labels.certain(made.main[1:]) if "short" in page.simplified_html else made
            for page, made in zip(pages, labels, strict=True)
        ]


class TrueLabeler(HashLabeler):
    """Labels blocks with "verily" main, and fails on pages with "poison"."""

    name = "true"

    def of(self, page: SimplifiedPage) -> Labels:
        if "poison" in page.simplified_html:
            raise RuntimeError("cannot read this")
        return Labels.certain(np.array(["verily" in part for part in BLOCK.split(page.simplified_html)[1:]]))


class DraftLabeler(HashLabeler):
    """Answers with the draft that a page has, turned round."""

    name = "draft"

    def of(self, page: SimplifiedPage) -> Labels:
        assert page.draft is not None
        return replace(page.draft, main=~page.draft.main)


class DyingLabeler(HashLabeler):
    """Its engine dies of a page with "deadly", and does not answer afterwards."""

    name = "dying"

    def __init__(self) -> None:
        self.is_dead = False

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        self.is_dead = self.is_dead or any("deadly" in page.simplified_html for page in pages)
        if self.is_dead:
            raise RuntimeError("the engine is gone")
        return super().label_simplified(pages)


class WarningLabeler(HashLabeler):
    """Finds fault with its settings, in other words each time."""

    def __init__(self) -> None:
        self._pages = 0

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        self._pages += len(pages)
        return super().label_simplified(pages)

    @property
    def warnings(self) -> Mapping[str, str]:
        return {"labels.hash.salt": f"after {self._pages} pages: another salt fits <better>"}


class DeadLabeler(HashLabeler):
    """Never answers."""

    name = "dead"

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        raise RuntimeError("no GPU here")


class HangingLabeler(HashLabeler):
    """Never answers, and never fails."""

    name = "hanging"

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        while True:
            time.sleep(60)


def load_hash(settings: Settings) -> HashLabeler:
    return HashLabeler()


def load_poisoned(settings: Settings) -> HashLabeler:
    return PoisonedLabeler()


def load_true(settings: Settings) -> HashLabeler:
    return TrueLabeler()


def load_draft(settings: Settings) -> HashLabeler:
    return DraftLabeler()


def load_dead(settings: Settings) -> HashLabeler:
    return DeadLabeler()


def load_warning(settings: Settings) -> HashLabeler:
    return WarningLabeler()


def load_hanging(settings: Settings) -> HashLabeler:
    return HangingLabeler()


class WritingLabeler(HashLabeler):
    """Writes into a file when it started, and when it labelled."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.write("started")

    def write(self, what: str) -> None:
        with self.file.open("a") as log:
            log.write(f"{what} {time.time()}\n")

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        labels = super().label_simplified(pages)
        self.write("labelled")
        return labels


def load_writing(settings: Settings) -> HashLabeler:
    """The file is the one that `labels.lm.model` names."""
    return WritingLabeler(Path(labeler_settings("lm", settings.labels).model))

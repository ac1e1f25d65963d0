"""Code that exists twice, in Python or numpy and in C, extracts the same from whole pages, bit by
bit."""

import importlib
from typing import Any

import pytest

from dripper.html import PROFILES
from dripper.page.extraction import Extraction, Extractor
from dripper.settings import Settings
from support.in_c import needs_c
from support.labelled import labelled_pages

GARBAGE = (
    b"",
    b"\x00\xff<p",
    b"<p>" * 3000,
    "<p>\ud7ff\U0010ffff \u2028é".encode(),
    b"<table><td>1<svg><source>x</svg>",
)
TWICE = [
    importlib.import_module(f"dripper.{name}")
    for name in ("labels.cpu.arithmetic", "labels.cpu.features.characters", "tree.loops", "tree.scan")
]


def test_these_are_all(setup_py: dict[str, Any]) -> None:
    assert sorted(setup_py["WRITTEN_IN_C"]) == sorted(
        f"{module.__name__.removeprefix('dripper.').replace('.', '/')}_c" for module in TWICE
    )


def extracted(profile: str) -> list[Extraction]:
    extractor = Extractor(Settings(profile=profile))
    return [extractor.extract(page) for page in (*(labelled.html for labelled in labelled_pages()), *GARBAGE)]


@needs_c(TWICE[0])
@pytest.mark.parametrize("profile", PROFILES)
def test_python_extracts_the_same_as_c(monkeypatch: pytest.MonkeyPatch, profile: str) -> None:
    """The confidence too."""
    in_c = extracted(profile)
    for module in TWICE:
        assert module.IN_C
        monkeypatch.setattr(module, "IN_C", False)
    assert extracted(profile) == in_c

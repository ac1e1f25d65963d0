"""The modules that `DRIPPER_COMPILE=1` turns into C, where the package under test is a compiled one (`make test-compiled`)."""

import json
import os
import pickle
import subprocess
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import dripper
from conftest import ROOT
from dripper.html import PROFILES, Page, preprocess
from dripper.labels import characters, exact
from dripper.markup import scan
from support.labelled import labelled_pages, pages

pytestmark = pytest.mark.skipif(
    Path(str(scan.__file__)).suffix == ".py", reason="the package under test is plain Python: make test-compiled"
)
PAGES = [page.html for page in labelled_pages()]
GARBAGE = [
    b"",
    b"\x00\xff<p",
    b"<p>" * 3000,
    "<p>\ud7ff\U0010ffff \u2028é".encode(),
    b"<table><td>1<svg><source>x</svg>",
]
EXTRACT_ALL = """
import json, sys
from dataclasses import asdict
for name in sys.argv[1:]:
    sys.modules[name] = None
import dripper
from dripper.labels import characters, exact
from dripper.markup import scan
assert not (characters.IN_C or exact.IN_C or scan.IN_C)
pages = [bytes.fromhex(line) for line in sys.stdin]
print(scan.__file__)
print(json.dumps([asdict(dripper.extract(page)) for page in pages]))
"""


def test_every_module_named_in_setup_is_compiled(setup_py: dict[str, Any]) -> None:
    files = {
        f"{package}.{name}": str(import_module(f"dripper.{package}.{name}").__file__)
        for package, names in setup_py["COMPILED"].items()
        for name in names
    }
    assert len(files) > 20
    assert [name for name, file in files.items() if Path(file).suffix == ".py"] == []
    assert characters.IN_C
    assert exact.IN_C
    assert scan.IN_C


def test_plain_python_extracts_the_same(setup_py: dict[str, Any]) -> None:
    """Bit by bit, with numpy in the place of what is written in C: the confidence too."""
    given = PAGES + GARBAGE
    in_c = [f"dripper.{name}".replace("/", ".") for name in setup_py["WRITTEN_IN_C"]]
    told = subprocess.run(
        [sys.executable, "-c", EXTRACT_ALL, *in_c],
        input="\n".join(page.hex() for page in given),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "lib")},
    )
    file, extracted = told.stdout.splitlines()
    assert file == str(ROOT / "lib/dripper/markup/scan.py")
    assert json.loads(extracted) == [json.loads(json.dumps(asdict(dripper.extract(page)))) for page in given]


@pytest.mark.parametrize("profile", PROFILES)
def test_pages_can_be_sent_to_another_process(profile: str) -> None:
    page = preprocess(PAGES[0].decode(), profile)
    sent = pickle.loads(pickle.dumps(page))
    assert isinstance(sent, Page)
    assert sent == page
    assert sent.mapping_html == page.mapping_html


def test_wrong_input_is_refused_as_ever() -> None:
    with pytest.raises(ValueError, match="unbalanced markup: not what a serialiser writes"):
        scan.scan("<p>", frozenset())
    with pytest.raises(ValueError, match=r"main ids \[9999\] are not among the page's ids"):
        pages()[0].prune([9999])

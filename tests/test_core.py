"""The core alone: without extras, pages are extracted, and the error for a missing package is one
sentence."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.warcs import page, pages, write_warc

EXTRAS = (
    *(
        "boto3",
        "botocore",
        "brotli",
        "courlan",
        "jinja2",
        "lxml",
        "lz4",
        "pandas",
        "platformdirs",
        "pyarrow",
        "pyspark",
    ),
    *("rapidfuzz", "requests", "torch", "trafilatura", "transformers", "urllib3", "vllm", "warcio", "zstandard"),
)
WITHOUT = f"""
import sys
from importlib.abc import MetaPathFinder
class Missing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split('.')[0] in {EXTRAS}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
from dripper.__main__ import main
"""


def without_extras(code: str) -> "subprocess.CompletedProcess[str]":
    """Run Python code with failing imports of the packages of extras."""
    return subprocess.run([sys.executable, "-c", WITHOUT + code], capture_output=True, text=True, check=False)


def test_a_page_and_a_folder_need_no_extra(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(page(1)[1])
    (tmp_path / "words.html").write_text("<p>12 34</p>")
    out = tmp_path / "pages.jsonl"
    told = without_extras(
        f"print(main(['extract', {str(tmp_path / 'a.html')!r}]))\n"
        f"print(main(['extract', {str(tmp_path)!r}, '--out', {str(out)!r}]))\n"
        f"assert main(['inspect', {str(tmp_path)!r}]) == 0\n"
    )
    assert told.returncode == 0, told.stderr
    assert "the ferry leaves the harbour" in told.stdout
    assert "0\n0\n<!doctype html>" in told.stdout
    assert len(out.read_text().splitlines()) == 2


def test_what_an_extra_would_do_says_which_and_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(page(1)[1])
    write_warc(tmp_path / "b.warc", pages(1, 1))
    html, warc, out = str(tmp_path / "a.html"), str(tmp_path / "b.warc"), str(tmp_path / "out.jsonl")
    wanted = {
        "reading archives needs warcio": [warc, "--out", out],
        "reading from S3 needs boto3": ["s3://bucket/x.warc.gz", "--out", out],
        "Parquet needs pyarrow": [html, "--out", out.replace(".jsonl", ".parquet")],
        "the profile mineru-1.1 needs lxml": [html, "--set", "profile=mineru-1.1"],
        "trafilatura needs trafilatura": [html, "--labeler", "trafilatura"],
        "the labeler lm needs": [html, "--labeler", "lm", "--set", "labels.lm.model=/model"],
    }
    told = without_extras("".join(f"print(main(['extract', *{flags}]))\n" for flags in wanted.values()))
    assert told.returncode == 0, told.stderr
    assert told.stdout.split() == ["2"] * len(wanted), told.stderr
    for words, line in zip(wanted, told.stderr.splitlines(), strict=True):
        assert words in line
        assert "pip install '.[" in line


@pytest.mark.parametrize("name", ["dripper.labels", "dripper.warc", "dripper.labels.config"])
def test_parts_import_without_extras(name: str) -> None:
    told = without_extras(f"import {name}")
    assert told.returncode == 0, told.stderr

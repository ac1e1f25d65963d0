"""The names that users, notebooks and other programs call do not move."""

import re
from importlib import import_module
from pathlib import Path

import pytest

import dripper

ROOT = Path(__file__).parents[1]
NAMES = {
    "dripper": ("Extraction", "__version__", "eval", "extract", "extract_many", "html", "labels", "passages", "warc"),
    "dripper.html": ("Page", "Block", "preprocess", "prune", "to_markdown", "to_text"),
    "dripper.warc": ("Record", "FileReport", "read_records", "read_selected", "select", "decode", "expand"),
    "dripper.labels": ("Labeler", "LabelerEntry", "Labels", "SimplifiedPage", "load"),
    "dripper.eval": ("Score", "rouge_n"),
    "dripper.spark": ("extract_column", "register"),
    "dripper.errors": ("ErrorCode", "FileErrorKind", "InputError", "MachineError", "SettingsError", "UsageError"),
}
LABELERS = ("cpu", "web2text", "trafilatura", "all", "encoder", "reader", "neuscraper", "lm")


@pytest.mark.parametrize("module", NAMES)
def test_names_are_there(module: str) -> None:
    for name in NAMES[module]:
        assert hasattr(import_module(module), name), f"{module}.{name}"


def test_the_package_lists_its_public_names_and_no_others() -> None:
    assert dir(dripper) == sorted(dripper.__all__)


def test_an_extraction_has_its_fields() -> None:
    result = dripper.extract("<article><p>It rained all day in Bergen.</p></article>")
    content = ("main_html", "markdown", "text", "title", "language", "metadata", "page_kind", "images", "posts")
    decision = ("n_blocks", "n_main", "method", "confidence", "error_code", "error_detail")
    assert [name for name in (*content, *decision) if not hasattr(result, name)] == []


def test_a_page_has_its_fields() -> None:
    page = dripper.html.preprocess("<p>one</p>", profile="dripper")
    assert '<p _item_id="1">one</p>' in page.simplified_html
    assert '<p _item_id="1">one</p>' in page.mapping_html
    assert list(page.item_ids) == [1]
    assert page.blocks[0].text == "one"


@pytest.mark.parametrize("name", [*LABELERS, "vote:cpu,web2text"])
def test_labelers_have_their_names(name: str) -> None:
    from dripper.labels.registry import find_entry

    assert find_entry(name).name == name


def test_jobs_and_targets_have_their_names() -> None:
    jobs = {file.stem for file in (ROOT / "jobs").glob("*.py")}
    assert {"run", "plan", "preprocess", "label", "extract", "evaluate", "maintain", "report"} <= jobs
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"run", "sql", "test", "test-fast", "test-vllm", "lint", "install", "bench", "report"} <= targets

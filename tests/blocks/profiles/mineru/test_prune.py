import csv
import hashlib
import json
import lzma

import pytest

from dripper.blocks.profiles.mineru.prune import prune_exactly
from dripper.blocks.profiles.mineru.v1_0 import MINERU_1_0
from dripper.html import preprocess, prune, prune_page
from support.html_vectors import PRUNE_DIFFERENT, PRUNE_DIFFERENT_1_0, vectors, vectors_1_0


@pytest.mark.parametrize("vector", vectors("prune_vectors"), ids=lambda vector: vector["id"])
def test_main_html_is_that_of_mineru_html(vector):
    same = prune_exactly(vector["mapping"], vector["main_ids"]) == vector.get("main_html")
    assert same or vector["id"] in PRUNE_DIFFERENT, vector["about"]


@pytest.mark.parametrize("vector", vectors_1_0("prune_vectors"), ids=lambda vector: vector["id"])
def test_main_html_is_that_of_mineru_html_1_0(vector):
    same = prune_exactly(vector["mapping"], vector["main_ids"], MINERU_1_0) == vector.get("main_html")
    assert same != (vector["id"] in PRUNE_DIFFERENT_1_0), vector["about"]


def test_main_html_of_150_real_pages(shared):
    folder = shared / "data" / "simplify"
    with lzma.open(folder / "golden_sample.jsonl.xz", "rt", encoding="utf-8") as lines:
        mappings = {(row["dataset"], row["id"]): row["mapping"] for row in map(json.loads, lines)}
    with (folder / "golden_prune.tsv").open(encoding="utf-8") as rows:
        golden = list(csv.DictReader(rows, delimiter="\t"))
    assert len(golden) == 150
    for row in golden:
        count = int(row["main ids"].split("..")[1].split()[0])
        main_html = prune(mappings[row["dataset"], row["id"]], [k for k in range(1, count + 1) if k % 3], "mineru-1.1")
        assert hashlib.sha256(main_html.encode()).hexdigest() == row["sha256 main_html"], row["id"]


def test_page_prunes_by_its_profile():
    page = preprocess("<p>a<p>b", "mineru-1.1")
    assert prune_page(page, [2]) == '<html><body><p _item_id="2">b</p></body></html>'
    assert prune_page(page, []) == "<html></html>"
    assert prune_page(page, [99]) == "<html></html>"

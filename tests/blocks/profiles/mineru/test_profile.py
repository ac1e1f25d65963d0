import csv
import gzip
import hashlib
import itertools

import pytest

from dripper.errors import ErrorCode, PageError
from dripper.html import preprocess, prune_page
from dripper.warc import decode
from dripper_lab.datasets import read_pages
from support.html_vectors import DIFFERENT, DIFFERENT_1_0, FOLDER, vectors, vectors_1_0


@pytest.mark.parametrize("vector", vectors("simplify_vectors"), ids=lambda vector: vector["id"])
def test_simplified_and_mapping_are_those_of_mineru_html(vector):
    if vector.get("error"):
        with pytest.raises(PageError) as caught:
            preprocess(vector["html"], "mineru-1.1")
        assert caught.value.code is ErrorCode.PARSE_FAILED
        return
    page = preprocess(vector["html"], "mineru-1.1")
    same = (page.simplified_html, page.mapping_html) == (vector["simplified"], vector["mapping"])
    assert same or vector["id"] in DIFFERENT, vector["about"]


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_is_named_as_different_is(name):
    vector = next(vector for vector in vectors("simplify_vectors") if vector["id"] == name)
    page = preprocess(vector["html"], "mineru-1.1")
    assert (page.simplified_html, page.mapping_html) != (vector["simplified"], vector["mapping"])


@pytest.mark.parametrize("vector", vectors_1_0("simplify_vectors"), ids=lambda vector: vector["id"])
def test_simplified_and_mapping_are_those_of_mineru_html_1_0(vector):
    if vector.get("error"):
        with pytest.raises(PageError) as caught:
            preprocess(vector["html"], "mineru-1.0")
        assert caught.value.code is ErrorCode.PARSE_FAILED
        return
    page = preprocess(vector["html"], "mineru-1.0")
    same = (page.simplified_html, page.mapping_html) == (vector["simplified"], vector["mapping"])
    assert same != (vector["id"] in DIFFERENT_1_0), vector["about"]


def test_real_pages_come_out_as_with_mineru_html_1_0(shared):
    with (FOLDER / "pages_1_0.tsv").open(encoding="utf-8") as lines:
        golden = {(row["dataset"], row["id"]): row for row in csv.DictReader(lines, delimiter="\t")}
    same = {"simplified": 0, "mapping": 0, "main_html": 0, "blocks": 0}
    pages = 0
    for name in ("zh-immortal-autumn", "fundus"):
        for labelled in read_pages(shared / "data", name):
            row = golden.get((name, labelled.id))
            text = decode(labelled.html, labelled.content_type).text
            if row is None or digest(text)[:16] != row["text"]:
                continue
            page = preprocess(text, "mineru-1.0")
            main = prune_page(page, [block for block in page.item_ids if block % 3])
            made = {"simplified": page.simplified_html, "mapping": page.mapping_html, "main_html": main}
            told = {key: digest(value)[:16] for key, value in made.items()} | {"blocks": str(len(page.blocks))}
            same = {key: count + (told[key] == row[key]) for key, count in same.items()}
            pages += 1
    assert pages >= 50
    # Three have a comment in the mapping HTML, which main HTML has not.
    assert same == {"simplified": pages, "mapping": pages - 3, "main_html": pages, "blocks": pages}


def test_a_page_of_many_open_declarations_is_an_error_in_time():
    with pytest.raises(PageError, match="declarations"):
        preprocess("<!--" * 50_000, "mineru-1.0")


def test_real_pages_come_out_the_same(shared):
    with gzip.open(shared / "data/simplify/golden_simplified.tsv.gz", "rt", encoding="utf-8") as lines:
        golden = {(row["dataset"], row["id"]): row for row in csv.DictReader(lines, delimiter="\t")}
    checked = 0
    for name in ("zh-immortal-autumn", "article-extraction-dataset"):
        for labelled in itertools.islice(read_pages(shared / "data", name), 80):
            text = decode(labelled.html, labelled.content_type).text
            row = golden[name, labelled.id]
            if digest(text) != row["sha256_text"]:
                continue
            assert digest(preprocess(text, "mineru-1.1").simplified_html) == row["sha256_simplified"], labelled.id
            checked += 1
    assert checked > 120


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("profile", ["mineru-1.0", "mineru-1.1", "dripper"])
def test_blocks_ids_and_both_html_correspond(profile):
    page = preprocess("<div>a<br>b<p>c <b>d</b></p><ul><li>e<li>f</ul>g<i>h</i></div>", profile)
    for block in page.blocks:
        mark = f' _item_id="{block.item_id}"'
        assert page.simplified_html.count(mark) == page.mapping_html.count(mark) == 1


def test_title_comes_with_the_exact_profile_too():
    assert preprocess("<title> A  b </title><p>x", "mineru-1.1").title == "A b"


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ('<p title="a <!-- b --> c <!--d--> e">x</p>', 'title="a <!-- b --> c <!--d--> e"'),
        ("<p title='\"<!-- b -->'>x</p><p>y</p>", "title='\"<!-- b -->'"),
        ("<p onclick=\"a='b';c='<!-- d -->'\">x</p>", "<!-- d -->"),
        ('<p title="a<!-->b<c">x</p>', 'title="a<!-->b&lt;c"'),
        ('<p a="1" <!--b="2">x</p><l-->y</l--><p>z</p>', '<!--b="2"'),
        ("<f<!--c-->x<p>z</p>", "<f<!--c--"),
    ],
)
def test_comments_in_attributes_are_written_as_libxml2_does(html, kept):
    page = preprocess(html, "mineru-1.1")
    assert kept in page.mapping_html
    assert page.blocks[-1].text in ("x", "y", "z")


def test_a_declaration_in_a_script_goes_and_leaves_the_rest_of_it():
    page = preprocess("<script>if (a <b) x = '&lt;' + '<?xml version=1?>';</script><p>y", "mineru-1.1")
    assert "<script>if (a <b) x = '&lt;' + '';</script>" in page.mapping_html


def test_texts_behind_hidden_elements_move_to_the_sibling_before_each():
    hidden = '<i style="display:none">-</i>'
    page = preprocess(f"<p>a{hidden}b<b>c</b>{hidden}d{hidden}e</p><p>{hidden}f<br>{hidden}g</p>", "mineru-1.1")
    assert page.simplified_html.partition("<body>")[2].startswith(
        '<p _item_id="1">ab<b>cde</b></p><p _item_id="2">f<br>g</p>'
    )

"""The laws of profile `dripper`, which are true for any page."""

import itertools
import re

from dripper.html import preprocess, prune, prune_page
from dripper.tree.lines import write_annotations
from dripper.tree.plain import plain_parts
from dripper.tree.read import read_main_html


def visible(text):
    return re.sub(r"\s+", "", text)


def check_laws(html):
    page = preprocess(html)
    tree = page.elements
    plain = plain_parts(tree, write_annotations(tree))
    heads = [i for i in tree.children(0) if tree.tags[i] == "head"]
    body_from = tree.closes[heads[0]] if heads else 0
    in_page = visible("".join(plain[body_from:]).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert visible("".join(block.text for block in page.blocks)) == in_page, "every character in one block, in order"
    assert [block.item_id for block in page.blocks] == list(page.item_ids)
    ends = [(block.first, block.last) for block in page.blocks]
    assert all(a <= b < c for (a, b), (c, _) in itertools.pairwise(ends)), "blocks do not overlap"
    check_ids(page)
    check_prune(page, in_page)


def check_ids(page):
    ids = [str(item_id) for item_id in page.item_ids]
    assert re.findall(r'<[^>]* _item_id="(\d+)">', page.mapping_html) == ids
    assert re.findall(r'<[^>]* _item_id="(\d+)">', page.simplified_html) == ids


def check_prune(page, in_page):
    for main_ids in (list(page.item_ids), list(page.item_ids)[::2], list(page.item_ids)[1::3]):
        main_html = prune_page(page, main_ids)
        assert main_html == prune(page.mapping_html, main_ids)
        assert not re.search(r'<[^>]*\s_item_id="', main_html)
        texts = write_annotations(read_main_html(main_html, is_pruned=True))[::2] if main_html else []
        kept = "".join(texts).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        wanted = "".join(page.blocks[item_id - 1].text for item_id in main_ids)
        assert visible(kept) == visible(wanted), "main HTML has the main blocks' text, and no other"

"""The document is self-contained, and no text of a page is markup in it."""

import json
import re
from collections.abc import Sequence

import pytest

from dripper.inspect.document import DOUBTFUL, build_document, is_doubtful
from dripper.inspect.views import BlockView, PageView
from support.inspected import scripts, unpacked

HOSTILE = "</script><script>alert(1)</script><!--<script>{{script}}\u2028\ud800"


def view(number: int, blocks: Sequence[BlockView] = ()) -> PageView:
    return PageView(f"p{number}", f"{number}.html", blocks=blocks, html=b"<p>one" if blocks else b"")


def test_pages_are_packed_one_by_one() -> None:
    blocks = [BlockView("one", "body > p", True, 0.9, [("tags", 1.5)]), BlockView("two", "body > p", False, 0.5)]
    data = scripts(build_document([view(0, blocks), view(1)], "a folder"))
    index = json.loads(data["index"])
    assert set(data) == {"index", "page-0", "html-0", "page-1"}
    assert index["about"] == "a folder"
    first, second = index["pages"]
    assert (first["n_blocks"], first["n_main"], first["n_doubtful"]) == (2, 1, 1)
    assert len(first["html_sha256"]) == 64
    assert (second["n_blocks"], second["html_sha256"]) == (0, None)
    assert unpacked(data["html-0"]) == b"<p>one"
    content = json.loads(unpacked(data["page-0"]))
    assert content["blocks"][0] == {
        "text": "one", "path": "body > p", "main": True, "probability": 0.9,
        "reasons": [["tags", 1.5]], "changed_by": None, "is_markup": False,
    }  # fmt: skip


def test_a_hostile_page_ends_no_element_and_fills_no_place() -> None:
    plain = build_document([PageView("a", "a")])
    hostile = build_document(
        [PageView("a", HOSTILE, url=HOSTILE, title=HOSTILE, notes=[HOSTILE], error_detail=HOSTILE)], HOSTILE
    )
    assert hostile.count("<script") == plain.count("<script")
    assert hostile.count("</script") == plain.count("</script")
    assert json.loads(scripts(hostile)["index"])["pages"][0]["title"] == HOSTILE


def test_the_policy_allows_the_documents_own_script_and_no_other() -> None:
    html = build_document([])
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    assert policy
    assert policy[1].startswith("default-src 'none';")
    assert "unsafe" not in policy[1]
    assert not re.search(r"""(?:src|href)\s*=\s*["']|\son\w+=|style=""", html.partition("<script")[0])


def test_the_same_views_give_the_same_document() -> None:
    views = [view(0, [BlockView("one", "p", True, None)])]
    assert build_document(views) == build_document(views)


@pytest.mark.parametrize(("probability", "doubt"), [(None, False), (DOUBTFUL[0], True), (0.5, True), (0.81, False)])
def test_doubt_is_a_range(probability: float | None, doubt: bool) -> None:
    assert is_doubtful(BlockView("", "", True, probability)) is doubt

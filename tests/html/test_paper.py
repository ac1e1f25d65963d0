import pytest

from dripper.html import preprocess, prune


@pytest.mark.parametrize(
    "gone",
    [
        "<header>x</header>",
        "<footer><p>x</footer>",
        "<nav>x</nav>",
        "<aside>x</aside>",
        "<noscript>x</noscript>",
        "<div class='top nav'>x</div>",
        "<div id=footer>x</div>",
        "<p style='display: none'>x",
    ],
)
def test_what_the_paper_removes_is_in_no_form_of_the_page(gone):
    page = preprocess(f"<p>a</p>{gone}<p>b</p>", "paper")
    assert [block.text for block in page.blocks] == ["a", "b"]
    assert "x" not in page.simplified_html + page.mapping_html.replace("xt", "")


@pytest.mark.parametrize("kept", ["<div class=navigation>x</div>", "<p hidden>x</p>", "<section>x</section>"])
def test_what_only_looks_like_it_stays(kept):
    assert [block.text for block in preprocess(kept, "paper").blocks] == ["x"]


def test_blocks_show_200_characters_tables_too():
    page = preprocess("<p>" + "a" * 300 + "</p><table><tr><td>" + "b" * 300 + "<td>c</table>", "paper")
    assert "a" * 200 + "...</p>" in page.simplified_html
    assert page.simplified_html.count("b") < 250
    assert page.blocks[1].text.startswith("b" * 300)


def test_prune_works_as_in_the_default_profile():
    page = preprocess("<header>h</header><div><p>a<p>b</div>", "paper")
    assert page.prune([2]) == prune(page.mapping_html, [2], "paper") == "<html><body><div><p>b</p></div></body></html>"

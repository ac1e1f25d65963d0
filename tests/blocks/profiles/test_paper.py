import pytest

from dripper.html import preprocess, prune, prune_page


@pytest.mark.parametrize(
    "gone",
    [
        "<header>x</header>",
        "<footer><p>x</footer>",
        "<nav>x</nav>",
        "<aside>x</aside>",
        "<noscript>x</noscript>",
        "<script>x</script>",
        "<style>x</style>",
        "<iframe>x</iframe>",
        "<template>x</template>",
        "<div class='top nav'>x</div>",
        "<div class='Header'>x</div>",
        "<div id=footer>x</div>",
        "<p style='display: none'>x",
        "<p style='color:red;DISPLAY:NONE'>x",
    ],
)
def test_what_the_paper_removes_is_in_no_form_of_the_page(gone):
    page = preprocess(f"<p>a</p>{gone}<p>b</p>", "paper")
    assert [block.text for block in page.blocks] == ["a", "b"]
    assert "x" not in page.simplified_html + page.mapping_html.replace("xt", "")


@pytest.mark.parametrize(
    "kept",
    [
        "<div class=navigation>x</div>",
        "<p hidden>x</p>",
        "<section>x</section>",
        "<p style='visibility:hidden'>x",
        "<nav>y</nav>x",
    ],
)
def test_what_only_looks_like_it_stays(kept):
    assert [block.text for block in preprocess(kept, "paper").blocks] == ["x"]


def test_blocks_show_200_characters_tables_too():
    page = preprocess("<p>" + "a" * 300 + "</p><table><tr><td>" + "b" * 300 + "<td>c</table>", "paper")
    assert "a" * 200 + "...</p>" in page.simplified_html
    assert page.simplified_html.count("b") < 250
    assert page.blocks[1].text.startswith("b" * 300)


def test_prune_works_as_in_the_default_profile():
    page = preprocess("<header>h</header><div><p>a<p>b</div>", "paper")
    assert (
        prune_page(page, [2])
        == prune(page.mapping_html, [2], "paper")
        == "<html><body><div><p>b</p></div></body></html>"
    )


def test_the_model_sees_class_and_id_and_of_images_source_and_text():
    html = '<p class="a" id="b" title="c" onclick="d"><img src="/e.png" alt="f" width="9"><img src="data:image/png;base64,AA">g'
    shown = preprocess(html, "paper").simplified_html
    assert '<p class="a" id="b" _item_id="1"><img src="/e.png" alt="f"><img>g</p>' in shown


def test_blocks_are_block_elements_and_runs_tables_of_data_and_plain_lists_whole():
    page = preprocess(
        "<div>a <b>b</b><p>c</p>d<br>e</div><table><tr><td>f<td>g</table><ul><li>h<li>i<li>j</ul>"
        "<table><tr><td><p>k<td>l</table>",
        "paper",
    )
    assert [" ".join(block.text.split()) for block in page.blocks] == ["a b", "c", "d", "e", "f g", "h i j", "k", "l"]
    assert "<li>h</li><span>...</span><li>j</li>" in page.simplified_html


def test_the_mapping_is_the_page_after_the_cleaning_with_the_same_ids():
    page = preprocess("<header>x</header><p title='t'>a</p>b<script>y</script>", "paper")
    assert page.mapping_html == (
        '<html><head></head><body><p title="t" _item_id="1">a</p>'
        '<cc-alg-uc-text _item_id="2">b</cc-alg-uc-text></body></html>'
    )

from dripper.html import preprocess, prune_page


def test_lazy_images_are_blocks_and_stay_in_the_main_html():
    page = preprocess("<div><p>a</p><img data-src='/x.png'><p>b</p></div>")
    assert prune_page(page, [2]) == '<html><body><div><img src="/x.png" data-src="/x.png"></div></body></html>'
    assert 'src="/x.png"' in page.simplified_html
    assert page.blocks[1].text == ""


def test_images_without_any_address_are_no_blocks():
    assert not preprocess("<div><img alt=a><img src='data:image/png;base64,AA'></div>").blocks

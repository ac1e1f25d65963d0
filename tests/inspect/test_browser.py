"""The document in a browser: its view, keys, corrections that become a data set, and pages that
try to break out."""

import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dripper.eval import rouge_n
from dripper.html import to_text
from dripper.inspect.document import build_document
from dripper.inspect.looking import view_pages
from dripper.inspect.sources import find_pages
from dripper.page.extraction import shared_extractor
from dripper.settings import Settings
from dripper_lab.datasets import count_pages, read_pages
from support.chromium import Chromium, find_chromium

LABELLED = Path(__file__).parents[1] / "data" / "labelled" / "wcxb-dev" / "html"
PAGES = [LABELLED / f"dev-{number}.html" for number in ("0412", "0575", "2864")]
HOSTILE = """<title></script><script>window.pwned=1</script></title><body onload="window.pwned=1">
<p>Hello <img src="http://127.0.0.1:9/x.png" onerror="window.pwned=1"> &lt;img src=x onerror=window.pwned=1&gt; of the harbour</p>
<p><img src="http://127.0.0.1:9/y.png" onerror="window.pwned=1"></p><iframe src="javascript:parent.pwned=1"></iframe>
<svg onload="window.pwned=1"><text>drawn</text></svg><p>&lt;/script&gt;&lt;script&gt;window.pwned=1&lt;/script&gt; {{script}}</p>
<link rel=stylesheet href="http://127.0.0.1:9/z.css"><p style="background:url(http://127.0.0.1:9/b.png)">A paragraph.</p>
<a href="javascript:window.pwned=1" id=search>a link</a><form action="http://127.0.0.1:9/"><input autofocus
onfocus="window.pwned=1">
<math><mtext></form><form><mglyph><style></math><img src onerror=window.pwned=1></style></body>"""

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="no Chromium or Chrome on this machine")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    made = Chromium(tmp_path_factory.mktemp("browser"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document of three pages of real sites, a page with an error, and a hostile page."""
    folder = tmp_path_factory.mktemp("document")
    (folder / "hostile.html").write_text(HOSTILE)
    (folder / "empty.html").write_text("<script>x</script>")
    pages = [*PAGES, folder / "empty.html", folder / "hostile.html"]
    views = view_pages(find_pages([str(page) for page in pages], Settings().reading), Settings())
    (folder / "out.html").write_text(build_document(list(views)).encode("utf-8", "replace").decode())
    return folder / "out.html"


@pytest.fixture
def opened(browser: Chromium, file: Path) -> Iterator[Chromium]:
    browser.open(file)
    browser.wait("screen.content !== null")
    yield browser
    browser.run("unsaved = false")  # else the browser asks before it leaves


def at_page(browser: Chromium, number: int) -> None:
    browser.wait(f"screen.page === {number}")


def test_pages_and_blocks_are_listed(opened: Chromium) -> None:
    extraction = shared_extractor(Settings()).extract(PAGES[0].read_bytes())
    assert opened.run("document.querySelectorAll('#pages li').length") == 5
    assert opened.run("document.querySelectorAll('.block').length") == extraction.n_blocks
    assert opened.run("document.querySelectorAll('.block[aria-selected=true]').length") == extraction.n_main
    assert opened.run("byId('counts').textContent") == "5 pages · 1 error"
    assert opened.run("byId('title').textContent") == extraction.title
    opened.click("#tab-markdown")
    shown = opened.run("[...byId('output').children].map((line) => line.textContent.trim()).join('\\n')")
    assert shown.split() == extraction.markdown.split()
    assert opened.requests() == [f"file://{opened.run('location.pathname')}"]
    assert opened.complaints() == []


def test_markdown_is_rendered_without_what_loads_or_leads_anywhere(opened: Chromium) -> None:
    written = (
        '# A &lt;b> of \\*stars\\*\n\n**bo*ld*** and [a [b]](https://e.org/a(b) "T") ![ash](/a.jpg)[^1]\n\n'
        "- one\n  - two\n    more\n- three\n\n> said\n> `x|y`\n\n| a | b |\n|---|---|\n| 1 | 2\\|3 |\n\n"
        "````py\n```\n````\n\n---\n\n[^1]: A note."
    )
    opened.run(f"byId('output').replaceChildren(...renderMarkdown({json.dumps(written)}))")
    markup = opened.run("byId('output').innerHTML").replace(' dir="auto"', "")
    assert markup == (
        '<p class="h h1">A &lt;b&gt; of *stars*</p>'
        '<p><strong>bo<em>ld</em></strong> and <span class="link" title="https://e.org/a(b)\nT">a [b]</span> '
        '<span class="picture" title="/a.jpg">ash</span><sup>1</sup></p>'
        "<ul><li><p>one</p><ul><li><p>two more</p></li></ul></li><li><p>three</p></li></ul>"
        "<blockquote><p>said <code>x|y</code></p></blockquote>"
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2|3</td></tr></table>"
        '<pre class="code" data-language="py">```</pre><hr><div class="note"><sup>1</sup><p>A note.</p></div>'
    )


@pytest.mark.parametrize("of", ["**", "[", "> ", "- ", "`", "*a ", "$ ", "![", "| ", "\\", "[^"])
def test_any_text_is_rendered(opened: Chromium, of: str) -> None:
    opened.run(f"byId('output').replaceChildren(...renderMarkdown({json.dumps(of * 9000)}))")
    assert opened.complaints() == []


def test_what_is_known_of_a_page_leads_to_its_places(opened: Chromium) -> None:
    opened.press("n")
    at_page(opened, 1)
    opened.click("#tab-about")
    extraction = shared_extractor(Settings()).extract(PAGES[1].read_bytes())
    assert len(extraction.posts) > 2
    rows = opened.run(
        "[...byId('output').querySelectorAll('tr')].map((row) => [...row.children].map((c) => c.textContent))"
    )
    assert ["site", "Lobsters"] in rows
    post = extraction.posts[2]
    assert [post.author, (post.published or "").replace("T", " "), str(post.offset)] in [row[:3] for row in rows]
    opened.run("byId('output').querySelectorAll('.place')[2].click()")
    assert post.author in opened.run("document.querySelector('.here').textContent")
    assert "kind forum" in opened.run("byId('facts').textContent")


def test_a_narrow_window_has_nothing_beside_it(opened: Chromium) -> None:
    opened.set_size(390, 844)
    assert opened.run("document.documentElement.scrollWidth") == 390
    opened.set_size(1500, 950)


def test_colours_go_with_probability_and_main_blocks_stand_out(opened: Chromium) -> None:
    seen = opened.run(
        "screen.content.blocks.map((block, at) => { const row = byId(`block-${at + 1}`), style = getComputedStyle(row);"
        " return [block.probability, block.main, style.borderLeftColor, style.backgroundColor]; })"
    )
    by_probability: dict[float, set[str]] = {}
    for probability, _, stripe, _ in seen:
        by_probability.setdefault(probability, set()).add(stripe)
    assert all(len(stripes) == 1 for stripes in by_probability.values())
    assert by_probability[min(by_probability)] != by_probability[max(by_probability)]
    grounds = {main: {ground for _, is_main, _, ground in seen if is_main is main} for main in (True, False)}
    assert grounds[True].isdisjoint(grounds[False])


def test_keys_go_through_pages_blocks_and_doubts(opened: Chromium) -> None:
    opened.press("ArrowDown")
    assert opened.run("document.activeElement.id") == "block-1"
    opened.press("j")
    opened.press("k")
    assert opened.run("screen.block") == 0
    doubts = []
    for _ in range(opened.run("pages[0].n_doubtful")):
        opened.press("d")
        doubts.append(opened.run("isDoubtful(screen.content.blocks[screen.block]) && screen.block"))
    assert doubts == sorted(set(doubts))
    assert False not in doubts
    opened.press("d")
    at_page(opened, 1)
    opened.wait("screen.block >= 0")
    opened.press("D")
    at_page(opened, 0)
    opened.press("n")
    at_page(opened, 1)
    opened.press("p")
    at_page(opened, 0)
    assert opened.run("document.querySelector('[aria-current]').dataset.page") == "0"


def test_the_pages_are_filtered(opened: Chromium) -> None:
    opened.press("/")
    opened.run("document.activeElement.value = 'indexes'")
    opened.run("byId('search').dispatchEvent(new Event('input'))")
    assert opened.run("document.querySelectorAll('#pages li').length") == 1
    opened.run("byId('search').value = 'empty_page'; byId('search').dispatchEvent(new Event('input'))")
    assert "empty_page" in opened.run("byId('pages').textContent")
    opened.run("byId('search').value = ''; byId('which').value = 'errors'")
    opened.run("byId('which').dispatchEvent(new Event('change'))")
    assert opened.run("[...byId('pages').querySelectorAll('button')].map((one) => one.dataset.page)") == ["3"]


def test_an_error_is_shown_with_its_detail(opened: Chromium) -> None:
    opened.click("#pages button[data-page='3']")
    at_page(opened, 3)
    assert opened.run("[...byId('error').children].map((part) => part.textContent)") == [
        "empty_page",
        "no visible text",
    ]
    assert opened.run("byId('checked').disabled") is True


def test_reasons_are_shown_for_a_block(opened: Chromium) -> None:
    opened.press("d")
    block = opened.run("screen.content.blocks[screen.block]")
    names = opened.run("[...document.querySelectorAll('#detail .name')].map((name) => name.textContent)")
    assert names == [name for name, _ in block["reasons"]]
    assert names
    assert names[0] in opened.run("document.querySelector('.block.active').title")
    assert block["path"] in opened.run("byId('detail').textContent")


def test_blocks_can_be_filtered(opened: Chromium) -> None:
    opened.run("byId('show').value = 'doubtful'; byId('show').dispatchEvent(new Event('change'))")
    shown = opened.run("[...document.querySelectorAll('.block')].filter((row) => row.offsetParent).length")
    assert shown == opened.run("pages[0].n_doubtful")
    opened.run("byId('show').value = 'all'; byId('show').dispatchEvent(new Event('change'))")


def test_corrections_become_a_data_set_that_loads_and_scores(opened: Chromium, tmp_path: Path) -> None:
    """A page is corrected with clicks and keys, another is only checked; both are truth, the rest
    is not."""
    opened.download_into(tmp_path)
    opened.click("#block-1 .text")
    opened.press("ArrowDown")
    opened.press(" ")
    opened.press("End")
    opened.press("o")
    assert opened.run("document.querySelectorAll('.block.corrected').length") == 2
    opened.click("#tab-truth")
    assert opened.run("byId('output').textContent").startswith("discodanlives")
    opened.press("n")
    at_page(opened, 1)
    opened.press("c")
    assert opened.run("byId('checked').getAttribute('aria-pressed')") == "true"
    opened.click("#export")
    opened.downloaded()
    with tarfile.open(tmp_path / "corrected.tar") as tar:
        tar.extractall(tmp_path, filter="data")
    first, second = read_pages(tmp_path, "corrected")
    assert count_pages(tmp_path, "corrected").usable == 2
    assert [first.html, second.html] == [page.read_bytes() for page in PAGES[:2]]
    # The labeler has blocks 4 to 27; the last one, which is other, was labelled other again.
    assert first.more["main_blocks"] == "1-2,4-27"
    assert first.more["corrected"] == 2
    assert second.more["corrected"] == 0
    examined = shared_extractor(Settings()).examine(second.html)
    assert examined.page is not None
    assert examined.main is not None
    main = [block.text for block, is_main in zip(examined.page.blocks, examined.main, strict=True) if is_main]
    assert second.truth_text == "\n".join(main)
    # Not 1, as the text of an extraction has the marks of lists and code.
    assert rouge_n(to_text(examined.extraction.main_html), second.truth_text, tokens="split").f1 > 0.85


def test_rows_of_truth_alone(opened: Chromium, tmp_path: Path) -> None:
    opened.download_into(tmp_path)
    opened.press("c")
    opened.click("#export-rows")
    opened.downloaded()
    (row,) = map(json.loads, io.StringIO((tmp_path / "truth.jsonl").read_text()))
    assert {"id", "file", "truth_text", "html_sha256"} <= set(row)
    assert row["main_blocks"].startswith("4")


def test_a_correction_can_be_taken_back(opened: Chromium) -> None:
    opened.click("#block-1 .text")
    assert opened.run("byId('export').disabled") is False
    assert opened.run("unsaved") is True
    opened.click("#reset")
    opened.wait("document.querySelectorAll('.corrected').length === 0")
    assert opened.run("byId('export').disabled") is True
    assert opened.run("unsaved") is False


def test_a_hostile_page_runs_and_loads_nothing(opened: Chromium) -> None:
    opened.click("#pages button[data-page='4']")
    at_page(opened, 4)
    for tab in ("rendered", "markdown", "about", "main_html", "truth"):
        opened.click(f"#tab-{tab}")
        assert "onerror" in opened.run("byId('output').textContent") or tab != "main_html"
    opened.press("ArrowDown")
    opened.run("new Promise((done) => setTimeout(done, 200))")
    assert opened.run("typeof window.pwned") == "undefined"
    assert (
        opened.run("document.querySelectorAll('img, iframe, svg, link, form:not([method=dialog]), a[href]').length")
        == 0
    )
    assert [url for url in opened.requests() if not url.startswith("file:")] == []
    assert "</script>" in opened.run("byId('title').textContent")
    assert opened.complaints() == []


def test_even_markup_that_got_in_could_run_nothing(opened: Chromium) -> None:
    """The policy is the second wall: here it is tried from within."""
    opened.run("byId('output').innerHTML = '<img src=\"http://127.0.0.1:9/x.png\" onerror=\"window.pwned=1\">'")
    opened.run("new Promise((done) => setTimeout(done, 200))")
    assert opened.run("typeof window.pwned") == "undefined"
    assert any("Content Security Policy" in text for text in opened.complaints())


def test_a_dark_scheme_is_followed(opened: Chromium) -> None:
    light = opened.run("getComputedStyle(document.body).backgroundColor")
    opened.dark()
    assert opened.run("getComputedStyle(document.body).backgroundColor") != light
    opened.dark(is_dark=False)

"""A real browser reads main HTML, writes it again, and reads that: nothing runs, and nothing that
could run comes out of it (mutation XSS)."""

import json
from collections.abc import Iterator, Sequence
from html import escape

import pytest

from dripper.html import preprocess, prune_page, rewrite, to_markdown
from dripper.settings import HtmlSettings
from dripper.tree.urls import Base
from support.chromium import Chromium, find_chromium
from support.dangers import VECTORS, dangers
from support.renderers import RENDERERS

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="no Chromium or Chrome on this machine")

AROUND = [
    "<p>before</p>{}<p>after</p>",
    "<table><tr><td>before {} after</table>",
    "<svg><p>{}</svg>",
    "<math><mi>{}</math>",
]
ROUND_TRIPS = """(async () => {
    const ran = [];
    window.alert = window.x = (what) => { ran.push(String(what)); };
    document.body.replaceChildren();
    const seen = %s.map((html) => {
        const holder = document.body.appendChild(document.createElement("div"));
        return [0, 1, 2].map(() => { holder.innerHTML = html; html = holder.innerHTML; return html; });
    });
    // Handlers of images that are not there run a little later.
    await new Promise((done) => setTimeout(done, 20));
    return [seen, ran];
})()"""
AT_ONCE = 20
"""Several documents in the browser at once, which share one wait."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    folder = tmp_path_factory.mktemp("browser")
    (folder / "empty.html").write_text("<!doctype html><title>x</title>")
    opened = Chromium(folder)
    opened.open(folder / "empty.html")
    yield opened
    opened.close()


def main_html(html: str) -> str:
    page = preprocess(html)
    return "".join(rewrite(prune_page(page, page.item_ids), HtmlSettings(), Base.of("https://e.org/a/b")).parts)


def left_after(browser: Chromium, pages: Sequence[str]) -> list[tuple[Sequence[str], list[str]]]:
    """Return the pages for which the browser writes something that could run, with these parts; and
    the pages, possibly several together, in which something did run."""
    left = list[tuple[Sequence[str], list[str]]]()
    for start in range(0, len(pages), AT_ONCE):
        batch = pages[start : start + AT_ONCE]
        written, ran = browser.run(ROUND_TRIPS % json.dumps(batch))
        left += [
            ([page], found)
            for page, texts in zip(batch, written, strict=True)
            if (found := [danger for text in texts for danger in dangers(text)])
        ]
        left += [(batch, ran)] if ran else []
    return left


@pytest.mark.parametrize("around", AROUND)
def test_no_vector_comes_back(around: str, browser: Chromium) -> None:
    assert left_after(browser, [main_html(around.replace("{}", vector)) for vector in VECTORS]) == []


def test_rendered_markdown_runs_nothing(browser: Chromium) -> None:
    markdown = [to_markdown(main_html(f"<p>{escape(vector)}</p>{vector}")) for vector in VECTORS]
    assert left_after(browser, [render(text) for text in markdown for render in RENDERERS.values()]) == []


def test_the_browser_runs_vectors_as_they_are(browser: Chromium) -> None:
    """The check above, which finds nothing, finds something here, in the text and at run time."""
    assert left_after(browser, VECTORS[:AT_ONCE]) != []
    image = "<img src=none onerror=alert(1)>"
    left = left_after(browser, ["<p>harmless</p>", image])
    assert [pages for pages, _ in left] == [[image], ["<p>harmless</p>", image]]
    assert left[1][1] == ["1"] * 3

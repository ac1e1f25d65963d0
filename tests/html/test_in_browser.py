"""A real browser reads main HTML, writes it again, and reads that: nothing runs, and nothing that
could run comes out of it (mutation XSS)."""

import json
from collections.abc import Iterator
from html import escape

import pytest

from dripper.html import preprocess, rewrite, to_markdown
from dripper.html.tree.urls import Base
from dripper.settings import HtmlSettings
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
ROUND_TRIPS = """(() => {
    window.ran = [];
    window.alert = window.x = (what) => { window.ran.push(String(what)); };
    const holder = document.createElement("div");
    document.body.replaceChildren(holder);
    const seen = [];
    let html = %s;
    for (let i = 0; i < 3; i++) { holder.innerHTML = html; html = holder.innerHTML; seen.push(html); }
    return seen;
})()"""


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
    return "".join(rewrite(page.prune(page.item_ids), HtmlSettings(), Base.of("https://e.org/a/b")).parts)


def left_after(browser: Chromium, html: str) -> list[str]:
    """Return what could run in what the browser writes, and what did run."""
    written: list[str] = browser.run(ROUND_TRIPS % json.dumps(html))
    # Handlers of images that are not there run a little later.
    browser.run("new Promise((done) => setTimeout(done, 5))")
    ran: list[str] = browser.run("window.ran")
    return [*(found for each in written for found in dangers(each)), *ran]


@pytest.mark.parametrize("around", AROUND)
def test_no_vector_comes_back(around: str, browser: Chromium) -> None:
    left = {vector: left_after(browser, main_html(around.replace("{}", vector))) for vector in VECTORS}
    assert {vector: found for vector, found in left.items() if found} == {}


def test_rendered_markdown_runs_nothing(browser: Chromium) -> None:
    for vector in VECTORS:
        markdown = to_markdown(main_html(f"<p>{escape(vector)}</p>{vector}"))
        for render in RENDERERS.values():
            assert left_after(browser, render(markdown)) == [], markdown


def test_the_browser_runs_vectors_as_they_are(browser: Chromium) -> None:
    """The check that finds nothing above finds something here."""
    assert any(left_after(browser, vector) for vector in VECTORS[:20])

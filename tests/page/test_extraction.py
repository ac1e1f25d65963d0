"""One page's way without Spark: what every result promises."""

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dripper
from dripper.config import LabelerSettings, load
from dripper.errors import ErrorCode, SettingsError
from dripper.html.blocks.page import Page
from dripper.labels import Labels
from dripper.page import extraction
from dripper.page.extraction import Extractor
from support.warcs import page

HTML = page(3)[1]


class Nothing:
    """A labeler that finds nothing."""

    name = "nothing"
    version = "1"

    def label(self, pages: list[Page]) -> list[Labels]:
        return [Labels.certain(np.zeros(len(page.blocks), bool)) for page in pages]


def test_the_article_is_kept_and_the_rest_is_not() -> None:
    result = dripper.extract(HTML, url="http://example.org/3")
    assert result.error_code is None
    assert result.markdown.count("ferry leaves the harbour") == 6
    assert "Section 4" not in result.markdown
    assert (result.title, result.language, result.method) == ("Article 3", "en", "cpu")
    assert 6 <= result.n_main < result.n_blocks
    assert "_item_id" not in result.main_html
    assert "cc-alg-uc-text" not in result.main_html


def test_text_and_bytes_give_the_same() -> None:
    text, data = dripper.extract(HTML.decode()), dripper.extract(HTML)
    assert (text.charset, data.charset) == (None, "utf-8")
    assert text.main_html == data.main_html


def test_the_same_page_gives_the_same_result() -> None:
    digests = {hashlib.sha256(repr(dripper.extract(HTML)).encode()).hexdigest() for _ in range(3)}
    assert len(digests) == 1


@pytest.mark.parametrize("html", ["", " \n", "<script>x</script>", b"", b"<p>\x00\x00"])
def test_no_text_is_an_error_code(html: str | bytes) -> None:
    result = dripper.extract(html)
    assert result.error_code is ErrorCode.EMPTY_PAGE
    assert (result.main_html, result.markdown, result.n_blocks) == ("", "", 0)


@pytest.mark.parametrize(
    ("fallback", "method", "has_text"),
    [
        ("trafilatura", "fallback:trafilatura", True),
        ("body", "fallback:body", True),
        ("empty", "fallback:empty", False),
    ],
)
def test_where_nothing_is_main_the_fallback_says_so(fallback: str, method: str, has_text: bool) -> None:
    settings = LabelerSettings.model_validate({"fallback": fallback})
    result = Extractor(settings, labeler=Nothing()).extract(HTML)
    assert (result.method, result.n_main, result.error_code) == (method, 0, None)
    assert ("ferry" in result.markdown) is has_text


def test_wrong_types_and_names() -> None:
    with pytest.raises(TypeError, match="html must be str or bytes, not int"):
        dripper.extract(3)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="did you mean 'cpu'"):
        dripper.extract(HTML, labeler="cpuu")
    with pytest.raises(AttributeError, match="no attribute 'extrakt'"):
        _ = dripper.extrakt


def names_no_page(text: str) -> bool:
    """Addresses and files in place of a page are refused: tests/page/test_single.py. Hypothesis
    tries the strings of this program's source, such as "/proc/self/stat"."""
    return text.strip().startswith(("http://", "https://", "/"))


@given(st.binary(max_size=300) | st.text(max_size=300).filter(lambda text: not names_no_page(text)))
@settings(max_examples=200, deadline=None)
def test_no_input_raises(html: bytes | str) -> None:
    result = dripper.extract(html)
    assert (result.error_code is None) == (result.n_blocks > 0)


def test_an_examination_shows_what_the_extraction_was_made_of() -> None:
    html = "<body><nav><a href=/>Home</a></nav><p>The ferry leaves at noon, as it does every day.</p>"
    examined = Extractor().examine(html)
    assert examined.extraction == Extractor().extract(html)
    assert examined.page is not None
    assert examined.labels is not None
    assert examined.main is not None
    assert examined.page.prune((np.flatnonzero(examined.main) + 1).tolist()) == examined.extraction.main_html
    assert len(examined.labels.probability) == examined.extraction.n_blocks == len(examined.main)


def test_an_examination_has_the_blocks_that_a_fallback_chose() -> None:
    examined = Extractor(LabelerSettings(fallback="body"), labeler=Nothing()).examine("<p>one<p>two")
    assert examined.extraction.method == "fallback:body"
    assert examined.labels is not None
    assert not examined.labels.main.any()
    assert examined.main is not None
    assert examined.main.all()


def test_an_examination_of_an_empty_page_has_only_the_error() -> None:
    examined = Extractor().examine("<script>x</script>")
    assert (examined.extraction.error_code, examined.page, examined.main) == (ErrorCode.EMPTY_PAGE, None, None)


LINKED = (
    "<base href='/docs/'>"
    "<p>See <a href='map.html' onclick='x()'>the\nmap</a> and <img src=/a.png alt=it srcset='b.png 2x'></p>"
)


def test_links_and_images_are_absolute_and_nothing_runs() -> None:
    result = dripper.extract(LINKED, url="https://example.org/a/b")
    link, larger = "https://example.org/docs/map.html", "https://example.org/docs/b.png"
    assert result.main_html == (
        f'<html><body><p>See <a href="{link}">the\nmap</a> and <img src="{larger}" alt="it" srcset="{larger} 2x"></p></body></html>'
    )
    assert result.markdown == f"See [the map]({link}) and ![it]({larger})\n"
    assert result.text == "See the map and"


def test_the_raw_form_is_a_setting() -> None:
    options = {"html.inert": False, "html.absolute_links": False}
    raw = dripper.extract(LINKED, url="https://example.org/a/b", settings=options)
    assert '<a href="map.html" onclick="x()">' in raw.main_html
    assert "[the map](map.html)" in raw.markdown


def test_mineru_main_html_stays_and_its_markdown_is_absolute() -> None:
    result = dripper.extract(LINKED, url="https://example.org/a/b", settings={"profile": "mineru-1.1"})
    assert 'href="map.html"' in result.main_html
    assert "(https://example.org/" in result.markdown


@pytest.mark.parametrize(
    ("options", "markdown"),
    [
        ({}, "# The boat\n\nIt is [red](https://e.org/r). ![a boat](https://e.org/b.png)\n"),
        ({"markdown.title": "exclude"}, "It is [red](https://e.org/r). ![a boat](https://e.org/b.png)\n"),
        ({"markdown.title": "exclude", "markdown.links": "text", "markdown.images": "drop"}, "It is red.\n"),
        (
            {"markdown.title": "exclude", "markdown.converter": "html2text", "markdown.images": "drop"},
            "It is [red](https://e.org/r).\n",
        ),
    ],
)
def test_markdown_has_its_settings(options: dict[str, str], markdown: str) -> None:
    page = "<title>The boat | Boats</title><p>It is <a href=/r>red</a>. <img src=b.png alt='a boat'>"
    assert (
        dripper.extract(page, url="https://e.org/", settings=options).markdown.replace(" \n", "\n").rstrip() + "\n"
        == markdown
    )


def test_a_heading_that_main_content_begins_with_is_not_said_twice() -> None:
    menu = "<nav><div><a href=/>Home</a></div><div><a href=/b>The boat</a></div></nav>"
    text = "<p>It is <img src=b.png alt='a boat'> red, and it has been in the harbour of Bergen for a long time.</p>"
    result = dripper.extract(f"<title>The boat</title>{menu}<div><b>The boat</b></div>{text}", url="https://e.org/")
    assert result.markdown.startswith("# The boat\n\nIt is ![a boat](https://e.org/b.png) red,")
    assert [image.place for image in result.images] == [result.markdown.index("![")]
    result = dripper.extract(f"<title>The boat</title>{menu}<div><b>The boat</b><br>It was built in 1904.</div>{text}")
    assert result.markdown.startswith("# The boat\n\nIt was built in 1904.\n")


def test_no_gpl_package_is_loaded_on_the_way_of_a_page() -> None:
    program = """
import sys
import dripper, dripper.__main__, dripper.spark.workers.extract, dripper.spark.workers.read
assert dripper.extract("<title>T</title><p>One <b>page</b>.</p>").text
assert dripper.extract("<p>x", settings={"labeler.fallback": "trafilatura", "profile": "paper"}).error_code is None
sys.exit("html2text" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_one_page_has_no_site() -> None:
    with pytest.raises(SettingsError, match="only jobs see the pages of a host together"):
        dripper.extract("<p>One.", settings={"sites.enabled": True})


def test_a_process_keeps_few_extractors_and_makes_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "_extractors", {})
    asked = [load(assignments=[f"labeler.escalate_below=0.{n}"]) for n in range(1, extraction._MOST_KEPT + 3)]
    first = extraction.shared_extractor(asked[0])
    assert extraction.shared_extractor(asked[0]) is first
    for one in asked[1:]:
        extraction.shared_extractor(one)
    assert len(extraction._extractors) == extraction._MOST_KEPT
    assert extraction.shared_extractor(asked[0]) is not first
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(extraction.shared_extractor, [load(assignments=["labeler.escalate_below=0.99"])] * 4))
    assert len(set(map(id, made))) == 1

"""Pages without text have an error, or their declared text."""

import json

import pytest

from dripper.errors import ErrorCode
from dripper.page.extraction import Extractor
from dripper.settings import Settings

FRAME = "<title>The mill</title><nav><a href=/>Home</a> <a href=/n>News</a></nav><main>{}</main><footer>© Mill</footer>"
NOTHING = (
    "<p>Loading…",
    "<noscript>You need to enable JavaScript to run this app.</noscript>",
    "<p>Bitte aktivieren Sie JavaScript in Ihrem Browser.",
    "<h1>403 Forbidden</h1><p>You do not have permission to access this resource.",
    "<h1>404</h1><p>Page not found",
    "<p>Checking if the site connection is secure",
)
BODY = "The old mill at the river bend had been empty for thirty years.\n" * 8
EXTRACTOR = Extractor()


def declaring(shown: str, **declared: object) -> str:
    """Return a page that shows one thing and declares another."""
    return f'<script type="application/ld+json">{json.dumps(declared)}</script>{FRAME.format(shown)}'


@pytest.mark.parametrize("shown", NOTHING)
def test_a_page_that_says_nothing_is_empty(shown: str) -> None:
    for html in (f"<title>The mill</title>{shown}", FRAME.format(shown)):
        extraction = EXTRACTOR.extract(html)
        assert (extraction.error_code, extraction.markdown) == (ErrorCode.EMPTY_PAGE, "")
        assert "notice" in (extraction.error_detail or "")


@pytest.mark.parametrize("shown", [*NOTHING, "", "<p>The mill"])
@pytest.mark.parametrize("name", ["articleBody", "text"])
def test_a_declared_text_is_read_in_place_of_nothing(shown: str, name: str) -> None:
    page = declaring(shown, **{"@type": "NewsArticle", "headline": "The mill", name: BODY})
    extraction = EXTRACTOR.extract(page)
    assert (extraction.method, extraction.error_code, extraction.n_main) == ("declared", None, 0)
    assert extraction.text.split("\n\n") == BODY.splitlines()
    assert extraction.title == "The mill"


@pytest.mark.parametrize(
    ("shown", "declared"),
    [
        (f"<p>{BODY}", {"articleBody": BODY}),
        # The markup of a declared text is not part of its words; a menu asks for JavaScript.
        (f"{NOTHING[1]}<p>The <b>old mill</b> {BODY[13:]}", {"articleBody": f"The <b>old mill</b> {BODY[13:]}"}),
        ("<p>Loading…", {"@type": "Comment", "text": BODY}),
        ("<p>Loading…", {"articleBody": "The mill."}),
        (f"<p>{BODY[:100]}<p>Subscribe to read on", {"articleBody": BODY}),
    ],
)
def test_what_the_page_shows_or_readers_wrote_is_not(shown: str, declared: dict[str, str]) -> None:
    assert EXTRACTOR.extract(declaring(shown, **declared)).method != "declared"


def test_other_profiles_show_what_theirs_shows() -> None:
    extraction = Extractor(Settings(profile="paper")).extract(declaring("<p>Loading…", articleBody=BODY))
    assert (extraction.error_code, extraction.method != "declared") == (None, True)


def test_markup_in_a_declared_text_is_markup() -> None:
    html = f"<p>{BODY}</p><p>Then it <b>rained</b>.</p>"
    extraction = EXTRACTOR.extract(declaring("", articleBody=html))
    assert extraction.markdown.endswith("Then it **rained**.\n")
    assert extraction.method == "declared"

"""From what an extractor returns to what the truth is: plain text, or Markdown for WebMainBench.

HTML becomes text by the library html-text and Markdown by html2text, as the Dripper paper does for
its "Html+TEXT" and "Html+MD" (5.5 and 4.2.2), whoever the HTML is from.
"""

from collections.abc import Callable

from dripper.eval.extra import import_extra
from dripper.eval.extractors.base import Form
from dripper.markdown.paper import by_html2text
from dripper.settings import MarkdownSettings

_NO_LINKS = MarkdownSettings(links="text", images="drop")
MARKDOWN_TRUTHS = frozenset({"webmainbench", "webmainbench-samples"})


def converter(form: Form, data_set: str) -> Callable[[str], str]:
    """Return the function that turns an extractor's result into text to score on that data set."""
    if form is Form.TEXT:
        return str
    return markdown if data_set in MARKDOWN_TRUTHS else plain_text


def markdown(html: str) -> str:
    """Return HTML as Markdown, links and images left out, lines not wrapped."""
    return by_html2text(html, _NO_LINKS)


def plain_text(html: str) -> str:
    """Return HTML as text with its layout guessed."""
    return str(import_extra("html_text").extract_text(html)) if html.strip() else ""

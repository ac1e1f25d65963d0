"""Lists the other extractors. Each one is called as its documentation recommends for text. Most
come from PyPI (extra `[eval]`)."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

from dripper_lab.evaluation.extractors.base import Contender, Extract, Form, Standing, Task
from dripper_lab.extra import import_extra

STUDY_XPATH = '//body[1]//*[not(name() = "script") and not(name() = "style")]/text()'
BOILERPLATE_TAGS = frozenset({"aside", "footer", "header", "iframe", "nav", "noscript", "object", "embed"})
UNSEEN = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
TAG_OR_WORD = re.compile(r"<[a-zA-Z/!?][^>]*>|[^\s<]+|<")
HTML_LANGUAGE = re.compile(r"<html[^>]{0,300}?\slang\s*=\s*[\"']?([a-z]{2})", re.IGNORECASE)
# jusText's stop word lists by the language that a page declares. For languages without a list
# (Chinese, Japanese), its documentation recommends an empty list and thresholds of zero.
JUSTEXT_LISTS = {
    "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fi": "Finnish",
    "fr": "French", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ko": "Korean", "nl": "Dutch",
    "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian",
}  # fmt: skip
WITHOUT_LIST = frozenset({"ja", "th", "zh"})
HAN = re.compile("[\u4e00-\u9fff]")
# A page that declares no language counts as Chinese if it contains this many Han characters. Half
# of the older Chinese pages declare none.
HAN_CHARACTERS = 200


def peers() -> list[Contender]:
    """Return the peers in the order of the report's tables."""
    return [
        _peer("trafilatura", "trafilatura", trafilatura),
        _peer("trafilatura-precision", "trafilatura", lambda: trafilatura(favor_precision=True), "favor_precision"),
        _peer("trafilatura-recall", "trafilatura", lambda: trafilatura(favor_recall=True), "favor_recall"),
        _peer("trafilatura-fast", "trafilatura", lambda: trafilatura(fast=True), "fast"),
        _peer("rs-trafilatura", "rs-trafilatura", rs_trafilatura),
        _peer("readability-lxml", "readability-lxml", readability, "summary", Form.HTML),
        _peer("resiliparse", "Resiliparse", resiliparse, "main_content, without links and comments"),
        _peer("justext", "jusText", justext, "stop words of the stated language"),
        _peer("boilerpy3", "boilerpy3", boilerpy3, "ArticleExtractor"),
        _peer("boilerpy3-default", "boilerpy3", lambda: boilerpy3("DefaultExtractor"), "DefaultExtractor"),
        _peer(
            "boilerpy3-largest", "boilerpy3", lambda: boilerpy3("LargestContentExtractor"), "LargestContentExtractor"
        ),
        _peer("boilerpy3-canola", "boilerpy3", lambda: boilerpy3("CanolaExtractor"), "CanolaExtractor"),
        _peer("bte", "numpy", bte, "written here after Finn et al. 2001"),
        _peer("goose3", "goose3", goose3),
        _peer("newspaper4k", "newspaper4k", newspaper4k),
        _peer("news-please", "news-please", news_please),
        _peer("gne", "gne", gne),
        _peer("magic-html", "magic_html", magic_html, "GeneralExtractor", Form.HTML),
        _peer("mineru-fallback", "trafilatura", mineru_fallback, "trafilatura to HTML, no comments", Form.HTML),
        Contender("trafilatura-wceb", Standing.WCEB, "trafilatura", lambda: trafilatura(include_comments=False)),
        Contender("justext-wceb", Standing.WCEB, "jusText", justext_wceb),
        Contender("html2text", Standing.TEXT, "html2text", html2text, setting="no links, no images"),
        Contender("inscriptis", Standing.TEXT, "inscriptis", inscriptis),
        Contender("beautifulsoup", Standing.TEXT, "beautifulsoup4", beautifulsoup, setting="without script and style"),
        Contender("html-text", Standing.TEXT, "html-text", html_text),
        Contender("xpath-text", Standing.TEXT, "lxml", xpath_text, setting="the study's expression"),
        Contender("lxml-cleaner", Standing.TEXT, "lxml-html-clean", lxml_cleaner, setting="boilerplate elements cut"),
    ]


def trafilatura(**options: Any) -> Extract:
    """Trafilatura as text."""
    return _of_html("trafilatura", lambda module, html, url: module.extract(html, url=url, **options))


def rs_trafilatura() -> Extract:
    """rs-trafilatura, the Rust system that first guesses the page's type."""
    return _of_html("rs_trafilatura", lambda module, html, url: module.extract(html, url=url).main_content)


def readability() -> Extract:
    """Arc90's Readability in Python."""
    return _of_html("readability", lambda module, html, url: module.Document(html, url=url).summary(html_partial=True))


def resiliparse() -> Extract:
    """Resiliparse with the arguments of its author's comparison (WCEB)."""
    html2text, parse = import_extra("resiliparse.extract.html2text"), import_extra("resiliparse.parse.html")
    options = {"list_bullets": False, "comments": False, "links": False, "alt_texts": False}
    return lambda task: html2text.extract_plain_text(
        parse.HTMLTree.parse(_encodable(task.html)), preserve_formatting=True, main_content=True, **options
    )


def justext() -> Extract:
    """jusText, with paragraphs joined by line breaks."""
    module = import_extra("justext")

    def extract(task: Task) -> str:
        language = language_of(task.html)
        if language in WITHOUT_LIST:
            paragraphs = module.justext(task.html, frozenset(), stopwords_low=0, stopwords_high=0)
        else:
            paragraphs = module.justext(task.html, module.get_stoplist(JUSTEXT_LISTS.get(language, "English")))
        return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)

    return extract


def justext_wceb() -> Extract:
    """jusText as the study calls it: always English, with the study's thresholds, paragraphs joined
    by spaces."""
    module = import_extra("justext")

    def extract(task: Task) -> str:
        paragraphs = module.justext(task.html, module.get_stoplist("English"), 50, 200, 0.1, 0.2, 0.2, 200, True)
        return " ".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)

    return extract


def boilerpy3(mode: str = "ArticleExtractor") -> Extract:
    """The Python port of Boilerpipe, by default with its article extractor."""
    extractor = getattr(import_extra("boilerpy3.extractors"), mode)(raise_on_failure=False)
    return lambda task: extractor.get_content(task.html)


def goose3() -> Extract:
    """Goose: the cleaned text of the article. Goose's Chinese stop words are used for Chinese
    pages. Images are not fetched."""
    module, chinese_words = import_extra("goose3"), import_extra("goose3.text").StopWordsChinese
    goose = module.Goose({"enable_image_fetching": False})
    chinese = module.Goose({"enable_image_fetching": False, "stopwords_class": chinese_words})

    def extract(task: Task) -> str:
        fitting = chinese if language_of(task.html) == "zh" else goose
        return fitting.extract(raw_html=task.html).cleaned_text or ""

    return extract


def newspaper4k() -> Extract:
    """Newspaper: the article's text. Images are not fetched."""
    newspaper = import_extra("newspaper")

    def extract(task: Task) -> str:
        options = {"language": "zh"} if language_of(task.html) == "zh" else {}  # Newspaper detects other languages
        article = newspaper.Article(task.page.url or "http://localhost/", fetch_images=False, **options)
        article.download(input_html=task.html)
        article.parse()
        return article.text or ""

    return extract


def news_please() -> Extract:
    """news-please: the article's main text. No extra includes it, because it requires a crawler and
    database drivers. It is used if it is installed."""
    please = import_extra("newsplease").NewsPlease

    def extract(task: Task) -> str:
        article = please.from_html(task.html, url=task.page.url, fetch_images=False) if task.html.strip() else None
        return (article and article.maintext) or ""

    return extract


def gne() -> Extract:
    """GNE, which is designed for Chinese news."""
    extractor = import_extra("gne").GeneralNewsExtractor()
    return lambda task: extractor.extract(task.html)["content"] or ""


def magic_html() -> Extract:
    """magic-html, which guesses the type of page itself. It is not on PyPI, but used if it is
    installed."""
    extractor = import_extra("magic_html").GeneralExtractor()
    return lambda task: extractor.extract(task.html, base_url=task.page.url or "").get("html") or ""


def mineru_fallback() -> Extract:
    """MinerU-HTML's fallback: Trafilatura's HTML without comments."""
    options = import_extra("trafilatura.settings").Extractor(output_format="html", comments=False)
    return _of_html("trafilatura", lambda module, html, _: module.extract(html, options=options))


def html2text() -> Extract:
    """The whole page as Markdown, converted as in the Dripper paper."""
    module = import_extra("html2text")

    def extract(task: Task) -> str:
        converter = module.HTML2Text(bodywidth=0)
        converter.ignore_links = converter.ignore_images = True
        return str(converter.handle(task.html))

    return extract


def inscriptis() -> Extract:
    """The whole page as text with its layout."""
    return _of_html("inscriptis", lambda module, html, _: module.get_text(html))


def beautifulsoup() -> Extract:
    """All text nodes except inside script, style and noscript."""
    module = import_extra("bs4")

    def extract(task: Task) -> str:
        soup = module.BeautifulSoup(task.html, "html.parser")
        for element in soup(["script", "style", "noscript"]):
            element.decompose()
        return str(soup.get_text(separator=" ", strip=True))

    return extract


def html_text() -> Extract:
    """The whole page by html-text."""
    return _of_html("html_text", lambda module, html, _: module.extract_text(html) if html.strip() else "")


def xpath_text() -> Extract:
    """All text nodes of the body except inside script and style, selected as in the study."""
    html_parser = import_extra("lxml.html")

    def extract(task: Task) -> str:
        if not task.html.strip():
            return ""
        root = html_parser.document_fromstring(_encodable(task.html).encode(), html_parser.HTMLParser(encoding="utf-8"))
        return " ".join(text.strip() for text in root.xpath(STUDY_XPATH) if text.strip())

    return extract


def lxml_cleaner() -> Extract:
    """The text that lxml's cleaner keeps, after removing elements with tags that suggest
    boilerplate, such as `nav`. The study does not publish its list of tags; this list is
    similar."""
    html_parser, clean = import_extra("lxml.html"), import_extra("lxml_html_clean")
    cleaner = clean.Cleaner(
        scripts=True, javascript=True, style=True, comments=True, forms=True, embedded=True, kill_tags=BOILERPLATE_TAGS
    )

    def extract(task: Task) -> str:
        if not task.html.strip():
            return ""
        root = html_parser.document_fromstring(_encodable(task.html).encode(), html_parser.HTMLParser(encoding="utf-8"))
        return " ".join(cleaner.clean_html(root).text_content().split())

    return extract


def bte() -> Extract:
    """Body Text Extraction: the section of the page with the most words inside and the most tags
    outside."""
    return lambda task: _body_text(task.html)


def _body_text(html: str) -> str:
    """Return the words of the section that maximizes the number of words minus the number of tags.
    This section also maximizes words inside plus tags outside, because the total number of tags is
    fixed.

    >>> _body_text("<p><i>a</i><p>one two three four<b>five six</b> seven eight<ul><li>c")
    'one two three four five six seven eight'
    """
    tokens = TAG_OR_WORD.findall(UNSEEN.sub(" ", html))
    best, total, start, stretch = 0, 0, 0, (0, 0)
    for place, token in enumerate(tokens):
        total += -1 if token[0] == "<" else 1
        if total < 1:
            total, start = 0, place + 1
        elif total > best:
            best, stretch = total, (start, place + 1)
    return unescape(" ".join(token for token in tokens[slice(*stretch)] if token[0] != "<"))


def language_of(html: str) -> str:
    """Return the language that a page declares in its root element. If there is none, return "zh"
    if the page contains many Han characters, otherwise "en".

    Used for extractors with a language option.
    """
    if stated := HTML_LANGUAGE.search(html):
        return stated[1].lower()
    n_han = sum(1 for _ in zip(range(HAN_CHARACTERS), HAN.finditer(html), strict=False))
    return "zh" if n_han == HAN_CHARACTERS else "en"


def _peer(
    name: str, package: str, loader: Callable[[], Extract], setting: str = "default", form: Form = Form.TEXT
) -> Contender:
    return Contender(name, Standing.PEER, package, loader, form, setting)


def _of_html(module_name: str, call: Callable[[Any, str, str | None], str | None]) -> Extract:
    module = import_extra(module_name)
    return lambda task: call(module, task.html, task.page.url) or ""


def _encodable(html: str) -> str:
    """Replace lone surrogates by U+FFFD, because resiliparse raises an error for them."""
    return html.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

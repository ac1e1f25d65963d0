"""Adds the main content of pages to the items of a Scrapy spider.

    ITEM_PIPELINES = {"dripper.adapters.scrapy.DripperPipeline": 300}
    DRIPPER = {"labels.cpu.comments": "include"}  # settings of dripper, if any

An item with a page in `html` (such as `response.body`) and the page's URL in `url` gets `markdown`,
`title`, `language` and more. If the page has no content, the item is kept, and its `error_code`
gives the reason.
"""

from typing import Any

from dripper import extras as optional
from dripper.adapters import collect_metadata
from dripper.page.extraction import checked_settings, extract_apart
from dripper.settings import Settings

with optional.needed("dripper.adapters.scrapy", "scrapy"):
    from itemadapter import ItemAdapter
    from scrapy.crawler import Crawler


class DripperPipeline:
    """Adds the result of `dripper.extract` to each item.

    Pages are processed in a child process under the limits in the settings. The page itself is
    removed from the item unless `DRIPPER_KEEP_HTML` is set. `DRIPPER_HTML_FIELD` and
    `DRIPPER_URL_FIELD` name the fields to use instead of `html` and `url`.

    Raises:
        UsageError: A setting is invalid.
    """

    def __init__(self, settings: Settings, html: str = "html", url: str = "url", keeps_html: bool = False) -> None:
        self._settings = settings
        self._html = html
        self._url = url
        self._keeps_html = keeps_html

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> "DripperPipeline":
        """Return a pipeline configured by the crawler's settings."""
        settings = crawler.settings
        return cls(
            checked_settings(None, settings.getdict("DRIPPER"), {}),
            settings.get("DRIPPER_HTML_FIELD", "html"),
            settings.get("DRIPPER_URL_FIELD", "url"),
            settings.getbool("DRIPPER_KEEP_HTML"),
        )

    def process_item(self, item: Any, spider: Any = None) -> Any:
        """Return the item with its page's content. An item without a page is returned unchanged."""
        fields = ItemAdapter(item)
        html = fields.get(self._html)
        if not html:
            return item
        extraction = extract_apart(self._settings, html, fields.get(self._url))
        if not self._keeps_html:
            del fields[self._html]
        values = collect_metadata(extraction) | {"markdown": extraction.markdown}
        if extraction.error_code is not None:
            values = {"error_code": extraction.error_code.value, "error_detail": extraction.error_detail}
        fields.update(values)
        return item

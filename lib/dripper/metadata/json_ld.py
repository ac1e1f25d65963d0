"""What the objects of a page's JSON-LD say of the page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dripper.markup.head import types_of

_WORKS = (
    "article",
    "posting",
    "report",
    "recipe",
    "videoobject",
    "podcastepisode",
    "book",
    "movie",
    "course",
    "question",
)
"""Ends of the names of types that are what a page is about: NewsArticle, BlogPosting, …"""
_PAGES = ("webpage", "itempage", "faqpage", "profilepage", "aboutpage", "collectionpage", "product", "event")


class JsonLd:
    """The works and pages among a page's objects: those whose kind comes first, then those that
    come first."""

    def __init__(self, objects: Sequence[dict[str, Any]]) -> None:
        self._named: dict[str, dict[str, Any]] = {}
        works, pages, self._sites = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
        for value in objects:
            identity = value.get("@id")
            if isinstance(identity, str) and len(value) > 1:
                self._named.setdefault(identity, value)
            kinds = types_of(value)
            if any(kind.endswith(_WORKS) for kind in kinds):
                works.append(value)
            elif any(kind in _PAGES for kind in kinds):
                pages.append(value)
            elif "website" in kinds:
                self._sites.append(value)
        # Further works are those that a list or a sidebar names.
        self._works = works[:1] + pages[:1]

    def texts(self, *names: str) -> Iterator[str]:
        """Yield the texts of the first property, of the first object, that has some."""
        for value in self._works:
            for name in names:
                # Once each: a page can refer to a long text as often as it likes.
                found = list(dict.fromkeys(self._texts(value.get(name))))
                if found:
                    yield from found
                    return

    def sites(self) -> Iterator[str]:
        """Yield names of the site, the likeliest first."""
        for value in self._sites:
            yield from self._texts(value.get("name"))
        yield from self.texts("publisher", "sourceOrganization")

    def image(self) -> Iterator[str]:
        """Yield addresses of the page's picture."""
        for value in self._works:
            for name in ("image", "thumbnailUrl"):
                yield from self._texts(value.get(name), ("url", "contentUrl", "@id"))

    def _texts(self, value: Any, inside: tuple[str, ...] = ("name",)) -> Iterator[str]:
        """Yield the texts of a property: its own, those of a list's items, the name of an object or
        of one referred to."""
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str):
                yield item
            elif isinstance(item, Mapping):
                whole = self._named.get(item["@id"], item) if isinstance(item.get("@id"), str) else item
                names = (whole.get(name) for name in inside)
                text = next((name[0] if isinstance(name, list) and name else name for name in names if name), None)
                if isinstance(text, str):
                    yield text

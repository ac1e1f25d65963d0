"""Reads a page's metadata.

The sources of each field are tried in a fixed order; the first source with a value decides. The
tables of names in this module are authoritative; docs/metadata.md repeats them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import unescape
from itertools import chain, islice
from typing import Any

from dripper.facts.metadata.dates import find_date_in_address, find_precision, label_dates, parse_any_date
from dripper.facts.metadata.names import (
    cut_company,
    is_organisation,
    is_whole,
    join_lines,
    read_byline,
    remove_tags,
    split_authors,
    split_tags,
)
from dripper.facts.metadata.titles import SiteName, choose_title, is_sentence
from dripper.facts.metadata.visible import HOME, Visible, find_first_date
from dripper.tree.elements import words
from dripper.tree.head import Head, read_types
from dripper.tree.parser import DEFAULT_READING, Reading
from dripper.tree.plain import fold
from dripper.tree.tree import Tree, attribute
from dripper.tree.urls import Base


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata that a page declares about itself. A field is None or empty if the page does not
    declare it."""

    title: str | None = None
    """The headline, without the site's name."""
    authors: tuple[str, ...] = ()
    """Names of the authors who are people."""
    published: str | None = None
    """ISO 8601: a date, or a date and time, with the UTC offset if the page states it. The date may
    be only a year or a month."""
    modified: str | None = None
    """Date of the last change, in the same form as `published`."""
    site: str | None = None
    """The site's name."""
    description: str | None = None
    canonical_url: str | None = None
    """Absolute if the page's URL is known."""
    image: str | None = None
    """URL of the page's image; absolute if the page's URL is known."""
    tags: tuple[str, ...] = ()
    """Keywords."""
    language: str | None = None
    """Declared language (`en-GB`), which is not always the language of the text."""
    organisations: tuple[str, ...] = ()
    """Organisations that the page names as its authors; `authors` does not include them."""
    published_precision: str | None = None
    """Precision of `published`: `year`, `month`, `day` or `time`."""
    modified_precision: str | None = None

    def completed(self, base: Base | None) -> "Metadata":
        """Return this metadata with absolute URLs. If `base` is None, return it unchanged."""
        if base is None:
            return self
        return replace(
            self,
            canonical_url=base.join(self.canonical_url) if self.canonical_url is not None else None,
            image=base.join(self.image) if self.image is not None else None,
        )


_WORKS = tuple(words("article posting report recipe videoobject podcastepisode book movie course question"))
"""Endings of type names for works, such as NewsArticle or BlogPosting."""
_PAGES = ("webpage", "itempage", "faqpage", "profilepage", "aboutpage", "collectionpage", "product", "event")


_NAME_PARTS = ("givenName", "additionalName", "familyName")
_ORGANISATIONS = ("organization", "corporation", "business", "organisation")


class JsonLd:
    """The JSON-LD objects of a page: the first work, the first page object, and the sites."""

    def __init__(self, objects: Sequence[dict[str, Any]]) -> None:
        self._named: dict[str, dict[str, Any]] = {}
        works, pages, self._sites = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
        for value in objects:
            identity = value.get("@id")
            if isinstance(identity, str) and len(value) > 1:
                self._named.setdefault(identity, value)
            kinds = read_types(value)
            if any(kind.endswith(_WORKS) for kind in kinds):
                works.append(value)
            elif any(kind in _PAGES for kind in kinds):
                pages.append(value)
            elif "website" in kinds:
                self._sites.append(value)
        self.describes_work = bool(works)
        self.describes_product = not works and any("product" in read_types(value) for value in pages)
        # Further works belong to a list or a sidebar.
        self._works = works[:1] + pages[:1]
        self._dated = [value for value in self._works if "profilepage" not in read_types(value)]

    def texts(self, *names: str, works: Sequence[dict[str, Any]] | None = None) -> Iterator[str]:
        """Search the objects in order for the properties `names`. Yield the strings of the first
        property that has any.

        Args:
            works: The objects to search. By default, the first work and the first page object.
        """
        for value in self._works if works is None else works:
            for name in names:
                # Yield each string once: a page can refer to a long string any number of times.
                texts = list(dict.fromkeys(self._texts(value.get(name))))
                if texts:
                    yield from texts
                    return

    def dates(self, *names: str) -> Iterator[str]:
        """Yield the same strings as `texts`, but skip profile pages. Their date is the day when the
        profile was created."""
        return self.texts(*names, works=self._dated)

    def sites(self) -> Iterator[str]:
        """Yield site names, the likeliest first."""
        for value in self._sites:
            yield from self._texts(value.get("name"))
        yield from self.texts("publisher", "sourceOrganization")

    def organisations(self) -> Iterator[str]:
        """Yield the names of authors with an organisation type."""
        for value in self._works:
            for name in ("author", "creator"):
                authors = value.get(name)
                nodes = map(self._follow, authors if isinstance(authors, list) else [authors])
                # Read each object once: a page can refer to a large object any number of times.
                for node in {id(node): node for node in nodes if isinstance(node, Mapping)}.values():
                    if any(kind.endswith(_ORGANISATIONS) for kind in read_types(node)):
                        yield from self._texts(node)

    def image(self) -> Iterator[str]:
        """Yield URLs of the page's image."""
        for value in self._works:
            for name in ("image", "thumbnailUrl"):
                yield from self._texts(value.get(name), ("url", "contentUrl", "@id"))

    def _follow(self, item: Any) -> Any:
        """Return the object that an item refers to, or the item itself."""
        identity = item.get("@id") if isinstance(item, Mapping) else None
        return self._named.get(identity, item) if isinstance(identity, str) else item

    def _texts(self, value: Any, inside: tuple[str, ...] = ("name",)) -> Iterator[str]:
        """Yield the strings in the value of a property, which may be one item or a list of items. A
        string is yielded itself. For an object, or a reference to an object, the first of the
        object's properties `inside` is yielded."""
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str):
                yield item
            elif isinstance(node := self._follow(item), Mapping):
                named = next(filter(None, map(node.get, inside)), None)
                parts = [part for name in _NAME_PARTS if isinstance(part := node.get(name), str)]
                if named is None and len(parts) > 1:
                    named = " ".join(parts)
                yield from (text for text in (named if isinstance(named, list) else [named]) if isinstance(text, str))


_PARTED = str.maketrans("", "", ":._- ")


def _names(*names: str) -> tuple[str, ...]:
    """Return names without the separators between words, because sites use different separators."""
    return tuple(name.translate(_PARTED) for name in names)


TITLES = _names(
    "og:title", "twitter:title", "citation_title", "dc.title", "dcterms.title", "parsely-title", "sailthru.title"
)
AUTHORS = _names(
    *("author", "citation_author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author", "byl"),
    *("article:author_name", "article:author", "og:article:author", "dc.contributor"),
)
SITES = _names(
    "og:site_name", "application-name", "citation_journal_title", "dc.publisher", "apple-mobile-web-app-title"
)
DESCRIPTIONS = _names("og:description", "description", "twitter:description", "dc.description", "dcterms.description")
IMAGES = _names("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src", "thumbnail")
TAGS = _names("article:tag", "parsely-tags", "news_keywords", "sailthru.tags", "citation_keywords", "keywords")
_URLS = _names("og:url")
_TYPES = _names("og:type")
LANGUAGES = _names("content-language", "og:locale", "dc.language", "dcterms.language")
_DAY = r"(?:date|time|timestamp|iso8601|day|on|at)"
_OF_PAGE = r"(?:og|article|dc|dcterms|citation|parsely|sailthru|page|content|blog|post|news)*"
_DATES = (
    re.compile(
        rf"(?:(?<!un)publi(?:sh|shed|cation)|pub){_DAY}+\Z|date(?:first)?publi(?:shed|cation)\Z"
        rf"|\A(?:{_OF_PAGE}published|ptime)\Z"
    ),
    re.compile(rf"\A{_OF_PAGE}{_DAY}?(?:issued?|created|creation|posted){_DAY}*\Z"),
    re.compile(rf"\A{_OF_PAGE}date\Z"),
    re.compile(rf"(?:modifi(?:ed|cation)|lastmod|updated?|revis(?:ed|ion)|edited|reviewed|changed){_DAY}*\Z"),
)
"""Patterns for the names of `meta` dates: publication dates, the most certain first, then dates of
changes."""
_PUBLISHED, _MODIFIED = range(3), range(3, 4)


@lru_cache(maxsize=4096)
def _find_form(name: str) -> int | None:
    return next((number for number, form in enumerate(_DATES) if form.search(name)), None)


_MOST_BYLINES = 20
"""Maximum number of bylines to read."""
_FEWEST_LISTED = 6
"""A page with at least this many different bylines is a list of articles, unless the page declares
that it is an article."""
_FEWEST_BLANKS = 3
"""A title with at least this many spaces cannot be in a site's name by chance."""
_MOST_DATES = 2
"""Maximum number of publication dates in microdata. More dates belong to a list of other pages."""


class _Metas:
    """The contents of a page's `meta` elements, keyed by name."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._found: dict[str, list[str]] = {}
        for name, content in pairs:
            if name and (text := " ".join(content.split())):
                self._found.setdefault(name.translate(_PARTED), []).append(text)

    def all(self, names: Iterable[str]) -> Iterator[list[str]]:
        """For each of `names` that the page has, yield the list of its contents."""
        return (self._found[name] for name in names if name in self._found)

    def each(self, names: Iterable[str]) -> Iterator[str]:
        """Yield the contents of these names one by one."""
        return (text for texts in self.all(names) for text in texts)

    def dates(self, forms: range) -> Iterator[str]:
        """For each index in `forms`, in order, yield the contents of the `meta` elements with a
        name that matches the pattern in `_DATES` at this index."""
        found = [(form, texts) for name, texts in self._found.items() if (form := _find_form(name)) is not None]
        return (text for wanted in forms for form, texts in found if form == wanted for text in texts)


def read_metadata(head: Head, tree: Tree, page_title: str = "", reading: Reading = DEFAULT_READING) -> Metadata:
    """Return the metadata that a page declares about itself.

    The time is linear in the page's length. Most of it is spent on the distinct start tags.

    Args:
        tree: The tree of the page's visible elements.
        page_title: The text of `<title>`.
    """
    metas, data = _Metas(head.metas), JsonLd(head.objects)
    days = list(metas.dates(_PUBLISHED))
    is_article = data.describes_work or "article" in metas.each(_TYPES) or bool(days)
    visible = Visible(tree, is_article)
    descriptions = chain(metas.each(DESCRIPTIONS), data.texts("description"), visible.items("description"))
    canonical = _take_first((href for rel, href in head.links if "canonical" in rel.split()), metas.each(_URLS))
    addresses = canonical, reading.url
    is_home = HOME.fullmatch(canonical or reading.url or "") is not None
    page_title = join_lines(page_title)
    declared = _take_first(data.texts("headline"), metas.each(TITLES), visible.own_items("headline", 1)) or ""
    site = _find_site(metas, data, declared, page_title, None if is_home else addresses)
    name = SiteName(site, *addresses)
    title = choose_title(declared, tuple(visible.headings()), page_title, name, visible.lower_headings)
    if is_home and HOME.fullmatch(reading.url or "") and title is not None:
        # In `<title>`, the site's slogan follows the site's name. Check the fetched URL too,
        # because inner pages may declare the home page as canonical.
        title = name.find_first(page_title) or (name.find_in(page_title, site) if " " not in title else None) or title
    metadata = Metadata(
        title=title,
        site=site or name.find_in(page_title),
        description=_take_first(map(remove_tags, descriptions)),
        canonical_url=canonical,
        image=_take_first(metas.each(IMAGES), data.image()),
        language=_choose_language(tree, metas, data),
    )
    if reading.only_title:
        return metadata
    # People named in visible elements of a product page wrote reviews.
    is_product = data.describes_product or any(kind.startswith("product") for kind in metas.each(_TYPES))
    published = _find_published(days, data, visible, canonical or reading.url or "", is_product)
    modified = _find_modified(metas, data, visible)
    # A person named on a site's home page is not the author of that page.
    authors, organisations = _choose_authors(metas, data, visible, name, is_product or is_home, is_article)
    return replace(
        metadata,
        authors=authors,
        published=published,
        modified=modified,
        tags=_choose_tags(metas, data, visible),
        organisations=organisations,
        published_precision=find_precision(published),
        modified_precision=find_precision(modified),
    )


def _find_site(
    metas: _Metas, data: JsonLd, declared: str, page_title: str, addresses: Sequence[str | None] | None
) -> str | None:
    """Return the site name that a page states, unless that name is the page's title.

    Args:
        declared, page_title: The declared title, and the text of `<title>`.
        addresses: The page's declared URL, and the URL that it was fetched from. None for a site's
            home page, because its title is the site's name.
    """
    sites = chain(metas.each(SITES[:1]), data.sites(), metas.each(SITES[1:]))
    site = _take_first(text for text in sites if "://" not in text)
    if site is not None and addresses is not None and _holds_title(site, declared, page_title):
        # Some editors write the headline into `og:site_name`.
        return site if SiteName(None, *addresses).is_in(site) else None
    return site


def _holds_title(site: str, declared: str, page_title: str) -> bool:
    """Return whether the declared site name is, or contains, the page's title."""
    if site in (declared, page_title):
        return is_sentence(site) or (site == declared and page_title.startswith(site))
    return any(title.count(" ") >= _FEWEST_BLANKS and fold(title) in fold(site) for title in (declared, page_title))


def _find_published(days: Sequence[str], data: JsonLd, visible: Visible, address: str, is_product: bool) -> str | None:
    return (
        find_first_date(data.dates("datePublished", "uploadDate", "dateCreated"), parse_any_date)
        or find_first_date(iter(days), parse_any_date)
        or find_first_date(visible.own_items("datePublished", _MOST_DATES))
        or find_date_in_address(address)
        or find_first_date(visible.dates())
        or (None if is_product else _find_labelled(visible, is_change=False))
    )


def _find_modified(metas: _Metas, data: JsonLd, visible: Visible) -> str | None:
    return (
        find_first_date(data.dates("dateModified"))
        or find_first_date(metas.dates(_MODIFIED))
        or find_first_date(visible.items("dateModified"))
        or find_first_date(visible.dates(is_change=True))
        or _find_labelled(visible, is_change=True)
    )


def _find_labelled(visible: Visible, is_change: bool) -> str | None:
    """Return the first date beside the title or in a byline. If `is_change` is set, only dates of
    changes count. Otherwise, only other dates count."""
    in_bylines = chain.from_iterable(map(label_dates, visible.bylines()))
    return next((iso for iso, each in chain(visible.dates_beside_title, in_bylines) if each == is_change), None)


def _take_first(*sources: Iterable[str]) -> str | None:
    # Read each value once: a page can refer to a long blank text any number of times.
    values = set[str]()
    for value in chain.from_iterable(sources):
        if value not in values:
            values.add(value)
            if text := join_lines(unescape(value)):
                return text
    return None


def _choose_authors(
    metas: _Metas, data: JsonLd, visible: Visible, site: SiteName, declared_only: bool, is_article: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the people and the organisations that a page names as its authors. The people come
    from the first source that names any. The organisations come from the same source or, if it
    names none, from an earlier source.

    The vendor of the site's software ("Discuz! Team" beside the generator "Discuz! X3.4") is not an
    author.

    Args:
        declared_only: Whether to ignore the names in visible elements, because they belong to
            something else.
        is_article: Whether the page declares that it is an article.
    """
    companies = {name.casefold() for name in data.organisations()}
    vendors = {word.casefold() for text in metas.each(("generator",)) for word in text.split()[:1] if len(word) > 3}

    def divide(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        people, organisations = list[str](), list[str]()
        names = tuple(names)
        if any(not vendors.isdisjoint(name.casefold().split()) for name in names):
            return (), ()
        for name in dict.fromkeys(cut_company(name, site.is_in) for name in names):
            is_company = name.casefold() in companies or site.begins(name) or site.is_in(name) or is_organisation(name)
            (organisations if is_company else people).append(name)
        return tuple(people), tuple(organisations)

    visible_names: tuple[Iterable[str], ...] = ()
    if not declared_only:
        sources = (visible.items("author"), visible.related("author"), visible.bylines(), visible.signed())
        visible_names = (*(sources if is_article else map(_leave_lists, sources)), visible.posters())

    def split(texts: Iterable[str]) -> tuple[str, ...]:
        return split_authors(map(remove_tags, map(unescape, texts)), site.is_in)

    def is_credible(name: str) -> bool:
        """Return whether a name in a `meta` element could be an author. On a page that is not an
        article, the name could also be the site's designer."""
        return is_whole(name) or is_organisation(name) or visible.shows(name)

    declared_names: Iterable[tuple[str, ...]] = chain(
        [split(data.texts("author", "creator"))],
        (names if is_article else tuple(filter(is_credible, names)) for names in map(split, metas.all(AUTHORS))),
        (read_byline(source) for source in visible_names),
    )
    first: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    for names in declared_names:
        divided = divide(names)
        if divided[0]:
            return divided[0], divided[1] or first[1]
        first = first if first[1] else divided
    return first


def _leave_lists(names: Iterable[str]) -> Iterator[str]:
    """Yield a page's bylines if there are few. A page with many bylines is a list of other
    pages."""
    found = list(islice(filter(None, names), _MOST_BYLINES))
    yield from found if len(set(found)) < _FEWEST_LISTED else ()


def _choose_tags(metas: _Metas, data: JsonLd, visible: Visible) -> tuple[str, ...]:
    sources = (*metas.all(TAGS[:1]), data.texts("keywords"), *metas.all(TAGS[1:]), visible.related("tag"))
    return next((tags for source in sources if (tags := split_tags(map(unescape, source)))), ())


def _choose_language(tree: Tree, metas: _Metas, data: JsonLd) -> str | None:
    tag = tree.start_tag(0)
    declared = (attribute(tag, name) or "" for name in ("lang", "xml:lang"))
    language = _take_first(declared, metas.each(LANGUAGES), data.texts("inLanguage"))
    return language.replace("_", "-") if language else None

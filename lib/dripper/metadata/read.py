"""From what a page holds to its metadata: which source counts before which.

Of each field the sources in the order in which they are tried; the first that says something
decides. The tables of names are the documentation: docs/metadata.md repeats them.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from itertools import chain, islice

from dripper.markup.head import Head
from dripper.markup.tree import Tree, attribute
from dripper.metadata.dates import date_in_address
from dripper.metadata.json_ld import JsonLd
from dripper.metadata.model import Metadata
from dripper.metadata.names import author_in_sight, authors_of, one_line, tags_of, without_tags
from dripper.metadata.visible import Visible, first_date

TITLES = ("og:title", "twitter:title", "citation_title", "dc.title", "dcterms.title", "parsely-title", "sailthru.title")
AUTHORS = (
    *("author", "citation_author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author", "byl"),
    *("article:author_name", "article:author", "og:article:author", "dc.contributor"),
)
PUBLISHED = (
    *("article:published_time", "og:article:published_time", "datepublished", "parsely-pub-date", "sailthru.date"),
    *("citation_publication_date", "citation_date", "dc.date.issued", "dcterms.issued", "dc.date.created"),
    *("dcterms.created", "dc.date", "dcterms.date", "pubdate", "publishdate", "publish-date", "publish_date", "ptime"),
    *("published_time", "og:published_time", "og:pubdate", "date", "originalpublicationdate", "article.published"),
)
MODIFIED = (
    *("article:modified_time", "og:updated_time", "og:article:modified_time", "datemodified", "dcterms.modified"),
    *("dc.date.modified", "lastmod", "last-modified", "revised", "article.updated"),
)
SITES = ("og:site_name", "application-name", "citation_journal_title", "dc.publisher", "apple-mobile-web-app-title")
DESCRIPTIONS = ("og:description", "description", "twitter:description", "dc.description", "dcterms.description")
IMAGES = ("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src", "thumbnail")
TAGS = ("article:tag", "parsely-tags", "news_keywords", "sailthru.tags", "citation_keywords", "keywords")
LANGUAGES = ("content-language", "og:locale", "dc.language", "dcterms.language")


class _Metas:
    """Contents of `meta` elements by name."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._found: dict[str, list[str]] = {}
        for name, content in pairs:
            if name and (text := one_line(content)):
                self._found.setdefault(name.replace("dc:", "dc.").replace("dcterms:", "dcterms."), []).append(text)

    def all(self, names: Iterable[str]) -> Iterator[list[str]]:
        """Yield the contents of each name that has some."""
        return (self._found[name] for name in names if name in self._found)

    def each(self, names: Iterable[str]) -> Iterator[str]:
        """Yield the contents one by one."""
        return (text for texts in self.all(names) for text in texts)


def metadata_of(head: Head, tree: Tree) -> Metadata:
    """Return what a page says about itself.

    tree: of its visible elements. Linear in the page; most of the time goes to its distinct start
    tags.
    """
    metas, data = _Metas(head.metas), JsonLd(head.objects)
    visible = Visible(tree)
    descriptions = chain(metas.each(DESCRIPTIONS), data.texts("description"), visible.items("description"))
    canonical = _first((href for rel, href in head.links if "canonical" in rel.split()), metas.each(("og:url",)))
    site = _first(metas.each(SITES[:1]), data.sites(), metas.each(SITES[1:]))
    published = (
        first_date(data.texts("datePublished", "uploadDate", "dateCreated"))
        or first_date(metas.each(PUBLISHED))
        or first_date(visible.items("datePublished"))
        or date_in_address(canonical or "")
        or first_date(visible.dates())
    )
    modified = (
        first_date(data.texts("dateModified"))
        or first_date(metas.each(MODIFIED))
        or first_date(visible.items("dateModified"))
    )
    declared = _first(data.texts("headline"), metas.each(TITLES), visible.items("headline"))
    return Metadata(
        title=_title(declared, site, tuple(islice(visible.headings(), 2))),
        authors=_authors(metas, data, visible, site),
        published=published,
        modified=modified,
        site=site,
        description=_first(map(without_tags, descriptions)),
        canonical_url=canonical,
        image=_first(metas.each(IMAGES), data.image()),
        tags=_tags(metas, data, visible),
        language=_language(tree, metas, data),
    )


def _first(*sources: Iterable[str]) -> str | None:
    # Once each: a page can refer to a long blank text as often as it likes.
    seen = set[str]()
    for value in chain.from_iterable(sources):
        if value not in seen:
            seen.add(value)
            if text := one_line(unescape(value)):
                return text
    return None


def _title(title: str | None, site: str | None, headings: Sequence[str]) -> str | None:
    """Return the title: the only heading of the first level, unless that is the site's name, else
    the declared one without the site's name at its end."""
    heading = headings[0] if len(headings) == 1 else ""
    if heading and (title is None or site is None or heading.casefold() != site.casefold()):
        return heading
    if title is None or not site or not title.casefold().endswith(site.casefold()):
        return title
    rest = title[: -len(site)].rstrip()
    shorter = rest.rstrip("|-–—:·•»/").rstrip()
    return shorter if shorter and shorter != rest else title


def _authors(metas: _Metas, data: JsonLd, visible: Visible, site: str | None) -> tuple[str, ...]:
    stated = (data.texts("author", "creator"), *metas.all(AUTHORS))
    found = [names for source in stated if (names := authors_of(map(_unmarked, source)))]
    people = next((names for names in found if not _is_site(names, site)), ())
    if people:
        return people
    shown = (visible.items("author"), visible.related("author"), visible.bylines())
    return next((names for source in shown if (names := author_in_sight(source))), found[0] if found else ())


def _unmarked(text: str) -> str:
    return without_tags(unescape(text))


def _is_site(names: tuple[str, ...], site: str | None) -> bool:
    """Tell whether the site itself is named as its author: a byline may say who it was."""
    return len(names) == 1 and site is not None and names[0].casefold() == site.casefold()


def _tags(metas: _Metas, data: JsonLd, visible: Visible) -> tuple[str, ...]:
    sources = (*metas.all(TAGS[:1]), data.texts("keywords"), *metas.all(TAGS[1:]), visible.related("tag"))
    return next((tags for source in sources if (tags := tags_of(map(unescape, source)))), ())


def _language(tree: Tree, metas: _Metas, data: JsonLd) -> str | None:
    tag = tree.start_tag(0)
    declared = (attribute(tag, name) or "" for name in ("lang", "xml:lang"))
    language = _first(declared, metas.each(LANGUAGES), data.texts("inLanguage"))
    return language.replace("_", "-") if language else None

"""The metadata of one page."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from dripper.markup.addresses import Base


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page declares about itself; None or empty where it says nothing."""

    title: str | None = None
    """The headline, without the site's name where the page states it so."""
    authors: tuple[str, ...] = ()
    """Names, of people or of an organisation."""
    published: str | None = None
    """ISO 8601: a date, or date and time, with the offset from UTC where the page states it."""
    modified: str | None = None
    """As `published`."""
    site: str | None = None
    """The site's name."""
    description: str | None = None
    canonical_url: str | None = None
    """Absolute where the page's address is known."""
    image: str | None = None
    """Address of the page's picture, as `canonical_url`."""
    tags: tuple[str, ...] = ()
    """Keywords."""
    language: str | None = None
    """As declared (`en-GB`), which need not be the language of the text."""

    @classmethod
    def of_row(cls, row: Mapping[str, Any] | None) -> "Metadata | None":
        """Return what `as_row` was made of."""
        if row is None:
            return None
        return cls(**{**row, "authors": tuple(row["authors"] or ()), "tags": tuple(row["tags"] or ())})

    def as_row(self) -> dict[str, Any]:
        """Return the values of the struct in the tables."""
        return asdict(self) | {"authors": list(self.authors), "tags": list(self.tags)}

    def completed(self, base: Base | None) -> "Metadata":
        """Return the same with absolute addresses, as far as a base is known."""
        if base is None:
            return self
        return replace(
            self,
            canonical_url=base.join(self.canonical_url) if self.canonical_url is not None else None,
            image=base.join(self.image) if self.image is not None else None,
        )

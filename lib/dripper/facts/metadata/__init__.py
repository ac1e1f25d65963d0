"""Reads the metadata that a page declares, such as title, authors, dates and site. See
docs/metadata.md.

The sources are JSON-LD, `meta` and `link` elements, microdata and marked-up elements, in that order
(`read`). Nothing is guessed from running text.
"""

from dripper.facts.metadata.address import find_canonical_address, find_own_address
from dripper.facts.metadata.dates import first_day
from dripper.facts.metadata.read import Metadata, read_metadata
from dripper.facts.metadata.titles import contains_title

__all__ = ["Metadata", "contains_title", "find_canonical_address", "find_own_address", "first_day", "read_metadata"]

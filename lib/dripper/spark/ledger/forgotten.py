"""Rules for the pages that an output must not contain, by law or on request.

A rule matches a host, a domain, a URL or a page. The rules are in the output's table `forgotten`.
They are applied in Python when archives are read, and in SQL when rows are deleted. Python and SQL
match the same pages. Therefore exactly the counted pages are deleted and never written again.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from dripper.addresses import ascii_host, host_name, unicode_host
from dripper.errors import InputError
from dripper.page.rows import registered_domain, storable
from dripper.spark.tables.books import Books, among
from dripper.spark.tables.sql import quoted

TABLE = "forgotten"
KINDS = ("page_id", "url", "host", "domain")
"""Kinds of rules. If several rules match a page, the page counts for the first of these kinds."""
BEGUN, DONE, WITHDRAWN = "begun", "done", "withdrawn"
"""States of a rule. Begun: rows may still exist. Done: no rows are left. Withdrawn: somebody has
set this state with SQL, and the rule no longer applies."""

_PAGE_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """A rule that matches pages: a kind and a pattern. Use the function `rule` to create a valid
    rule."""

    kind: str
    pattern: str


def rule(kind: str, typed: str) -> Rule:
    """Return the rule for a value that a user typed.

    Raises InputError if the value is not a valid page ID, URL, host or domain.

    >>> rule("host", "WWW.Example.org."), rule("domain", "example.org")
    (Rule(kind='host', pattern='www.example.org'), Rule(kind='domain', pattern='example.org'))
    """
    text, flag = typed.strip(), f"--{kind.replace('_', '-')} {typed}"
    if kind == "page_id":
        if not _PAGE_ID.fullmatch(text.lower()):
            raise InputError(f"{flag}: a page id is 32 hexadecimal digits, as in the column page_id")
        return Rule(kind, text.lower())
    if kind == "url":
        if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", text):
            raise InputError(f"{flag}: give the whole address, as in the column url (http://example.org/page)")
        return Rule(kind, text)
    name = _host(text)
    if name is None:
        raise InputError(f"{flag}: give a host's name alone (www.example.org), without scheme, port and path")
    if kind == "domain" and registered_domain(name) is None:
        raise InputError(f"{flag}: nobody has registered that as a domain; a single host or number is --host {name}")
    return Rule(kind, name)


def _host(text: str) -> str | None:
    """Return the host in its canonical spelling; None if the text is not just a host."""
    try:
        parts = urlsplit(f"//{text if text.count(':') < 2 or text.startswith('[') else f'[{text}]'}")
        port, host = parts.port, parts.hostname or ""
    except ValueError:
        return None
    is_alone = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc or port is not None)
    name = ascii_host(host).rstrip(".")
    return None if not name or not is_alone or re.search(r"[\s*,%\\]", name) or text.endswith(":") else name


def spellings(host: str) -> list[str]:
    """Return all spellings of a host that may occur in the `host` column.

    Hosts are in ASCII or, in older rows, in Unicode. Both forms occur with and without a trailing
    dot.

    >>> spellings("xn--mller-kva.de")
    ['xn--mller-kva.de', 'xn--mller-kva.de.', 'müller.de', 'müller.de.']
    """
    return [f"{name}{dot}" for name in dict.fromkeys((host, unicode_host(host))) for dot in ("", ".")]


@dataclass(frozen=True)
class Rules:
    """All rules of an output. The object is small, because it is sent to the workers."""

    rules: frozenset[Rule] = field(default_factory=frozenset)

    def __bool__(self) -> bool:
        return bool(self.rules)

    @cached_property
    def _rules_by_kind(self) -> Mapping[str, Mapping[str, Rule]]:
        """The rules, keyed first by kind, then by the value that they match."""
        by_kind: dict[str, dict[str, Rule]] = {kind: {} for kind in KINDS}
        for each in sorted(self.rules):
            names = spellings(each.pattern) if each.kind in ("host", "domain") else [each.pattern]
            by_kind[each.kind].update(dict.fromkeys(names, each))
        return by_kind

    def rule_of(self, page_id: str, url: str, host: str | None) -> Rule | None:
        """Return the rule that matches a page; None if none does."""
        by_kind = self._rules_by_kind
        matching = by_kind["page_id"].get(page_id) or by_kind["url"].get(url)
        if matching or not host:
            return matching
        if matching := by_kind["host"].get(host):
            return matching
        if domains := by_kind["domain"]:
            while host:
                if matching := domains.get(host):
                    return matching
                host = host.partition(".")[2]
        return None

    def forget(self, page_id: str, url: str) -> bool:
        """Return whether this page of an archive must not become a row."""
        if not self.rules:
            return False
        return self.rule_of(page_id, str(storable({"url": url})["url"]), host_name(url)) is not None

    def condition(self) -> str:
        """Return the SQL condition for rows of forgotten pages."""
        by_kind = self._rules_by_kind
        parts = [part for column in ("page_id", "url", "host") for part in _within(column, by_kind[column])]
        return " OR ".join([*parts, *_of_domains(by_kind["domain"])]) or "FALSE"

    def host_condition(self) -> str:
        """Return the SQL condition for rows of forgotten hosts and domains.

        Use it for tables that do not have one row per page.
        """
        by_kind = self._rules_by_kind
        return " OR ".join([*_within("host", by_kind["host"]), *_of_domains(by_kind["domain"])]) or "FALSE"


NO_RULES = Rules()


def _within(column: str, values: Iterable[str]) -> list[str]:
    listed = ", ".join(map(quoted, sorted(values)))
    return [f"{column} IN ({listed})"] if listed else []


def _of_domains(domains: Iterable[str]) -> list[str]:
    names = sorted(domains)
    return [*_within("host", names), *(f"endswith(host, {quoted('.' + name)})" for name in names)]


def on_their_way(books: Books) -> dict[int, int]:
    """Return how many rows of each batch are being deleted because of begun rules.

    Some of these rows may already be gone, although the ledger still counts them.
    """
    return rows_by_batch(books.read(TABLE, among("state", [BEGUN])))


def rules_of(rows: Iterable[Mapping[str, Any]]) -> Rules:
    """Return the rules in these rows of the table, except withdrawn ones."""
    return Rules(frozenset(Rule(row["kind"], row["pattern"]) for row in rows if row["state"] != WITHDRAWN))


def rows_by_batch(rows: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Return how many pages of each batch are forgotten or will be."""
    counts: dict[int, int] = {}
    for row in rows:
        if row["batch"] is not None:
            counts[row["batch"]] = counts.get(row["batch"], 0) + (row["rows"] or 0)
    return counts

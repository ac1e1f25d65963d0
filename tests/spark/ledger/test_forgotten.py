"""Rules for pages that an output must not have: the same in Python as in SQL."""

import pickle
from typing import Any

import pytest
from pyspark.sql import SparkSession

from dripper.addresses import host_name
from dripper.errors import InputError
from dripper.spark.ledger.forgotten import NO_RULES, Rule, Rules, rows_by_batch, rule

PAGE_ID = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    ("kind", "typed", "pattern"),
    [
        ("host", " WWW.Example.org. ", "www.example.org"),
        ("host", "müller.de", "xn--mller-kva.de"),
        ("host", "straße.de", "xn--strae-oqa.de"),
        ("domain", "www.ＳＴＲＡＳＳＥ\u3002de", "www.strasse.de"),
        ("host", "192.0.2.1", "192.0.2.1"),
        ("host", "[2001:db8::1]", "2001:db8::1"),
        ("host", "2001:db8::1", "2001:db8::1"),
        ("domain", "news.BBC.co.uk", "news.bbc.co.uk"),
        ("url", "http://example.org/A?b#c", "http://example.org/A?b#c"),
        ("page_id", PAGE_ID.upper(), PAGE_ID),
    ],
)
def test_what_is_typed_has_one_spelling(kind: str, typed: str, pattern: str) -> None:
    assert rule(kind, typed) == Rule(kind, pattern)


@pytest.mark.parametrize(
    ("kind", "typed", "words"),
    [
        ("host", "https://example.org/", "a host's name alone"),
        ("host", "example.org:80", "without scheme, port"),
        ("host", "example.org:", "without scheme, port"),
        ("host", "*.example.org", "a host's name alone"),
        ("host", "", "a host's name alone"),
        ("host", "a b", "a host's name alone"),
        ("host", "[::1", "a host's name alone"),
        ("domain", "co.uk", "nobody has registered"),
        ("domain", "com", "nobody has registered"),
        ("domain", "192.0.2.1", "nobody has registered"),
        ("url", "example.org/a", "the whole address"),
        ("page_id", PAGE_ID[1:], "32 hexadecimal digits"),
    ],
)
def test_what_names_nothing_is_refused_in_a_sentence(kind: str, typed: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        rule(kind, typed)


RULES = Rules(
    frozenset(
        {
            rule("host", "www.example.org"),
            rule("host", "müller.de"),
            rule("domain", "straße.de"),
            rule("domain", "example.net"),
            rule("url", "http://it's.org/\\a"),
            rule("page_id", PAGE_ID),
        }
    )
)
PAGES = [
    ("1", "http://WWW.example.org:8080/", True),
    ("2", "http://www.example.org./", True),
    ("3", "http://example.org/", False),
    ("4", "http://müller.de/", True),
    ("5", "http://xn--mller-kva.de/", True),
    ("5a", "http://mu\u0308ller.de/", True),
    ("5b", "http://M%C3%BCller\u3002de/", True),
    ("5c", "http://www.straße.de/", True),
    ("5d", "http://www.xn--strae-oqa.de/", True),
    ("5e", "http://strasse.de/", False),
    ("6", "http://a.b.example.net/", True),
    ("7", "http://example.net/", True),
    ("8", "http://notexample.net/", False),
    ("9", "http://it's.org/\\a", True),
    ("10", "http://it's.org/\\A", False),
    (PAGE_ID, "http://elsewhere.org/", True),
    ("11", "", False),
    ("12", "http://[broken/", False),
    ("13", "http://example.net.evil.org/", False),
]


def test_pages_are_forgotten_by_what_they_are() -> None:
    sent = pickle.loads(pickle.dumps(RULES))
    assert [sent.forget(page_id, url) for page_id, url, _ in PAGES] == [gone for *_, gone in PAGES]
    assert not any(NO_RULES.forget(page_id, url) for page_id, url, _ in PAGES)


def test_a_page_counts_for_the_first_kind_of_rule() -> None:
    found = RULES.rule_of(PAGE_ID, "http://it's.org/\\a", "www.example.org")
    assert found == Rule("page_id", PAGE_ID)
    found = RULES.rule_of("", "http://it's.org/\\a", "www.example.org")
    assert found == Rule("url", "http://it's.org/\\a")
    both = Rules(frozenset({rule("host", "example.net"), rule("domain", "example.net")}))
    assert both.rule_of("", "", "example.net") == Rule("host", "example.net")


def test_pages_are_summed_by_batch() -> None:
    rows: list[dict[str, Any]] = [
        {"batch": 1, "rows": 2},
        {"batch": None, "rows": 0},
        {"batch": 1, "rows": 3},
        {"batch": 2, "rows": None},
    ]
    assert rows_by_batch(rows) == {1: 5, 2: 0}


@pytest.mark.spark
def test_sql_says_the_same(spark: SparkSession) -> None:
    rows = [(page_id, url, host_name(url)) for page_id, url, _ in PAGES]
    frame = spark.createDataFrame(rows, "page_id string, url string, host string")
    found = {row["page_id"] for row in frame.where(RULES.condition()).collect()}
    assert found == {page_id for page_id, _, gone in PAGES if gone}
    of_hosts = {row["page_id"] for row in frame.where(RULES.host_condition()).collect()}
    assert of_hosts == found - {"9", PAGE_ID}
    assert frame.where(NO_RULES.condition()).isEmpty()

"""Registered domains: those of Common Crawl's index."""

import pytest

from dripper.page.rows import registered_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.org", "example.org"),
        ("News.BBC.co.uk.", "bbc.co.uk"),
        ("me.github.io", "github.io"),  # a company's suffix, no registry's
        ("a.b.c.kawasaki.jp", "b.c.kawasaki.jp"),
        ("www.city.kawasaki.jp", "city.kawasaki.jp"),
        ("www.bücher.de", "xn--bcher-kva.de"),
        ("co.uk", None),
        ("localhost", None),
        ("www.intranet.local", None),
        ("93.184.216.34", None),
        ("2001:db8::1", None),
        ("", None),
        ("." * 300, None),
        ("ü" * 300, None),
    ],
)
def test_what_was_registered(host: str, domain: str | None) -> None:
    assert registered_domain(host) == domain

"""Logs contain no secrets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.addresses import ascii_host, host_name, loggable, loggable_text, printable, unicode_host


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (
            "https://b.s3.amazonaws.com/a.warc.gz?X-Amz-Signature=1f&X-Amz-Credential=AK",
            "https://b.s3.amazonaws.com/a.warc.gz",
        ),
        ("HTTP://user:secret@e.org:8080/a?b", "HTTP://e.org:8080/a"),
        ("https://e.org/#token=1", "https://e.org/"),
        ("https://e.org?q=a secret with blanks", "https://e.org"),
        ("http://e.org/a@b", "http://e.org/a@b"),
        ("ftp://user:secret@e.org/a", "ftp://user@e.org/a"),
        ("abfss://crawl@account.dfs.core.windows.net/a", "abfss://crawl@account.dfs.core.windows.net/a"),
        ("s3://bucket/a?b#c.warc", "s3://bucket/a?b#c.warc"),
        ("/folder/a?b#c.warc", "/folder/a?b#c.warc"),
        ("", ""),
    ],
)
def test_addresses_lose_what_nobody_should_read(address: str, shown: str) -> None:
    assert loggable(address) == shown


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("straße.de", "xn--strae-oqa.de"),
        ("strasse.de", "strasse.de"),
        ("müller.de", "xn--mller-kva.de"),
        ("mu\u0308ller.de", "xn--mller-kva.de"),
        ("MÜLLER\u3002de", "xn--mller-kva.de"),
        ("m%C3%BCller.de", "xn--mller-kva.de"),
        ("ｍüller\uff0e\uff44ｅ", "xn--mller-kva.de"),
        ("www.ｅxample.org.", "www.example.org."),
        ("%65xample.org", "example.org"),
        ("βόλος.com", "xn--nxasmm1c.com"),
        ("βόλοσ.com", "xn--nxasmq6b.com"),
        ("نامه\u200cای.com", "xn--mgba3gch31f060k.com"),
        ("ශ්\u200dරී.com", "xn--10cl1a0b660p.com"),
        ("☃.net", "xn--n3h.net"),
        ("a_b.Example.org", "a_b.example.org"),
        ("2001:DB8::1", "2001:db8::1"),
        ("a%2Fb.org", "a%2fb.org"),
        ("%ff%fe.org", "%ff%fe.org"),
        ("a\ud800.org", "a\ud800.org"),
        ("", ""),
    ],
)
def test_a_host_has_one_spelling_whoever_wrote_it(host: str, known: str) -> None:
    assert ascii_host(host) == known
    assert ascii_host(known) == known
    assert not host or ascii_host(host.upper() if "ß" not in host and "ς" not in host else host) == known


@given(st.text(max_size=20))
def test_every_host_has_a_spelling_that_stays(host: str) -> None:
    once = ascii_host(host)
    assert ascii_host(once) == once
    assert isinstance(unicode_host(once), str)


def test_hosts_of_addresses() -> None:
    addresses = ["http://A.b:80/", "http://u:p@straße.de/ß", "", "not a url", "http://[broken", "http://:80/"]
    assert [host_name(url) for url in addresses] == ["a.b", "xn--strae-oqa.de", None, None, None, None]
    assert [unicode_host(host) for host in ("xn--strae-oqa.de.", "xn--\xff", "a.b")] == [
        "straße.de.",
        "xn--\xff",
        "a.b",
    ]


def test_nothing_reaches_a_terminal_that_moves_its_cursor() -> None:
    address = "http://e.org/\x1b]0;title\x07\0\t\n\x9b2J\u202egz.\udcff"
    shown = "http://e.org/\\x1b]0;title\\x07\\x00\\x09\\x0a\\x9b2J\\u202egz.\\udcff"
    assert loggable(address) == printable(address) == shown
    assert loggable_text("no\x1b[31m answer\nfrom it") == "no\\x1b[31m answer\nfrom it"
    assert printable("ümläut 漢字 \U0001f600") == "ümläut 漢字 \U0001f600"


def test_a_password_is_left_out_of_sentences_of_any_scheme() -> None:
    assert loggable_text("no host hdfs://u:p@ss@nn:8020/a, nor 'sftp://u:p@e.org/b'") == (
        "no host hdfs://u@nn:8020/a, nor 'sftp://u@e.org/b'"
    )


def test_sentences_lose_it_too() -> None:
    sentence = "Could not connect to 'https://u:p@e.org/a?sig=1', nor to http://e.org/b?sig=2 (3 attempts)?"
    assert loggable_text(sentence) == "Could not connect to 'https://e.org/a', nor to http://e.org/b (3 attempts)?"

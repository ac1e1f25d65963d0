"""Nothing secret in what is logged."""

import pytest

from dripper.addresses import loggable, loggable_text, printable


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

"""Nothing secret in what is logged."""

import pytest

from dripper.addresses import loggable, loggable_text


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


def test_sentences_lose_it_too() -> None:
    sentence = "Could not connect to 'https://u:p@e.org/a?sig=1', nor to http://e.org/b?sig=2 (3 attempts)?"
    assert loggable_text(sentence) == "Could not connect to 'https://e.org/a', nor to http://e.org/b (3 attempts)?"

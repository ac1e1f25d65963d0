"""Addresses as they may stand in logs, tables and messages: without credentials."""

import re

_HTTP = re.compile(r"https?:", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[^\s/?#@]*@")
_PASSWORD = re.compile(r"(?<=://)([^\s/?#@:]*):[^\s/?#@]*@")
_IN_SENTENCE = re.compile(r"https?://[^\s'\"<>]+", re.IGNORECASE)


def loggable(address: str) -> str:
    """Return an address without password and, where it is HTTP, without user, query and fragment.

    Queries hold signatures of presigned addresses, session ids and what people searched for. A `?`
    in the name of a local file or an S3 key is part of the name, and stays.

    >>> loggable("https://user:secret@e.org/a.warc.gz?X-Amz-Signature=1f#top")
    'https://e.org/a.warc.gz'
    >>> loggable("abfss://crawl@account.dfs.core.windows.net/a?b.warc")
    'abfss://crawl@account.dfs.core.windows.net/a?b.warc'
    """
    if not _HTTP.match(address):
        return _PASSWORD.sub(r"\1@", address)
    return _USER.sub("", re.split(r"[?#]", address, maxsplit=1)[0])


def loggable_text(sentence: str) -> str:
    """Return a sentence, of a library's exception for instance, with the HTTP addresses in it made
    loggable.

    >>> loggable_text("no answer from https://e.org/a?sig=1 in 3 s")
    'no answer from https://e.org/a in 3 s'
    """
    return _IN_SENTENCE.sub(lambda found: loggable(found[0]), sentence)

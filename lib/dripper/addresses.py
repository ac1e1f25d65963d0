"""Cleans addresses and sentences for logs and terminals: credentials and characters that move the
cursor are taken out."""

import re

_HTTP = re.compile(r"https?:", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[^\s/?#]*@")
_PASSWORD = re.compile(r"(?<=://)([^\s/?#@:]*):[^\s/?#]*@")
_IN_SENTENCE = re.compile(r"[a-z][a-z0-9+.-]*://[^\s'\"<>]+", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, characters that change the direction of text, and lone surrogates, which no
terminal accepts."""


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
        return printable(_PASSWORD.sub(r"\1@", address))
    return printable(_USER.sub("", re.split(r"[?#]", address, maxsplit=1)[0]))


def loggable_text(sentence: str) -> str:
    """Return a sentence, such as that of a library's exception, with each address in it loggable.

    >>> loggable_text("no answer from https://e.org/a?sig=1 in 3 s")
    'no answer from https://e.org/a in 3 s'
    """
    return printable(_IN_SENTENCE.sub(lambda match: loggable(match[0]), sentence), keeps="\n")


def printable(text: str, keeps: str = "") -> str:
    r"""Return a text in which characters that a terminal would obey, or cannot show, are escaped.

    Addresses of pages and names of files may hold anything, and a log's line must be one line.

    Args:
        text: Any text.
        keeps: Characters that stay as they are.

    >>> print(printable(f"a{chr(27)}[2J{chr(10)}"))
    a\x1b[2J\x0a
    """
    return _UNPRINTABLE.sub(lambda match: match[0] if match[0] in keeps else _escape(ord(match[0])), text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"

"""Addresses: hosts in the one spelling that browsers use, and forms that are safe in a log or a
terminal, without credentials and characters that move the cursor.
"""

import re
from contextlib import suppress
from urllib.parse import unquote, urlsplit

_HTTP = re.compile(r"https?:", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[^\s/?#]*@")
_PASSWORD = re.compile(r"(?<=://)([^\s/?#@:]*):[^\s/?#]*@")
_IN_SENTENCE = re.compile(r"[a-z][a-z0-9+.-]*://[^\s'\"<>]+", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, characters that change the direction of text, and lone surrogates, which no
terminal accepts."""


_IN_NO_HOST = re.compile(r"[\x00-\x20\x7f#/:<>?@\[\\\]^|%]")
"""Forbidden code points of a domain (WHATWG URL standard 3.2)."""


def host_name(url: str) -> str | None:
    """Return the host of `url` as `ascii_host` writes it, or None if there is none.

    >>> host_name("https://Example.org:8080/a"), host_name("http://STRAßE.de/")
    ('example.org', 'xn--strae-oqa.de')
    """
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return ascii_host(host) if host else None


def ascii_host(host: str) -> str:
    """Return a host in its one spelling: small ASCII letters, as browsers send it (UTS 46 without
    the transition from IDNA 2003, so ß, ς and joiners stay).

    Full-width letters, ideographic full stops, decomposed and percent-encoded letters become the
    letters that they represent. A host that no browser accepts stays, in small letters, as does the
    dot of the root. Names are not checked against the rules of registries, since archives hold
    pages from such hosts.

    >>> ascii_host("m%C3%BCller\u3002de"), ascii_host("ｅｘａｍｐｌｅ.org")
    ('xn--mller-kva.de', 'example.org')
    """
    if host.isascii() and "%" not in host:
        return host.lower()
    from idna import uts46_remap  # its tables take longer to load than a page to extract

    with suppress(UnicodeError):
        mapped = uts46_remap(unquote(host, errors="strict"), std3_rules=False, transitional=False)
        labels = mapped.split(".")
        name = ".".join(label if label.isascii() else f"xn--{label.encode('punycode').decode()}" for label in labels)
        if not _IN_NO_HOST.search(name):
            return name
    return host.lower()


def unicode_host(host: str) -> str:
    """Return a host as people read it.

    >>> unicode_host("www.xn--strae-oqa.de")
    'www.straße.de'
    """
    return ".".join(map(_read_label, host.split(".")))


def _read_label(label: str) -> str:
    try:
        return label[4:].encode("ascii").decode("punycode") if label.startswith("xn--") else label
    except UnicodeError:
        return label


def loggable(address: str) -> str:
    """Return an address without password and, if it is HTTP, without user, query and fragment.

    Queries hold signatures of presigned addresses, session ids and people's search terms. A `?`
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
    """Return a sentence, such as a library's error message, with each address in it loggable.

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


_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def shown_as_text(text: str) -> str:
    r"""Return a page's text for a terminal: control characters, which it would obey, are escaped;
    tabs, line feeds and marks of direction stay.

    >>> print(shown_as_text(f"# Rain{chr(27)}]52;c;YQ=={chr(7)}"))
    # Rain\x1b]52;c;YQ==\x07
    """
    return _OBEYED.sub(lambda match: _escape(ord(match[0])), text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"

"""Normalises host names as browsers do, and makes addresses and text safe for logs and terminals by
removing credentials and escaping control characters.
"""

import re
from contextlib import suppress
from urllib.parse import unquote, urlsplit

_HTTP = re.compile(r"https?:", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[^\s/?#]*@")
_PASSWORD = re.compile(r"(?<=://)([^\s/?#@:]*):[^\s/?#]*@")
_IN_SENTENCE = re.compile(r"[a-z][a-z0-9+.-]*://[^\s'\"<>]+", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Matches control characters, characters that change the text direction, and lone surrogates, which
cannot be printed."""


_IN_NO_HOST = re.compile(r"[\x00-\x20\x7f#/:<>?@\[\\\]^|%]")
"""Matches the code points that a domain must not contain (WHATWG URL standard 3.2)."""


def host_name(url: str) -> str | None:
    """Return the host of `url`, normalised by `ascii_host`, or None if `url` has no host.

    >>> host_name("https://Example.org:8080/a"), host_name("http://STRAßE.de/")
    ('example.org', 'xn--strae-oqa.de')
    """
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return ascii_host(host) if host else None


def ascii_host(host: str) -> str:
    """Return a host in the lower-case ASCII form that browsers send.

    The mapping is nontransitional UTS 46, so ß, ς and zero-width joiners are kept. Percent escapes
    are decoded, full-width and decomposed letters become ordinary letters, and an ideographic full
    stop becomes a dot. If no browser accepts the host, it is only lower-cased. A trailing root dot
    is kept. Names are not checked against registry rules, because archives contain pages from hosts
    that break these rules.

    >>> ascii_host("m%C3%BCller\u3002de"), ascii_host("ｅｘａｍｐｌｅ.org")
    ('xn--mller-kva.de', 'example.org')
    """
    if host.isascii() and "%" not in host:
        return host.lower()
    from idna import uts46_remap  # imported late: loading its tables takes longer than extracting a page

    with suppress(UnicodeError):
        mapped = uts46_remap(unquote(host, errors="strict"), std3_rules=False, transitional=False)
        labels = mapped.split(".")
        name = ".".join(label if label.isascii() else f"xn--{label.encode('punycode').decode()}" for label in labels)
        if not _IN_NO_HOST.search(name):
            return name
    return host.lower()


def unicode_host(host: str) -> str:
    """Decode the Punycode labels of a host, for display.

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
    """Remove secrets from an address: the password, and in an HTTP URL also the user name, the
    query and the fragment.

    The query of an HTTP URL may contain a presigned signature, a session id or search terms. In a
    local file name or an S3 key, a `?` is part of the name, so it is kept.

    >>> loggable("https://user:secret@e.org/a.warc.gz?X-Amz-Signature=1f#top")
    'https://e.org/a.warc.gz'
    >>> loggable("abfss://crawl@account.dfs.core.windows.net/a?b.warc")
    'abfss://crawl@account.dfs.core.windows.net/a?b.warc'
    """
    if not _HTTP.match(address):
        return printable(_PASSWORD.sub(r"\1@", address))
    return printable(_USER.sub("", re.split(r"[?#]", address, maxsplit=1)[0]))


def loggable_text(sentence: str) -> str:
    """Remove secrets from each URL in a string, such as a library's error message (see `loggable`).

    >>> loggable_text("no answer from https://e.org/a?sig=1 in 3 s")
    'no answer from https://e.org/a in 3 s'
    """
    return printable(_IN_SENTENCE.sub(lambda match: loggable(match[0]), sentence), keeps="\n")


def printable(text: str, keeps: str = "") -> str:
    r"""Escape control characters and other unprintable characters.

    URLs and file names may contain any character, but a log entry must fit on one line.

    Args:
        keeps: Characters that are not escaped.

    >>> print(printable(f"a{chr(27)}[2J{chr(10)}"))
    a\x1b[2J\x0a
    """
    return _UNPRINTABLE.sub(lambda match: match[0] if match[0] in keeps else _escape(ord(match[0])), text)


_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def shown_as_text(text: str) -> str:
    r"""Escape control characters in a page's text, so that a terminal does not obey them. Tabs,
    line feeds and direction marks are kept.

    >>> print(shown_as_text(f"# Rain{chr(27)}]52;c;YQ=={chr(7)}"))
    # Rain\x1b]52;c;YQ==\x07
    """
    return _OBEYED.sub(lambda match: _escape(ord(match[0])), text)


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"

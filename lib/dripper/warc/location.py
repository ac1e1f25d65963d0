"""Which storage a path names, and what in it: known without the packages that read from there."""

import re

from dripper.errors import InputError

_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")
_KNOWN = frozenset({"s3", "s3a", "s3n", "http", "https", "file", "dbfs"})
"""Schemes that have a way of their own."""
ARCHIVE_NAME = re.compile(r"\.w?arc(?:\.(?:gz|zst|lz4))?$", re.IGNORECASE)


def is_s3(path: str) -> bool:
    """Tell whether a path names S3; `s3a` and `s3n` are what Hadoop calls it."""
    return path[:6].lower().startswith(("s3://", "s3a://", "s3n://"))


def bucket_and_key(path: str) -> tuple[str, str]:
    """Split `s3://bucket/key`; raises InputError where there is no bucket.

    >>> bucket_and_key("s3://commoncrawl/crawl-data/x.warc.gz")
    ('commoncrawl', 'crawl-data/x.warc.gz')
    """
    bucket, _, key = path.split("://", 1)[1].partition("/")
    if not bucket:
        raise InputError(f"{path} names no bucket; write s3://bucket/key")
    return bucket, key


def has_file_system(path: str) -> bool:
    """Tell whether a path is in a storage of its own kind, such as `hdfs://` or `gs://`."""
    found = _SCHEME.match(path)
    return found is not None and found["scheme"].lower() not in _KNOWN

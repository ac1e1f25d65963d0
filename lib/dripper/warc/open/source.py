"""Opens an archive file from a local path, S3, HTTP or any other supported storage system."""

import errno
import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from dripper.errors import FileError, FileErrorKind, InputError
from dripper.extras import needed
from dripper.settings import ReadSettings
from dripper.warc.open.base import Source

_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")
_OWN_SCHEMES = frozenset({"s3", "s3a", "s3n", "http", "https", "file", "dbfs"})
"""Schemes that are handled without fsspec."""
ARCHIVE_NAME = re.compile(r"\.(?:w?arc(?:\.(?:gz|zst|lz4))?|wacz)$", re.IGNORECASE)


_PASSED = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")
"""Prefixes of the paths that a shell passes for a process substitution, `<(command)`. These FIFOs
have a writer. Opening any other FIFO can block forever."""


def is_s3(path: str) -> bool:
    """Return whether a path is an S3 address. Hadoop uses the schemes `s3a` and `s3n` for S3."""
    return path[:6].lower().startswith(("s3://", "s3a://", "s3n://"))


def bucket_and_key(path: str) -> tuple[str, str]:
    """Split `s3://bucket/key` into bucket and key. Raises InputError if the bucket is missing.

    >>> bucket_and_key("s3://commoncrawl/crawl-data/x.warc.gz")
    ('commoncrawl', 'crawl-data/x.warc.gz')
    """
    bucket, _, key = path.split("://", 1)[1].partition("/")
    if not bucket:
        raise InputError(f"{path} names no bucket; write s3://bucket/key")
    return bucket, key


def has_file_system(path: str) -> bool:
    """Return whether a path must be opened through fsspec, like `hdfs://` or `gs://`."""
    match = _SCHEME.match(path)
    return match is not None and match["scheme"].lower() not in _OWN_SCHEMES


class LocalFile:
    """A file on this machine, as a `Source`. The constructor raises FileError if the file does not
    exist or is not a regular file."""

    def __init__(self, path: str) -> None:
        self.path = local_path(path)
        try:
            status = self.path.stat()
        except (OSError, ValueError) as error:
            raise _explain(path, error) from error
        if not path.startswith(_PASSED) and (kind := _name_other_kind(status.st_mode)):
            raise FileError(FileErrorKind.NO_FILE, f"{path} is a {kind}, not an archive file")
        self.size_bytes: int | None = status.st_size
        self.version: str | None = format_local_version(status)

    def open_at(self, offset: int, end: int | None = None) -> BinaryIO:
        """See `Source`."""
        try:
            stream = self.path.open("rb")
        except OSError as error:
            raise _explain(str(self.path), error) from error
        if offset:
            stream.seek(offset)
        return stream

    def close(self) -> None:
        """See `Source`."""


def check_unchanged(source: Source) -> None:
    """Raise FileError if a local file has changed since it was opened. Remote files need no check,
    because every response contains the version."""
    if isinstance(source, LocalFile) and LocalFile(str(source.path)).version != source.version:
        raise FileError(FileErrorKind.CHANGED, f"{source.path} was changed while it was read; run again")


def _name_other_kind(mode: int) -> str | None:
    """Return the kind of anything that is not a regular file, or None for a regular file. (Opening
    a FIFO could block forever.)"""
    kinds = {stat.S_IFDIR: "folder", stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket", stat.S_IFREG: None}
    return kinds.get(stat.S_IFMT(mode), "device")


def _explain(path: str, error: OSError | ValueError) -> FileError:
    kind = FileErrorKind.UNREADABLE
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        kind = FileErrorKind.GONE
    elif isinstance(error, PermissionError):
        kind = FileErrorKind.DENIED
    elif getattr(error, "errno", None) == errno.ELOOP:
        kind = FileErrorKind.NO_FILE
    return FileError(kind, f"{path}: {getattr(error, 'strerror', None) or error}")


def format_local_version(status: os.stat_result) -> str:
    """Return the `Source.version` of a local file."""
    return f"mtime:{status.st_mtime_ns}"


def local_path(path: str) -> Path:
    """Convert a local path to a Path. `file:` URLs and Databricks' `dbfs:` paths are supported.

    >>> local_path("dbfs:/crawl/a.warc"), local_path("dbfs:/Volumes/c/s/v/a.warc")
    (PosixPath('/dbfs/crawl/a.warc'), PosixPath('/Volumes/c/s/v/a.warc'))
    """
    if path.startswith("dbfs:/"):
        inner = path.removeprefix("dbfs:").lstrip("/")
        return Path("/" if inner.startswith("Volumes/") else "/dbfs") / inner
    if not path.startswith("file:/"):
        return Path(path)
    return Path("/" + path.removeprefix("file:").removeprefix("//localhost/").lstrip("/"))


def is_http(path: str) -> bool:
    """Return whether a path is an HTTP URL."""
    return path[:8].lower().startswith(("http://", "https://"))


def open_source(path: str, settings: ReadSettings, head_bytes: int | None = 0) -> Source:
    """Open the file at `path` (local, `file:`, `s3://`, `http(s)://` or an fsspec scheme). Raises
    FileError if the file cannot be opened.

    Args:
        head_bytes: For S3 and HTTP, the number of bytes to request from the start of the file
            together with the file's size and version (None: all bytes). A later `open_at(0,
            head_bytes)` needs no further request.
    """
    if is_s3(path):
        with needed("reading from S3", "warc"):
            from dripper.warc.open.s3 import S3Object
        return S3Object(path, settings.s3, head_bytes)
    if is_http(path):
        with needed("reading over HTTP", "warc"):
            from dripper.warc.open.http import HttpFile
        return HttpFile(path, settings.s3.max_attempts, settings.s3.timeout_seconds, head_bytes)
    if has_file_system(path):
        with needed(f"reading {path.partition(':')[0]}://", "warc"):
            from dripper.warc.open.filesystem import StoredFile
        return StoredFile(path, settings.s3.max_attempts)
    return LocalFile(path)

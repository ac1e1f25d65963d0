"""Opening an archive: a file here, an object in S3, a file behind HTTP or in another storage."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from dripper.errors import FileError, FileErrorKind
from dripper.optional import needed
from dripper.settings import ReadSettings
from dripper.warc.location import has_file_system, is_s3
from dripper.warc.stored import Source


class LocalFile:
    """A file on this machine, as a `Source`. Raises FileError where it does not exist or is a
    folder."""

    def __init__(self, path: str) -> None:
        self._path = local_path(path)
        try:
            found = self._path.stat()
        except (OSError, ValueError) as error:
            raise _explain(path, error) from error
        if kind := _no_file(found.st_mode):
            raise FileError(FileErrorKind.UNREADABLE, f"{path} is a {kind}, not an archive file")
        self.size_bytes: int | None = found.st_size
        self.version: str | None = local_version(found)

    def open_at(self, offset: int, end: int | None = None) -> BinaryIO:
        """See `Source`."""
        try:
            stream = self._path.open("rb")
        except OSError as error:
            raise _explain(str(self._path), error) from error
        stream.seek(offset)
        return stream


def _no_file(mode: int) -> str | None:
    """Return what something is that is no file: to open a FIFO would wait for ever for a writer."""
    kinds = {stat.S_IFDIR: "folder", stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket", stat.S_IFREG: None}
    return kinds.get(stat.S_IFMT(mode), "device")


def _explain(path: str, error: OSError | ValueError) -> FileError:
    kind = FileErrorKind.UNREADABLE
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        kind = FileErrorKind.GONE
    elif isinstance(error, PermissionError):
        kind = FileErrorKind.DENIED
    return FileError(kind, f"{path}: {getattr(error, 'strerror', None) or error}")


def local_version(found: os.stat_result) -> str:
    """Return the `Source.version` of a local file."""
    return f"mtime:{found.st_mtime_ns}"


def local_path(path: str) -> Path:
    """Return a local path, of which a `file:` URL is one way to write it, and Databricks' `dbfs:`
    another.

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
    """Tell whether a path is an HTTP URL."""
    return path[:8].lower().startswith(("http://", "https://"))


def open_source(path: str, settings: ReadSettings) -> Source:
    """Return the file at `path` (local, `file:`, `s3://`, `http(s)://`, what fsspec knows); raises
    FileError where it cannot be opened."""
    if is_s3(path):
        with needed("reading from S3", "warc"):
            from dripper.warc.s3 import S3Object
        return S3Object(path, settings.s3)
    if is_http(path):
        with needed("reading over HTTP", "warc"):
            from dripper.warc.http import HttpFile
        return HttpFile(path, settings.s3.max_attempts, settings.s3.timeout_seconds)
    if has_file_system(path):
        with needed(f"reading {path.partition(':')[0]}://", "warc"):
            from dripper.warc.filesystem import StoredFile
        return StoredFile(path, settings.s3.max_attempts)
    return LocalFile(path)

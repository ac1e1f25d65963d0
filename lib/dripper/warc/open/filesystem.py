"""Opens archives through fsspec in storage systems other than S3 and HTTP (`hdfs://`, `gs://`,
`abfss://` and others).

Each storage system needs its own package on the driver and the workers; see docs/storages.md.
"""

import re
from collections.abc import Iterator
from typing import Any

import fsspec
from fsspec.registry import known_implementations

from dripper.addresses import loggable, loggable_text
from dripper.errors import FileError, FileErrorKind
from dripper.warc.open.base import Readable
from dripper.warc.open.remote import RemoteFile, format_etag_version, retry

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")
_OTHER_NAMES = {"abfss": "abfs", "wasb": "abfs", "wasbs": "abfs"}
"""Hadoop's name for a scheme → the name in fsspec."""

_BLOCK_BYTES = 8 << 20
"""Number of bytes to read ahead. A request takes about 50 ms; processing this many bytes takes
about a second."""


def list_files(path: str) -> Iterator[tuple[str, int | None, str | None]]:
    """Yield (path, bytes, version) for all files below a folder or all files that match a pattern,
    sorted by name.

    If `path` is a file, only that file is yielded. Raises FileError if nothing exists at `path`.
    """
    system, inner = _open_file_system(path)
    try:
        pattern = re.search(r"[*?\[]", inner)
        if pattern:
            files = system.glob(inner, detail=True)
        elif system.isfile(inner):
            files = {inner: system.info(inner)}
        else:
            files = system.find(inner, detail=True)
            if not files and not system.exists(inner):
                raise FileError(FileErrorKind.GONE, f"{loggable(path)} does not exist")
    except Exception as error:
        raise explain(path, error) from error
    scheme, _, rest = path.partition("://")
    authority, _, key = rest.partition("/")
    inner_root = inner.rstrip("/").removesuffix(key.rstrip("/"))
    for name, info in sorted(files.items()):
        if info.get("type") == "file":
            below = name.removeprefix(inner_root).lstrip("/")
            yield f"{scheme}://{authority}/{below}", info.get("size"), _find_version(info)


class StoredFile(RemoteFile):
    """A file opened through fsspec. The constructor raises FileError if the file cannot be read."""

    errors = (Exception,)
    """Each storage system raises its own exceptions when a connection breaks. Permanent errors have
    already been converted to FileError, which is not retried."""

    def __init__(self, path: str, max_attempts: int) -> None:
        super().__init__(path, max_attempts)
        self._system, self._inner = _open_file_system(path)
        info = retry(path, self._read_info, self.errors, max_attempts)
        if info.get("type") == "directory":
            raise FileError(FileErrorKind.NO_FILE, f"{loggable(path)} is a folder, not an archive file")
        self.size_bytes = info.get("size")
        self.version = _find_version(info)

    def _read_info(self) -> dict[str, Any]:
        try:
            info: dict[str, Any] = self._system.info(self._inner)
        except (FileNotFoundError, PermissionError) as error:
            raise explain(self._path, error) from error
        return info

    def _connect(self, offset: int, end: int | None) -> Readable:
        block_bytes = _BLOCK_BYTES if end is None else min(_BLOCK_BYTES, max(1, end - offset))
        try:
            stream: Readable = self._system.open(
                self._inner, "rb", block_size=block_bytes, cache_type="readahead", size=self.size_bytes
            )
            stream.seek(offset)  # type: ignore[attr-defined]
        except (FileNotFoundError, PermissionError) as error:
            raise explain(self._path, error) from error
        return stream


def explain(path: str, error: Exception) -> FileError:
    """Convert a file system's exception to a FileError that describes the problem."""
    if isinstance(error, FileError):
        return error
    if isinstance(error, FileNotFoundError):
        return FileError(FileErrorKind.GONE, f"{loggable(path)} does not exist")
    if isinstance(error, PermissionError):
        return FileError(FileErrorKind.DENIED, f"{loggable(path)}: access denied; {loggable_text(str(error))}")
    return FileError(FileErrorKind.UNREACHABLE, f"{loggable(path)}: {loggable_text(str(error))}")


def _open_file_system(path: str) -> tuple[Any, str]:
    """Return the file system that can open `path`, and the path within that file system."""
    match = _URL.match(path)
    assert match
    scheme = match["scheme"].lower()
    name = _OTHER_NAMES.get(scheme, scheme)
    try:
        system, inner = fsspec.url_to_fs(f"{name}://{path[match.end() :]}")
    except Exception as error:  # missing credentials, a library that cannot be loaded: each raises its own class
        if isinstance(error, ImportError) or name == "hdfs":
            problem = _explain_missing_package(scheme, name, error)
        elif isinstance(error, ValueError):
            readable = "s3://, http(s)://, hdfs://, gs://, abfss://, wasbs:// and paths are"
            problem = f"addresses that start with {scheme}:// cannot be read; {readable}"
        else:
            raise explain(path, error) from error
        raise FileError(FileErrorKind.UNREADABLE, f"{loggable(path)}: {problem}") from error
    return system, str(inner)


def _explain_missing_package(scheme: str, name: str, error: Exception) -> str:
    known = known_implementations.get(name, {"class": "fsspec"})
    package, reason = known["class"].partition(".")[0], str(error).partition("\n")[0]
    if name == "hdfs":
        needs = "Hadoop's native library (HADOOP_HOME and CLASSPATH say where it is) on the driver and on the workers"
    elif package == "fsspec":
        needs = "a package that is not there"
    else:
        needs = f"{package} on the driver and on the workers: pip install {package}"
    return f"reading {scheme}:// needs {needs} ({reason})"


def _find_version(info: dict[str, Any]) -> str | None:
    """Derive `Source.version` from the metadata that the storage system reports."""
    if etag := info.get("etag") or info.get("ETag"):
        return format_etag_version(str(etag))
    changed = next(
        (info[name] for name in ("mtime", "updated", "last_modified", "modificationTime") if info.get(name)), None
    )
    return None if changed is None else f"mtime:{changed}"

"""Expands the value of `--warcs` (files, folders, glob patterns, prefixes, lists) into archive
files."""

import fnmatch
import glob
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from dripper.addresses import loggable
from dripper.errors import InputError
from dripper.extras import needed
from dripper.parse_place import archive_place
from dripper.settings import ReadSettings
from dripper.warc.open.base import unzip
from dripper.warc.open.identity import canonical_address
from dripper.warc.open.source import (
    ARCHIVE_NAME,
    LocalFile,
    bucket_and_key,
    format_local_version,
    has_file_system,
    is_http,
    is_s3,
    local_path,
    open_source,
)


def read_text(path: str, settings: ReadSettings) -> str:
    """Read a list file, which may be gzipped. Raises InputError if the file is not UTF-8 text."""
    try:
        with closing(open_source(path, settings, None).open_at(0)) as stream:
            return unzip(stream).read().decode("utf-8-sig")
    except (UnicodeDecodeError, EOFError, OSError, zlib.error) as error:
        cause = "it is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else error
        raise InputError(f"@{loggable(path)} is not a list of paths, one a line: {cause}") from error


def read_list(path: str, settings: ReadSettings) -> list[str]:
    """Return the lines of a list file without blank lines and comments. Raises InputError if the
    file is not UTF-8 text."""
    lines = (line.strip() for line in read_text(path, settings).splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def locate_archives(names: Sequence[str], source: str, settings: ReadSettings) -> list[str]:
    """Return the paths of the archives that a list or an index names.

    Relative names are appended to `settings.list_prefix`. If that is not set, they are appended to
    the bucket or server of `source`. If `source` is a local file, they are appended to its folder
    or to the working folder, whichever contains one of the names.

    Args:
        names: The names as written in `source`.
        source: The path of the list or index.

    Raises:
        InputError: No relative name exists in the folder of `source` or in the working folder.
    """
    names = [name if name.startswith("~") else archive_place(f"@{loggable(source)}:", name) for name in names]
    relative = dict.fromkeys(n for n in names if "://" not in n and not n.startswith(("/", "file:/", "dbfs:/")))
    prefix = _find_prefix(source, list(relative), settings) if relative else ""
    return [prefix + name if name in relative else name for name in names]


def _find_prefix(path: str, relative: Sequence[str], settings: ReadSettings) -> str:
    if settings.list_prefix:
        return settings.list_prefix.rstrip("/") + "/"
    if is_s3(path):
        return f"s3://{bucket_and_key(path)[0]}/"
    if is_http(path) or has_file_system(path):
        return f"{urlsplit(path).scheme}://{urlsplit(path).netloc}/"
    folders = (str(local_path(path).parent) + "/", "")
    folder_of_names = next(
        (folder for folder in folders if any(Path(folder + name).exists() for name in relative)), None
    )
    if folder_of_names is None:
        raise InputError(
            f"{path}: {relative[0]} is neither beside it nor in the working folder; "
            "set reading.list_prefix, for Common Crawl to s3://commoncrawl/ or https://data.commoncrawl.org/"
        )
    return folder_of_names


GLOB = re.compile(r"[*?\[]")
"""Matches the characters that turn a name into a glob pattern."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One archive file to read."""

    path: str
    """The path as `read_records` accepts it."""
    size_bytes: int | None = None
    """The stored size. None if finding it out would take a request to a server."""
    version: str | None = None
    """See `Source.version`. None if finding it out would take a request to a server."""

    @property
    def address(self) -> str:
        """The canonical address, which identifies the file."""
        return canonical_address(self.path)


def expand(spec: str, settings: ReadSettings | None = None) -> list[SourceFile]:
    """Return the archive files that `spec` names, without duplicates. Files from a folder or
    pattern are sorted by name. Otherwise, the order of `spec` is kept.

    Args:
        spec: Comma-separated parts. Each part is one of these: a local file, folder or pattern
            (`*`, `?`, `[…]`, `**`); an `s3://` object, prefix or pattern; an `http(s)://` file; a
            file, folder or pattern in another storage system (docs/storages.md); an `@list`.
            Folders are searched recursively for names like `x.warc.gz` or `x.arc`, and symbolic
            links are followed. A list is a text file with one path per line, gzipped or not, in any
            of these storage systems. `locate_archives` explains how relative paths in a list are
            resolved. The files in a list are not checked here, because a list may name a hundred
            thousand of them.
        settings: The settings for reading; None means the defaults.

    Raises:
        InputError: A part of `spec` does not exist or matches no file.
    """
    settings, files = settings or ReadSettings(), list[SourceFile]()
    for part in _split_parts(spec):
        found = list(_expand_part(part, settings))
        if not found:
            raise InputError(
                f"no archive files in {loggable(part)}: names must end in .warc or .arc, with .gz, .zst or .lz4 or without, "
                "or in .wacz"
            )
        files += found
    return _each_once(files)


def list_named_files(spec: str, settings: ReadSettings) -> list[SourceFile]:
    """Return files like `expand`, but also include named files that do not exist (any more)."""
    files: list[SourceFile] = []
    for part in _split_parts(spec):
        part = _normalize_part(part)
        try:
            files += expand(part, settings)
        except InputError:
            if part.startswith("@"):
                raise
            files.append(SourceFile(part))
    return _each_once(files)


def _each_once(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Return the files, but only the first of those with the same address."""
    by_address: dict[str, SourceFile] = {}
    for file in files:
        by_address.setdefault(file.address, file)
    return list(by_address.values())


def _split_parts(spec: str) -> list[str]:
    """Split `spec` at commas, unless `spec` as a whole is the path of an existing file."""
    # A long `spec` may exceed the limit for file names, and `Path.exists` would raise an error.
    if spec and os.path.exists(local_path(spec)):  # noqa: PTH110
        return [spec]
    parts = [part.strip() for part in spec.split(",") if part.strip()]
    if not parts:
        raise InputError(
            "no archive files were named; give files, folders, patterns, s3:// or http:// addresses, or @lists"
        )
    return parts


def _expand_part(part: str, settings: ReadSettings) -> Iterator[SourceFile]:
    part = _normalize_part(part)
    if part.startswith("@"):
        return _expand_list(part[1:], settings)
    if is_s3(part):
        return iter(_list_s3(part, settings))
    if has_file_system(part):
        return _expand_stored(part)
    return iter([SourceFile(part)]) if is_http(part) else _expand_local(part)


def _normalize_part(part: str) -> str:
    at = "@" if part.startswith("@") else ""
    return at + archive_place("the input", part.removeprefix(at))


def _expand_local(part: str) -> Iterator[SourceFile]:
    path = local_path(part)
    if path.is_dir():
        return (_stat_if_local(str(file)) for file in list_files_below(path) if ARCHIVE_NAME.search(file.name))
    if path.exists():
        LocalFile(part)
        return iter([_stat_local_file(part)])
    if not GLOB.search(part):
        raise explain_absence(part)
    matches = sorted(Path(match) for match in glob.glob(str(path), recursive=True))  # noqa: PTH207, Path.glob takes no absolute
    return (_stat_if_local(str(match)) for match in matches if not match.is_dir())


def explain_absence(part: str) -> InputError:
    """Return the error for a path that does not exist."""
    on_databricks = local_path(part).parts[1:2] in (("Volumes",), ("dbfs",))
    return InputError(f"{part} does not exist" + ("; Databricks alone has it" if on_databricks else ""))


def list_files_below(folder: Path) -> list[Path]:
    """Return all files below a folder, sorted by path.

    Symbolic links to folders are followed. A folder that links make reachable by several paths is
    listed once. If it really lies below `folder`, its own path is used instead of a link's. Broken
    links are included, so that reading them reports the error.
    """
    paths: list[Path] = []
    real_folders: set[str] = set()
    starts = [folder]
    for start in starts:
        for place, names, files in os.walk(start):
            real = os.path.realpath(place)
            if real in real_folders:
                names.clear()
                continue
            real_folders.add(real)
            paths += [Path(place, name) for name in files]
            names.sort()
            starts += [Path(place, name) for name in names if Path(place, name).is_symlink()]
    return sorted(paths)


def _stat_local_file(path: str) -> SourceFile:
    status = local_path(path).stat()
    return SourceFile(path, status.st_size, format_local_version(status))


def _list_s3(part: str, settings: ReadSettings) -> list[SourceFile]:
    with needed("reading from S3", "warc"):
        from dripper.warc.open import s3
    bucket, key = bucket_and_key(part)
    pattern, error = GLOB.search(key), None
    if key and not key.endswith("/") and not pattern:
        try:
            s3_object = s3.S3Object(part, settings.s3)
            return [SourceFile(part, s3_object.size_bytes, s3_object.version)]
        except InputError as refusal:  # it may be a prefix, or an object that this user cannot read
            error = refusal
    is_wanted = re.compile(fnmatch.translate(key)).match if pattern else ARCHIVE_NAME.search
    files = [
        SourceFile(f"s3://{bucket}/{name}", size, version)
        for name, size, version in s3.list_objects(bucket, key[: pattern.start()] if pattern else key, settings.s3)
        if is_wanted(name) and _is_file(name, size) and not (error and name == key)
    ]
    if error and not files:
        raise error
    return files


def _is_file(name: str, size: int | None) -> bool:
    """Return whether an object is a real file. An empty object without an archive name only marks a
    folder or a finished job."""
    return size != 0 or ARCHIVE_NAME.search(name) is not None


def _expand_stored(part: str) -> Iterator[SourceFile]:
    with needed(f"reading {part.partition(':')[0]}://", "warc"):
        from dripper.warc.open.filesystem import list_files
    is_pattern = GLOB.search(part)
    stored_files = list_files(part)
    return (
        SourceFile(name, size, version)
        for name, size, version in stored_files
        if name == part or (_is_file(name, size) if is_pattern else ARCHIVE_NAME.search(name))
    )


def _expand_list(path: str, settings: ReadSettings) -> Iterator[SourceFile]:
    names = read_list(path, settings)
    for name in names:
        if name.startswith("@") and not Path(name).exists():
            raise InputError(f"@{loggable(path)} names {name}: a list names files, no other lists")
    files = locate_archives(names, path, settings)
    own_address, last = canonical_address(path), path.rpartition("/")[2]
    if any(file.endswith(last) and canonical_address(file) == own_address for file in files):
        raise InputError(f"@{loggable(path)} names itself among its files: take that line out")
    return map(_stat_if_local, files)


def _stat_if_local(name: str) -> SourceFile:
    """Return a file, with size and version if it is local. Remote files are not checked, because
    each check would cost a request, and a list may name a hundred thousand files."""
    if "://" in name.removeprefix("file://") or has_file_system(name):
        return SourceFile(name)
    try:
        return _stat_local_file(name)
    except OSError:
        return SourceFile(name)

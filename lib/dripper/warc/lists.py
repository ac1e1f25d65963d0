"""Text that names archives: a list of paths, one a line, or an index."""

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from dripper.addresses import loggable
from dripper.errors import InputError
from dripper.places import archive_place
from dripper.settings import ReadSettings
from dripper.warc.location import bucket_and_key, has_file_system, is_s3
from dripper.warc.source import is_http, local_path, open_source


def read_text(path: str, settings: ReadSettings) -> str:
    """Return the text of a list, unzipped if it is zipped; raises InputError where it is no
    text."""
    stream = open_source(path, settings).open_at(0)
    try:
        parts = list(iter(lambda: stream.read(1 << 20), b""))
    finally:
        stream.close()
    data = b"".join(parts)
    try:
        return (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data).decode("utf-8-sig")
    except (UnicodeDecodeError, EOFError, OSError, zlib.error) as error:
        raise InputError(f"@{loggable(path)} is not a list of paths: {error}") from error


def located(names: Sequence[str], source: str, settings: ReadSettings) -> list[str]:
    """Return `names`, those that are relative joined to `settings.list_prefix`; without one, to the
    bucket or server of `source`, which names them, or to its folder. Raises InputError where they
    are in none of these."""
    names = [name if name.startswith("~") else archive_place(f"@{loggable(source)}:", name) for name in names]
    relative = dict.fromkeys(n for n in names if "://" not in n and not n.startswith(("/", "file:/", "dbfs:/")))
    prefix = _prefix(source, list(relative), settings) if relative else ""
    return [prefix + name if name in relative else name for name in names]


def _prefix(path: str, relative: Sequence[str], settings: ReadSettings) -> str:
    if settings.list_prefix:
        return settings.list_prefix.rstrip("/") + "/"
    if is_s3(path):
        return f"s3://{bucket_and_key(path)[0]}/"
    if is_http(path) or has_file_system(path):
        return f"{urlsplit(path).scheme}://{urlsplit(path).netloc}/"
    folders = (str(local_path(path).parent) + "/", "")
    found = next((folder for folder in folders if any(Path(folder + name).exists() for name in relative)), None)
    if found is None:
        raise InputError(
            f"{path}: {relative[0]} is neither beside it nor in the working folder; "
            "set reading.list_prefix, for Common Crawl to s3://commoncrawl/ or https://data.commoncrawl.org/"
        )
    return found

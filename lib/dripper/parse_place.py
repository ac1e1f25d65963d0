"""Parses the locations that users write in flags and settings: local paths, storage addresses and
catalog schemas.

If a location is ambiguous, the message of the InputError has both unambiguous spellings. Text that
looks like an address never becomes a local folder, because data written there would be lost when
the machine is shut down.
"""

import os
import re
from pathlib import Path
from typing import Literal, NamedTuple

from dripper.addresses import loggable
from dripper.errors import InputError

_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?P<slashes>/*)(?P<rest>.*)")
_WEB = frozenset({"http", "https"})
_STORES = frozenset(
    (
        *_WEB,
        *("s3", "s3a", "s3n", "gs", "gcs", "abfs", "abfss", "wasb", "wasbs", "az", "adl"),
        *("oss", "oci", "cos", "cosn", "obs", "sftp", "ftp", "webhdfs", "memory"),
    )
)
"""Schemes of addresses that must name a bucket, container or server after two slashes."""
_ROOTED = frozenset({"hdfs", "viewfs"})
"""Hadoop's schemes. If the address names no server, Hadoop's configuration provides one."""
_FILES = frozenset({"file", "dbfs"})
_SCHEMES = _STORES | _ROOTED | _FILES
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NAME = r"(?=[\w-]*[^\W\d])\w[\w-]*"
_QUOTED = r"`(?:[^`]|``)+`"
_SCHEMA = re.compile(rf"({_QUOTED}|{_NAME})\.({_QUOTED}|{_NAME})")
"""Unity Catalog allows hyphens and leading digits (`my-catalog.2026_crawl`), which need quotes in
SQL. An unquoted name must contain a letter or an underscore, because a location such as `out-1.0`
is more likely a folder."""
_TABLE = re.compile(rf"{_NAME}(?:\.{_NAME}){{2,}}")


class Place(NamedTuple):
    """A location that the user gave: a path, an address or a catalog schema."""

    kind: Literal["path", "address", "catalog"]
    text: str
    """The path (with `~` expanded), the address, or the schema as the user wrote it."""
    names: tuple[str, ...] = ()
    """The catalog and the schema, without quotes."""


def output_place(name: str, typed: str, *, catalogs: bool = False) -> Place:
    """Parse the location of a job's output.

    Args:
        name: The flag, for error messages.
        typed: The location as the user wrote it.
        catalogs: Whether the location may be a catalog schema.

    Raises:
        InputError: The location is invalid or ambiguous.

    >>> output_place("--output", "S3A://bucket/out/").text
    's3a://bucket/out'
    >>> output_place("--output", "main.2026_crawl", catalogs=True).names
    ('main', '2026_crawl')
    """
    text = _clean(name, typed)
    address = _parse_address(name, text)
    if address is not None and not address.startswith(("/", "dbfs:/")):
        if address.partition(":")[0] in _WEB:
            raise InputError(f"{name} {loggable(text)}: a web server can be read from, and not be written to")
        if loggable(address) != address:
            raise InputError(
                f"{name} {loggable(address)} holds a password: leave it out, and give it where its storage looks for one"
            )
        bare = address.rstrip("/")
        return Place("address", address if bare.endswith(":") else bare)
    if address is not None:
        return _resolve_on_machine(name, text, address)
    if catalogs and (schema := _parse_schema(name, text)):
        return schema
    path = _expand_home(name, text)
    if "`" in path and catalogs:
        raise InputError(f"{name} {text}: write `catalog`.`schema` for a schema, ./{text} for a folder")
    return _resolve_on_machine(name, text, path)


def local_place(name: str, typed: str, *, writes: bool = False) -> Path:
    """Parse the path of a file or folder that must be on this machine.

    Args:
        name: The flag, for error messages.
        typed: The location as the user wrote it.
        writes: Whether the file or folder will be created if it does not exist.

    Raises:
        InputError: The location is not on this machine.

    >>> local_place("--conf", "file:///etc/a.yml"), local_place("--conf", "dbfs:/conf/a.yml")
    (PosixPath('/etc/a.yml'), PosixPath('/dbfs/conf/a.yml'))
    """
    text = _clean(name, typed)
    address = _parse_address(name, text)
    if address is None:
        path = _expand_home(name, text)
    elif address.startswith("dbfs:/"):
        path = f"/dbfs/{address.removeprefix('dbfs:/')}"
        if writes and not Path("/dbfs").is_dir():
            raise InputError(_explain_no_databricks(name, text))
    elif address.startswith("/"):
        path = address
    else:
        raise InputError(
            f"{name} {loggable(text)} is an address, and has to be on this machine: fetch it, or name a path"
        )
    if writes:
        _check_volume(name, path, bool(os.environ.get("DATABRICKS_RUNTIME_VERSION")))
    return Path(path)


def archive_place(name: str, typed: str) -> str:
    """Parse the path, pattern or address of an archive. The scheme is lower-cased, and `~` is
    expanded.

    Args:
        name: The flag, for error messages.
        typed: The location as the user wrote it.

    Raises:
        InputError: The address is misspelled.

    >>> archive_place("--warcs", "S3://bucket/a.warc.gz")
    's3://bucket/a.warc.gz'
    """
    match = _SCHEME.match(typed)
    if match is None:
        return _expand_home(name, typed)
    scheme = match["scheme"].lower()
    if scheme not in _SCHEMES:
        # Either the file name contains a colon, or only fsspec knows the scheme.
        return typed
    address = _parse_address(name, typed)
    return f"{scheme}:{typed.partition(':')[2]}" if scheme in _FILES else address or typed


def _clean(name: str, typed: str) -> str:
    text = typed.strip()
    if not text:
        raise InputError(f"{name} is empty: say where")
    if _CONTROL.search(text):
        raise InputError(f"{name} {loggable(text)} holds control characters: leave them out")
    if text != typed and not _CONTROL.search(typed) and os.path.lexists(typed):
        raise InputError(
            f"{name} {typed!r} may be {text!r}, or what is here by that name with its blanks: rename the one, or leave the "
            "blanks away"
        )
    return text


def _parse_address(name: str, text: str) -> str | None:
    """Return an address in its canonical spelling (a path for `file:`), or None for text without a
    scheme. Raises InputError for a misspelled address."""
    match = _SCHEME.fullmatch(text)
    if match is None:
        return None
    scheme, slashes, rest = match["scheme"].lower(), len(match["slashes"]), match["rest"]
    if scheme not in _SCHEMES and not slashes:
        # The colon is part of a file name.
        return None
    if scheme in _FILES and slashes:
        return _parse_file_address(name, text, scheme, slashes, rest)
    if scheme in _ROOTED and slashes in (1, 3):
        return f"{scheme}:///{rest}"
    if slashes == 2 and rest:
        return f"{scheme}://{rest}"
    right = f"{scheme}:/{rest}" if scheme in _FILES else f"{scheme}://{rest or 'BUCKET'}"
    wrong = "has no slash after its scheme" if scheme in _FILES else "names no bucket or server after two slashes"
    raise InputError(
        f"{name} {loggable(text)} {wrong}: write {loggable(right)}, or ./{loggable(text)} for what is here by that name"
    )


def _parse_file_address(name: str, text: str, scheme: str, slashes: int, rest: str) -> str:
    if scheme == "dbfs":
        return f"/{rest}" if rest.startswith("Volumes/") else f"dbfs:/{rest}"
    host, _, path = rest.partition("/")
    if slashes != 2:
        return f"/{rest}"
    if host.lower() == "localhost":
        return f"/{path}"
    raise InputError(f"{name} {text} names the machine {host}: write file:///{rest} for a path of this one")


def _resolve_on_machine(name: str, text: str, path: str) -> Place:
    """Return the `Place` of a path on this machine. On Databricks, a path in Databricks' own
    storage becomes a `dbfs:` address."""
    on_databricks = any(os.environ.get(key) for key in ("DATABRICKS_RUNTIME_VERSION", "SPARK_REMOTE"))
    if path.startswith("dbfs:/"):
        if on_databricks:
            return Place("address", path.rstrip("/"))
        path = f"/dbfs/{path.removeprefix('dbfs:/')}"
        if not Path("/dbfs").is_dir():
            raise InputError(_explain_no_databricks(name, text))
    _check_volume(name, path, on_databricks)
    if os.environ.get("DATABRICKS_RUNTIME_VERSION") and not path.startswith("/Volumes/"):
        if path.startswith("/dbfs/"):
            return Place("address", f"dbfs:{path.removeprefix('/dbfs').rstrip('/')}")
        if not path.startswith("/") or text.lower().startswith("file:"):
            raise InputError(
                f"{name} {text} is a folder of the driver, which ends with the cluster: write "
                f"/Volumes/CATALOG/SCHEMA/VOLUME/…, an address such as s3://…, or catalog.schema"
            )
    return Place("path", path)


def _check_volume(name: str, path: str, on_databricks: bool) -> None:
    """Raise InputError for a path below /Volumes that is not in a volume. Otherwise, the path would
    be created as a local folder. (On a Mac, /Volumes contains the disks.)"""
    if path.rstrip("/") != "/Volumes" and not path.startswith("/Volumes/"):
        return
    parts = path.split("/")[2:]
    if on_databricks and sum(map(bool, parts[:3])) < 3:
        raise InputError(f"{name} {path}: a volume has three names, /Volumes/CATALOG/SCHEMA/VOLUME")
    if not on_databricks and not (parts and parts[0] and Path("/Volumes", parts[0]).is_dir()):
        raise InputError(_explain_no_databricks(name, path))


def _explain_no_databricks(name: str, text: str) -> str:
    return f"{name} {text} is a place on Databricks, and this is not Databricks: name a folder, or an address such as s3://…"


def _parse_schema(name: str, text: str) -> Place | None:
    if match := _SCHEMA.fullmatch(text):
        names = tuple(part[1:-1].replace("``", "`") if part.startswith("`") else part for part in match.groups())
        if "`" not in text and os.path.lexists(text):
            raise InputError(
                f"{name} {text} may be the schema of a catalog, or the folder here: write "
                f"`{names[0]}`.`{names[1]}` for the schema, ./{text} for the folder"
            )
        return Place("catalog", text, names)
    if _TABLE.fullmatch(text) and not os.path.lexists(text):
        schema = ".".join(text.split(".")[:2])
        raise InputError(
            f"{name} {text} has more than two names: write {schema} for the schema of a catalog, ./{text} for a folder"
        )
    return None


def _expand_home(name: str, text: str) -> str:
    """Expand `~` to the home folder. Raises InputError if `~` is ambiguous or names no user."""
    if not text.startswith("~"):
        return text
    home = os.path.expanduser(text)  # noqa: PTH111, Path's raises if there is no such user
    is_here = os.path.lexists(text.partition("/")[0])
    if home == text and not is_here:
        raise InputError(f"{name} {text}: there is no user of that name; a file or folder called so is ./{text}")
    if home != text and is_here:
        raise InputError(f"{name} {text} may be {home}, or what is here by that name: write {home} or ./{text}")
    return home

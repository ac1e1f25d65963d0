"""Reads Common Crawl's columnar index and other Parquet files with the same columns. Row groups
that cannot match the conditions are not read."""

from collections.abc import Iterator
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

from dripper.addresses import host_name
from dripper.errors import FileError, FileErrorKind, InputError
from dripper.extras import needed
from dripper.settings import S3Settings
from dripper.warc.index.selection import Capture, Selection
from dripper.warc.open.source import bucket_and_key, is_s3, local_path

if TYPE_CHECKING:
    from pyarrow import dataset

_NEEDED = ("url", "warc_filename", "warc_record_offset", "warc_record_length")
_STATUS, _LANGUAGES, _HOST, _DOMAIN = "fetch_status", "content_languages", "url_host_name", "url_host_registered_domain"
_MIMES = ("content_mime_detected", "content_mime_type")
_USED = (*_NEEDED, _STATUS, _LANGUAGES, *_MIMES)


class ColumnarIndex:
    """A Parquet file, or the Parquet files in a folder or prefix. The constructor raises InputError
    if the files cannot be read or lack a required column. The conditions in `selection` require
    further columns."""

    def __init__(self, path: str, selection: Selection, settings: S3Settings) -> None:
        self._path = path
        self._selection = selection
        with needed("reading a columnar index", "parquet"):
            import pyarrow.dataset
        try:
            root, filesystem = _open_file_system(path, settings)
            self._dataset: dataset.Dataset = pyarrow.dataset.dataset(root, filesystem=filesystem, format="parquet")
        except (OSError, ValueError) as error:
            raise FileError(FileErrorKind.UNREADABLE, f"the index {path} cannot be read: {error}") from error
        self._columns = set(self._dataset.schema.names)
        values_by_column = {_STATUS: selection.statuses, _LANGUAGES: selection.languages, _MIMES[0]: selection.mimes}
        lacking = [name for name in _NEEDED if name not in self._columns]
        lacking += [name for name, values in values_by_column.items() if values and name not in self._columns]
        if lacking:
            raise InputError(
                f"the index {path} has no column {lacking[0]}; leave out what it is needed for, or take another"
            )

    def list_files(self) -> list[str]:
        """Return the paths of the Parquet files."""
        prefix = "s3://" if is_s3(self._path) else ""
        return [prefix + name for name in self._dataset.files]

    def read_captures(self) -> Iterator[Capture | ValueError]:
        """Yield the selected captures, and a ValueError for each row that does not locate a record
        in a file."""
        columns = [name for name in _USED if name in self._columns]
        try:
            for batch in self._dataset.to_batches(columns=columns, filter=self._build_filter()):
                for row in batch.to_pylist():
                    capture = _to_capture(row)
                    if isinstance(capture, ValueError) or self._selection.wants(capture):
                        yield capture
        except OSError as error:
            raise FileError(FileErrorKind.UNREADABLE, f"the index {self._path} cannot be read: {error}") from error

    def _build_filter(self) -> Any:
        """Return the conditions that pyarrow can test while it reads the files. Afterwards,
        `Selection.wants` tests all conditions exactly."""
        from pyarrow import compute as pc

        chosen = self._selection
        prefix_hosts = [(host_name(prefix) or "") if prefix.count("/") > 2 else "" for prefix in chosen.url_prefixes]
        hosts = [*chosen.hosts] or ([*prefix_hosts] if prefix_hosts and all(prefix_hosts) else [])
        exact = {
            _HOST: hosts if _HOST in self._columns else (),
            _STATUS: chosen.statuses,
            "url": sorted(chosen.urls or ()),
        }
        tests = [pc.field(column).isin(list(values)) for column, values in exact.items() if values]
        if chosen.domains and _DOMAIN in self._columns:
            # A registered domain is a suffix of the host. The requested domain may be a suffix of
            # the registered domain, or vice versa.
            ends = [domain.split(".")[-1] for domain in chosen.domains]
            of_domain = (pc.ends_with(pc.field(_DOMAIN), "." + end) | (pc.field(_DOMAIN) == end) for end in ends)
            tests.append(reduce(or_, of_domain))
        if chosen.url_prefixes:
            tests.append(reduce(or_, (pc.starts_with(pc.field("url"), prefix) for prefix in chosen.url_prefixes)))
        if chosen.languages:
            tests.append(reduce(or_, (pc.match_substring(pc.field(_LANGUAGES), code) for code in chosen.languages)))
        return reduce(and_, tests) if tests else None


def _open_file_system(path: str, settings: S3Settings) -> tuple[str, Any]:
    """Return the path within a file system, and the file system (None means the local one)."""
    if not is_s3(path):
        return str(local_path(path)), None
    from pyarrow.fs import S3FileSystem

    options: dict[str, Any] = {"anonymous": settings.anonymous, "region": settings.region}
    if settings.endpoint_url:
        scheme, _, host = settings.endpoint_url.partition("://")
        options |= {"endpoint_override": host or scheme, "scheme": scheme if host else "https"}
    bucket, key = bucket_and_key(path)
    return f"{bucket}/{key}", S3FileSystem(**{name: value for name, value in options.items() if value})


def _to_capture(row: dict[str, Any]) -> Capture | ValueError:
    url, file, offset, length = (row[name] for name in _NEEDED)
    if not url or not file or offset is None or offset < 0 or not length or length < 0:
        return ValueError(f"a row of {url or 'no address'} has no place in a file")
    mime = next((row[name] for name in _MIMES if row.get(name)), "")
    languages = row.get(_LANGUAGES)
    return Capture(
        url, file, offset, length, row.get(_STATUS), mime, tuple(languages.split(",")) if languages else None
    )

"""Storages through fsspec: one in memory, and pyarrow's as used for `hdfs://`, in this process and
in another."""

import gzip
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.memory import MemoryFileSystem
from pyarrow.fs import LocalFileSystem

from dripper.errors import FileError, FileErrorKind, InputError
from dripper.settings import ReadSettings, S3Settings
from dripper.warc import expand, read_records
from dripper.warc.open.filesystem import list_files
from dripper.warc.open.identity import canonical_address
from dripper.warc.open.source import has_file_system
from support.archives import http, page, store, warc

N_PAGES = 5
ARCHIVE = store([warc(f"http://e.org/{i}", http(page(i))) for i in range(N_PAGES)], "gzip").data
ONCE = ReadSettings(s3=S3Settings(max_attempts=1))


class ArrowFiles(ArrowFSWrapper):
    """The files of this machine as through `hdfs://`: pyarrow's, wrapped by fsspec."""

    protocol = "arrowfiles"

    def __init__(self, **_: object) -> None:
        super().__init__(fs=LocalFileSystem())


class Broken(MemoryFileSystem):
    """Refuses or fails, by the name of the file."""

    protocol = "broken"

    def info(self, path: str, **_: object) -> dict[str, object]:
        if "denied" in path:
            raise PermissionError("no role")
        raise TimeoutError("no answer from https://e.org/x?sig=1")


def register() -> None:
    fsspec.register_implementation("arrowfiles", ArrowFiles, clobber=True)
    fsspec.register_implementation("broken", Broken, clobber=True)


@pytest.fixture
def stored(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """An address below which archives are."""
    register()
    names = {"a.warc.gz": ARCHIVE, "deep/b.warc.gz": ARCHIVE, "notes.txt": b"x"}
    names["lists/paths.gz"] = gzip.compress(b"crawl/a.warc.gz\n")
    if request.param == "memory":
        memory = fsspec.filesystem("memory")
        memory.pipe({f"/crawl/{name}": data for name, data in names.items()})
        yield "memory://crawl"
        memory.store.clear()
        return
    for name, data in names.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    yield f"arrowfiles://{tmp_path}"


def payloads(path: str) -> list[bytes]:
    register()
    return [record.payload for record in read_records(path)]


@pytest.mark.parametrize("stored", ["memory", "arrowfiles"], indirect=True)
def test_files_folders_and_patterns(stored: str) -> None:
    for spec, names in (
        (f"{stored}/a.warc.gz", ["a.warc.gz"]),
        (stored, ["a.warc.gz", "deep/b.warc.gz"]),
        (f"{stored}/deep/", ["deep/b.warc.gz"]),
        (f"{stored}/*.gz", ["a.warc.gz"]),
        (f"{stored}/**/b.*", ["deep/b.warc.gz"]),
        (f"{stored}/notes.txt", ["notes.txt"]),
    ):
        found = expand(spec)
        assert [file.path for file in found] == [f"{stored}/{name}" for name in names], spec
        assert found[0].size_bytes in (len(ARCHIVE), 1)
    reader = read_records(f"{stored}/a.warc.gz")
    assert [record.payload for record in reader] == [page(i) for i in range(N_PAGES)]
    assert (reader.report.error, reader.report.size_bytes) == (None, len(ARCHIVE))


@pytest.mark.parametrize("stored", ["memory"], indirect=True)
def test_lists_are_joined_to_where_they_are_from(stored: str) -> None:
    assert [file.path for file in expand(f"@{stored}/lists/paths.gz")] == ["memory://crawl/crawl/a.warc.gz"]


@pytest.mark.parametrize("stored", ["arrowfiles"], indirect=True)
def test_another_process_reads_the_same(stored: str) -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as other:
        assert other.submit(payloads, f"{stored}/a.warc.gz").result() == payloads(f"{stored}/a.warc.gz")


@pytest.mark.parametrize("stored", ["memory", "arrowfiles"], indirect=True)
def test_what_is_not_there_is_gone(stored: str) -> None:
    with pytest.raises(InputError, match="missing does not exist"):
        expand(f"{stored}/missing")
    reader = read_records(f"{stored}/missing.warc")
    assert list(reader) == []
    assert reader.report.error_kind == FileErrorKind.GONE
    reader = read_records(stored)
    assert list(reader) == []
    assert "is a folder" in (reader.report.error or "")


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [
        ("broken://b/denied.warc", FileErrorKind.DENIED, "access denied; no role"),
        ("broken://b/a.warc", FileErrorKind.UNREACHABLE, "gave up after 1 attempts: no answer from https://e.org/x"),
        ("ftpp://b/a.warc", FileErrorKind.UNREADABLE, "addresses that start with ftpp:// cannot be read"),
        ("viewfs://b/a.warc", FileErrorKind.UNREADABLE, "addresses that start with viewfs:// cannot be read"),
    ],
)
def test_failures_have_a_kind_and_say_what_to_do(path: str, kind: FileErrorKind, words: str) -> None:
    register()
    reader = read_records(path, ONCE)
    assert list(reader) == []
    assert reader.report.error_kind == kind
    assert words in (reader.report.error or "")
    assert "sig" not in (reader.report.error or "")


@pytest.mark.parametrize(
    ("path", "package"),
    [
        ("gs://b/a.warc", "pip install gcsfs"),
        ("abfss://c@a.dfs.core.windows.net/a.warc", "pip install adlfs"),
        ("wasbs://c@a.blob.core.windows.net/a.warc", "pip install adlfs"),
    ],
)
def test_a_package_that_is_not_there_is_named(path: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(url: str) -> None:
        raise ImportError("Please install it")

    monkeypatch.setattr("dripper.warc.open.filesystem.fsspec.url_to_fs", lacking)
    with pytest.raises(FileError, match=package):
        list(list_files(path))


def test_hdfs_without_its_library_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(url: str) -> None:
        raise OSError("Unable to load libjvm\ndlopen failed")

    monkeypatch.setattr("dripper.warc.open.filesystem.fsspec.url_to_fs", lacking)
    with pytest.raises(FileError, match=r"HADOOP_HOME and CLASSPATH .* \(Unable to load libjvm\)$"):
        list(list_files("hdfs://nn:8020/a.warc"))


def test_which_paths_are_whose() -> None:
    assert all(has_file_system(path) for path in ("gs://b/k", "HDFS://nn/a", "abfss://c@a/k", "memory://a"))
    assert not any(
        has_file_system(path) for path in ("s3://b/k", "http://e.org/a", "file:///a", "dbfs:/a", "/a", "a.warc")
    )


def test_databricks_paths_are_files() -> None:
    assert canonical_address("dbfs:/crawl/a.warc") == canonical_address("dbfs:///crawl/a.warc") == "/dbfs/crawl/a.warc"
    assert canonical_address("dbfs:/Volumes/c/s/v/a.warc") == "/Volumes/c/s/v/a.warc"
    with pytest.raises(InputError, match=r"dbfs:/nowhere/a\.warc does not exist"):
        expand("dbfs:/nowhere/a.warc")

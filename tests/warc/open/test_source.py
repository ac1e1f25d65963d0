"""The kind of file of a path, and the error for a missing file."""

from contextlib import closing
from pathlib import Path

import pytest

from dripper.errors import FileError, FileErrorKind, InputError
from dripper.settings import Settings
from dripper.warc import read_records
from dripper.warc.open.source import LocalFile, is_http, local_path, open_source
from support.archives import http, page, store, warc

READING = Settings().reading


@pytest.mark.parametrize("scheme", ["", "file://", "file:"])
def test_a_local_file_by_any_of_its_names(tmp_path: Path, scheme: str) -> None:
    file = tmp_path / "a.warc"
    file.write_bytes(b"0123456789")
    source = open_source(f"{scheme}{file}", READING)
    assert isinstance(source, LocalFile)
    assert source.size_bytes == 10
    with source.open_at(4) as stream:
        assert stream.read() == b"456789"


@pytest.mark.parametrize(
    ("name", "words", "kind"),
    [
        ("missing", "No such file", FileErrorKind.GONE),
        ("file/missing", "Not a directory", FileErrorKind.GONE),
        (".", "is a folder, not an archive file", FileErrorKind.NO_FILE),
        ("a\0b", "null byte", FileErrorKind.UNREADABLE),
    ],
)
def test_what_cannot_be_opened_is_a_sentence_with_the_path(
    tmp_path: Path, name: str, words: str, kind: FileErrorKind
) -> None:
    (tmp_path / "file").touch()
    path = f"{tmp_path}/{name}"
    with pytest.raises(FileError, match=words) as caught:
        LocalFile(path)
    assert str(caught.value).startswith(path)
    assert caught.value.kind == kind


def test_a_file_that_goes_away_while_it_is_read_is_gone(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(b"x")
    source = LocalFile(f"{tmp_path}/a.warc")
    (tmp_path / "a.warc").unlink()
    with pytest.raises(FileError, match=r"a\.warc: No such file") as caught:
        source.open_at(0)
    assert caught.value.kind == FileErrorKind.GONE


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_server_that_is_not_there(scheme: str) -> None:
    once = READING.model_copy(update={"s3": READING.s3.model_copy(update={"max_attempts": 1})})
    with pytest.raises(InputError, match=rf"{scheme}://127\.0\.0\.1:9/a\.warc: gave up after 1 attempts"):
        open_source(f"{scheme}://127.0.0.1:9/a.warc", once)


def test_kinds_are_told_by_the_scheme() -> None:
    assert [is_http(path) for path in ("http://x/", "https://x/")] == [True, True]
    assert [is_http(path) for path in ("httpd.warc", "s3://b/k", "ftp://x/")] == [False] * 3
    assert local_path("file:///a/b") == local_path("file:/a/b") == Path("/a/b")
    assert local_path("file.warc") == Path("file.warc")


def test_a_file_that_is_overwritten_while_it_is_read_is_changed(tmp_path: Path) -> None:
    file = tmp_path / "a.warc.gz"
    data = store([warc(f"http://e.org/{i}", http(page(i))) for i in range(3)], "gzip").data
    file.write_bytes(data)
    with closing(read_records(str(file))) as reader:
        next(reader)
        file.write_bytes(data)  # in place, as rsync --inplace writes
        list(reader)
    assert (reader.report.error_kind, reader.report.error) == (
        FileErrorKind.CHANGED,
        f"{file} was changed while it was read; run again",
    )

"""From a user's input to files."""

import gzip
import os
from pathlib import Path

import pytest

from dripper.errors import FileErrorKind, InputError
from dripper.settings import ReadSettings
from dripper.warc import expand, read_records


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "b/2.warc.gz",
        "b/1.WARC",
        "a.arc",
        "z.warc.zst",
        "c.warc.lz4",
        "notes.txt",
        "warc.gz",
        "b/x.warc.gz.cdx",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * len(name))
    return tmp_path


def names(spec: str, folder: Path, **settings: str) -> list[str]:
    return [file.path.removeprefix(f"{folder}/") for file in expand(spec, ReadSettings(**settings))]  # type: ignore[arg-type]


def test_a_folder_gives_its_archives_in_the_order_of_names(folder: Path) -> None:
    assert names(str(folder), folder) == ["a.arc", "b/1.WARC", "b/2.warc.gz", "c.warc.lz4", "z.warc.zst"]


def test_sizes_are_of_the_files(folder: Path) -> None:
    assert [file.size_bytes for file in expand(f"{folder}/b/*")] == [
        len("b/1.WARC"),
        len("b/2.warc.gz"),
        len("b/x.warc.gz.cdx"),
    ]


def test_files_are_taken_whatever_their_name_and_as_written(folder: Path) -> None:
    assert names(f"{folder}/notes.txt", folder) == ["notes.txt"]
    assert expand(f"file://{folder}/a.arc")[0].path == f"file://{folder}/a.arc"


def test_commas_patterns_and_no_file_twice(folder: Path) -> None:
    spec = f"{folder}/z.warc.zst, {folder}/**/*.warc.gz,{folder}/b,,{folder}/z.warc.zst"
    assert names(spec, folder) == ["z.warc.zst", "b/2.warc.gz", "b/1.WARC"]


def test_links_to_folders_are_followed_and_lead_nowhere_twice(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "deep").mkdir()
    for name in ("3.warc.gz", "deep/4.warc.gz"):
        (other / name).touch()
    (other / "up").symlink_to(folder)
    (folder / "b" / "linked").symlink_to(other)
    (folder / "b" / "loop").symlink_to(folder / "b")
    (folder / "a_link").symlink_to(folder / "b")
    for spec in (str(folder), f"{folder}/"):
        assert names(spec, folder) == [
            *("a.arc", "b/1.WARC", "b/2.warc.gz", "b/linked/3.warc.gz", "b/linked/deep/4.warc.gz"),
            *("c.warc.lz4", "z.warc.zst"),
        ]


@pytest.mark.parametrize("spec", ["{}", "{}/gone*"])
def test_a_link_to_nothing_is_a_file_that_is_gone(tmp_path: Path, spec: str) -> None:
    (tmp_path / "gone.warc.gz").symlink_to(tmp_path / "moved")
    (found,) = expand(spec.format(tmp_path))
    reader = read_records(found.path)
    assert list(reader) == []
    assert (Path(found.path).name, reader.report.error_kind) == ("gone.warc.gz", FileErrorKind.GONE)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.warc")
    for spec in (f"{tmp_path}/a.warc", f"@{tmp_path}/a.warc"):
        with pytest.raises(InputError, match=r"a\.warc is a FIFO, not an archive file"):
            expand(spec)
    with pytest.raises(InputError, match="/dev/zero is a device"):
        expand("/dev/zero")
    (found,) = expand(str(tmp_path))
    reader = read_records(found.path)
    assert list(reader) == []
    assert reader.report.error_kind == FileErrorKind.NO_FILE


@pytest.mark.parametrize(
    ("line", "words"), [("list", "names itself"), ("./list", "names itself"), ("@list", "no other lists")]
)
def test_a_list_of_lists_is_refused(folder: Path, line: str, words: str) -> None:
    (folder / "list").write_text(f"a.arc\n{line}\n")
    with pytest.raises(InputError, match=words):
        expand(f"@{folder}/list")


def test_a_list_longer_than_any_file_name(tmp_path: Path) -> None:
    files = [tmp_path / f"{i}-{'x' * 100}.warc" for i in range(60)]
    for file in files:
        file.touch()
    assert len(expand(",".join(map(str, files)))) == 60


def test_a_file_with_a_comma_or_a_bracket_in_its_name(tmp_path: Path) -> None:
    for name in ("a,b.warc", "a[1].warc"):
        (tmp_path / name).touch()
        assert names(f"{tmp_path}/{name}", tmp_path) == [name]


@pytest.mark.parametrize("name", ["list.txt", "list.gz"])
def test_a_list_beside_its_files(folder: Path, name: str) -> None:
    text = "# three files\nb/2.warc.gz\r\n\na.arc\nmissing.warc\ns3://bucket/key\n"
    (folder / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    assert names(f"@{folder}/{name}", folder) == ["b/2.warc.gz", "a.arc", "missing.warc", "s3://bucket/key"]


def test_a_list_of_common_crawl_needs_a_prefix(folder: Path) -> None:
    (folder / "warc.paths").write_text("crawl-data/CC-MAIN-2024-10/x.warc.gz\n")
    with pytest.raises(InputError, match=r"list_prefix.*s3://commoncrawl/"):
        expand(f"@{folder}/warc.paths")
    found = expand(f"@{folder}/warc.paths", ReadSettings(list_prefix="https://data.commoncrawl.org"))
    assert found[0].path == "https://data.commoncrawl.org/crawl-data/CC-MAIN-2024-10/x.warc.gz"
    assert found[0].size_bytes is None


def test_http_addresses_are_taken_as_they_are() -> None:
    assert [file.path for file in expand("https://e.org/a.warc.gz,http://e.org/b")] == [
        "https://e.org/a.warc.gz",
        "http://e.org/b",
    ]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "no archive files were named"),
        (" , ", "no archive files were named"),
        ("{}/missing.warc", "does not exist"),
        ("{}/*.cdx", "no archive files in"),
        ("{}/empty", "no archive files in"),
        ("@{}/missing", "No such file"),
        ("@{}/binary", "not a list"),
        ("@{}/latin", "is not a list of paths, one a line: it is not text in UTF-8"),
        ("@{}/empty", "folder"),
        ("s3://", "no bucket"),
    ],
)
def test_what_is_missing_is_an_error_that_names_it(folder: Path, spec: str, message: str) -> None:
    (folder / "empty").mkdir()
    (folder / "binary").write_bytes(b"\x1f\x8b\x08 no gzip")
    (folder / "latin").write_bytes(b"caf\xe9.warc")
    with pytest.raises(InputError, match=message):
        expand(spec.format(folder))

"""From what a user writes to files."""

import gzip
from pathlib import Path

import pytest

from dripper.errors import InputError
from dripper.warc import ReadSettings, expand


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
        ("@{}/empty", "folder"),
        ("s3://", "no bucket"),
    ],
)
def test_what_is_missing_is_an_error_that_names_it(folder: Path, spec: str, message: str) -> None:
    (folder / "empty").mkdir()
    (folder / "binary").write_bytes(b"\x1f\x8b\x08 no gzip")
    with pytest.raises(InputError, match=message):
        expand(spec.format(folder))

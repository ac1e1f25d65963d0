"""Every place that a person can name is read by one set of rules; nothing becomes a folder here
that was meant elsewhere."""

import re
from pathlib import Path

import pytest

from dripper.errors import InputError, UsageError
from dripper.labels.config import settings
from dripper.labels.entry import local_folder
from dripper.labels.lm.prompt import prompt_folder
from dripper.local.inputs import InputKind, expand_inputs
from dripper.parse_place import Place, archive_place, local_place, output_place
from dripper.settings import ReadSettings
from dripper.spark.cli import parser, run_guarded
from dripper.warc import expand


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    for name in ("DATABRICKS_RUNTIME_VERSION", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def output(typed: str) -> Place:
    return output_place("--output", typed, catalogs=True)


@pytest.mark.parametrize(
    ("typed", "kind", "text"),
    [
        ("out", "path", "out"),
        (" out\n", "path", "out"),
        ("./main.crawl", "path", "./main.crawl"),
        ("/data/out", "path", "/data/out"),
        ("out-1.0", "path", "out-1.0"),
        ("~/out", "path", "/home/me/out"),
        ("file:/x", "path", "/x"),
        ("FILE:///x/y", "path", "/x/y"),
        ("file://localhost/x", "path", "/x"),
        ("12:30", "path", "12:30"),
        ("s3://bucket/a/", "address", "s3://bucket/a"),
        ("s3a://bucket/", "address", "s3a://bucket"),
        ("hdfs:///", "address", "hdfs:///"),
        ("S3A://Bucket/A", "address", "s3a://Bucket/A"),
        ("abfss://c@a.dfs.core.windows.net/x", "address", "abfss://c@a.dfs.core.windows.net/x"),
        ("gs://bucket/x", "address", "gs://bucket/x"),
        ("hdfs:///x", "address", "hdfs:///x"),
        ("hdfs:/x", "address", "hdfs:///x"),
        ("hdfs://nn:8020/x", "address", "hdfs://nn:8020/x"),
        ("nowhere://b/x", "address", "nowhere://b/x"),
        ("main.crawl", "catalog", "main.crawl"),
        ("main.crawl ", "catalog", "main.crawl"),
        ("main.2024_crawl", "catalog", "main.2024_crawl"),
        ("`main`.`2024`", "catalog", "`main`.`2024`"),
    ],
)
def test_an_output_is_what_it_looks_like(typed: str, kind: str, text: str) -> None:
    found = output(typed)
    assert (found.kind, found.text) == (kind, text)
    assert output(found.text) == found


def test_names_of_a_catalog_are_without_their_quotes() -> None:
    assert output("main.2024_crawl").names == ("main", "2024_crawl")
    assert output("`my main`.`a``b.c`").names == ("my main", "a`b.c")


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("dbfs:/mnt/x", "this is not Databricks"),
        ("dbfs:///mnt/x", "this is not Databricks"),
        ("dbfs:/Volumes/a/b/c", "/Volumes/a/b/c is a place on Databricks, and this is not"),
        ("/Volumes/a/b/c", "this is not Databricks"),
        ("s3:/x", "write s3://x, or ./s3:/x"),
        ("s3:///x", "write s3://x"),
        ("gs:bucket/x", "write gs://bucket/x"),
        ("dbfs:mnt", "write dbfs:/mnt, or ./dbfs:mnt"),
        ("file:x", "write file:/x, or ./file:x"),
        ("file://host/x", "names the machine host: write file:///host/x"),
        ("xyz:/x", "write xyz://x, or ./xyz:/x"),
        ("hdfs://user:SECRET@nn/out", "hdfs://user@nn/out holds a password"),
        ("https://e.org/out", "not be written to"),
        (
            "main.crawl.extractions",
            "write main.crawl for the schema of a catalog, ./main.crawl.extractions for a folder",
        ),
        ("`main`.crawl.x", "write `catalog`.`schema`"),
        ("~nobody-of-that-name/x", "no user of that name; a file or folder called so is ./~nobody"),
        ("a\x1b[2Jb", r"a\x1b[2Jb holds control characters"),
        (" ", "is empty"),
    ],
)
def test_what_means_nothing_here_is_one_sentence(here: Path, typed: str, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        output(typed)
    assert str(caught.value).startswith("--output ")
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "typed", "words"),
    [
        ("main.crawl", "main.crawl", "write `main`.`crawl` for the schema, ./main.crawl for the folder"),
        ("~", "~/out", "write /home/me/out or ./~/out"),
        ("out ", "out ", "may be 'out'"),
    ],
)
def test_what_can_be_two_things_names_both(here: Path, name: str, typed: str, words: str) -> None:
    (here / name).mkdir()
    with pytest.raises(InputError, match=re.escape(words)):
        output(typed)


def test_on_databricks_its_own_places_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABRICKS_RUNTIME_VERSION", "17.3")
    for typed, text in (
        ("dbfs:/mnt/x", "dbfs:/mnt/x"),
        ("/dbfs/mnt/x", "dbfs:/mnt/x"),
        ("file:/dbfs/mnt/x", "dbfs:/mnt/x"),
        ("/Volumes/a/b/c/out", "/Volumes/a/b/c/out"),
        ("dbfs:/Volumes/a/b/c", "/Volumes/a/b/c"),
        ("/mnt/x", "/mnt/x"),
    ):
        assert output(typed).text == text
    for typed, words in (
        ("/Volumes/a/b", "a volume has three names"),
        ("out", "a folder of the driver, which ends with the cluster"),
        ("file:/tmp/x", "a folder of the driver"),
    ):
        with pytest.raises(InputError, match=words):
            output(typed)


def test_what_must_be_here_is_no_address() -> None:
    assert [str(local_place("--conf", typed)) for typed in ("a.yml", "file:/a.yml", "dbfs:/a.yml", "~/a.yml")] == [
        *("a.yml", "/a.yml", "/dbfs/a.yml", "/home/me/a.yml"),
    ]
    with pytest.raises(InputError, match=r"--conf s3://b/a\.yml is an address, and has to be on this machine"):
        local_place("--conf", "s3://b/a.yml")
    for typed in ("dbfs:/a", "/Volumes/a/b/c/x"):
        with pytest.raises(InputError, match="this is not Databricks"):
            local_place("--out", typed, writes=True)


def test_flags_and_settings_are_read_by_these_rules(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.yml").write_text("profile: paper")
    made = parser("run.py", None)
    told = made.parse_args(["--output", "out", "--conf", f"file:{here}/a.yml"])
    assert told.output == str(here / "out")
    assert settings(told, {}).profile == "paper"
    assert run_guarded(lambda: bool(made.parse_args(["--output", "dbfs:/mnt/x"]))) == 2
    assert capsys.readouterr().err.startswith("--output dbfs:/mnt/x is a place on Databricks")
    assert prompt_folder("~/prompts") == local_folder("~/prompts") == Path("/home/me/prompts")
    with pytest.raises(UsageError, match=r"labels\.lm\.prompt_folder s3://b/x is an address"):
        prompt_folder("s3://b/x")
    assert list(here.iterdir()) == [here / "a.yml"]


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("S3://Bucket/a.warc", "s3://Bucket/a.warc"),
        ("HTTPS://e.org/a", "https://e.org/a"),
        ("file:///x/a.warc", "file:///x/a.warc"),
        ("FILE:/x/a.warc", "file:/x/a.warc"),
        ("dbfs:/x/a.warc", "dbfs:/x/a.warc"),
        ("hdfs:/x/a.warc", "hdfs:///x/a.warc"),
        ("~/*.warc.gz", "/home/me/*.warc.gz"),
        ("crawl:10.warc.gz", "crawl:10.warc.gz"),
        ("zip://a.warc::s3://b/x.zip", "zip://a.warc::s3://b/x.zip"),
    ],
)
def test_archives_are_opened_by_what_was_meant(typed: str, path: str) -> None:
    assert archive_place("--warcs", typed) == path


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("s3:/bucket/a.warc", "write s3://bucket/a.warc"),
        ("s3:///bucket/a.warc", "write s3://bucket/a.warc"),
        ("https:/e.org/a.warc", "write https://e.org/a.warc"),
        ("file://tmp/a.warc", "write file:///tmp/a.warc"),
        ("/Volumes/a/b/c/x.warc", "does not exist; Databricks alone has it"),
        ("dbfs:/x.warc", "does not exist; Databricks alone has it"),
    ],
)
def test_a_slip_of_the_pen_in_an_archives_address_is_one_sentence(here: Path, typed: str, words: str) -> None:
    (here / "list").write_text(typed)
    for spec in (typed, "@list") if "write" in words else (typed,):
        with pytest.raises(InputError, match=re.escape(words)):
            expand(spec)
    with pytest.raises(InputError, match=re.escape(words)):
        expand_inputs([typed], ReadSettings())
    # A line of a list becomes a row with the sentence, and the others are read.
    (line,) = expand_inputs(["@list"], ReadSettings())
    assert line.kind is InputKind.MISSING
    assert words in line.problem

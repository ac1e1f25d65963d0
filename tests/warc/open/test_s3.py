"""S3 for real: moto's server in a process of threads, boto3, and a proxy in front of it that
misbehaves."""

import gzip
import random
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import settings as moto_settings
from moto.server import ThreadedMotoServer

from dripper.errors import FileErrorKind, InputError
from dripper.settings import ReadSettings, S3Settings
from dripper.warc import expand, read_records
from dripper.warc.open import remote
from dripper.warc.open.remote import get_pace
from dripper.warc.open.s3 import S3Object, explain, list_objects, s3_client
from support.archives import http, page, store, warc
from support.fault_proxy import Fault, faulty

N_PAGES = 40
ARCHIVE = store([warc(f"http://e.org/{i}", http(page(i, 20_000))) for i in range(N_PAGES)], "gzip").data


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    moto.start()
    host, port = moto.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    client = boto3.client(
        "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    client.create_bucket(Bucket="crawl")
    for key in ("data/2.warc.gz", "data/1.warc.gz", "data/deep/3.warc.gz"):
        client.put_object(Bucket="crawl", Key=key, Body=ARCHIVE, ACL="public-read")
    client.put_object(Bucket="crawl", Key="data/notes.txt", Body=b"x", ACL="public-read")
    client.put_object(Bucket="crawl", Key="empty.warc.gz", Body=b"", ACL="public-read")
    client.put_object(Bucket="crawl", Key="bare/b.warc.gz", Body=ARCHIVE, ACL="public-read")
    for key in ("bare/", "bare/_SUCCESS", "bare/a.warc.gz"):
        client.put_object(Bucket="crawl", Key=key, Body=b"", ACL="public-read")
    paths = b"data/2.warc.gz\ndata/1.warc.gz\ndata/missing.warc.gz\n"
    client.put_object(Bucket="crawl", Key="lists/warc.paths.gz", Body=gzip.compress(paths), ACL="public-read")
    yield endpoint
    moto.stop()


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_MAX_PAUSE_SECONDS", 0.01)


class Always(random.Random):
    """Chance that gives one number."""

    def __init__(self, number: float) -> None:
        super().__init__()
        self.number = number

    def random(self) -> float:
        return self.number


def settings(endpoint: str, max_attempts: int = 4) -> ReadSettings:
    return ReadSettings(
        s3=S3Settings(endpoint_url=endpoint, region="us-east-1", anonymous=True, max_attempts=max_attempts)
    )


def in_turn(*faults: Fault | None, method: str = "GET") -> Callable[[str, str], Fault | None]:
    """Return a choice of faults for the first requests of a method; the last one repeats for
    ever."""
    left = list(faults)

    def choose(asked: str, _: str) -> Fault | None:
        if asked != method:
            return None
        return left.pop(0) if len(left) > 1 else left[0]

    return choose


def test_an_object_is_read_like_a_file(server: str) -> None:
    reader = read_records("s3://crawl/data/1.warc.gz", settings(server))
    assert [record.payload for record in reader] == [page(i, 20_000) for i in range(N_PAGES)]
    assert (reader.report.size_bytes, reader.report.bytes_read) == (len(ARCHIVE), len(ARCHIVE))
    assert reader.report.error is None


def test_a_dropped_connection_is_taken_up_where_it_broke(server: str) -> None:
    with faulty(server, in_turn(Fault.RESET, Fault.SHORT_BODY, Fault.RESET, None)) as proxy:
        reader = read_records("s3://crawl/data/1.warc.gz", settings(proxy.endpoint))
        assert [record.payload for record in reader] == [page(i, 20_000) for i in range(N_PAGES)]
        assert (reader.report.error, reader.report.clipped) == (None, False)
        starts = [int(headers["range"][6:].split("-")[0]) for _, _, headers in proxy.requests]
    assert starts == sorted(starts)
    assert starts[-1] > 0


def test_throttling_is_waited_out_and_slows_down_the_machine(server: str) -> None:
    with faulty(server, in_turn(Fault.SLOW_DOWN, Fault.TOO_MANY, Fault.SLOW_DOWN, None)) as proxy:
        reader = read_records("s3://crawl/data/1.warc.gz", settings(proxy.endpoint))
        assert sum(1 for _ in reader) == N_PAGES
        assert get_pace(proxy.endpoint).gap > 0


@pytest.mark.parametrize("fault", [Fault.SHORT_BODY, Fault.OTHER_RANGE, Fault.GARBLED_RANGE, Fault.INTERNAL])
def test_a_server_that_never_comes_right_is_an_error_of_the_file(server: str, fault: Fault) -> None:
    with faulty(server, in_turn(fault)) as proxy:
        proxy.random = Always(0.0)
        reader = read_records("s3://crawl/data/1.warc.gz", settings(proxy.endpoint, max_attempts=2))
        assert list(reader) == []
    assert "after 2 attempts" in (reader.report.error or "")
    assert reader.report.error_kind == FileErrorKind.UNREACHABLE


def test_a_file_that_breaks_off_for_good_keeps_its_pages(server: str) -> None:
    with faulty(server, in_turn(Fault.SHORT_BODY)) as proxy:
        proxy.random = Always(0.5)
        reader = read_records("s3://crawl/data/1.warc.gz", settings(proxy.endpoint, max_attempts=1))
        pages = [record.payload for record in reader]
    assert pages == [page(i, 20_000) for i in range(len(pages))]
    assert 0 < len(pages) < N_PAGES
    assert "gave up" in (reader.report.error or "")


def test_credentials_that_run_out_are_looked_for_again(server: str) -> None:
    with faulty(server, in_turn(Fault.SHORT_BODY, Fault.EXPIRED, None)) as proxy:
        reader = read_records("s3://crawl/data/1.warc.gz", settings(proxy.endpoint))
        assert sum(1 for _ in reader) == N_PAGES


@pytest.mark.parametrize("first", [Fault.SHORT_BODY, Fault.EXPIRED])
def test_credentials_that_stay_expired_fail_the_file_and_say_so(server: str, first: Fault) -> None:
    with faulty(server, in_turn(first, Fault.EXPIRED)) as proxy:
        proxy.random = Always(0.0)
        reader = read_records("s3://crawl/data/1.warc.gz", settings(proxy.endpoint))
        assert list(reader) == []
    assert reader.report.error_kind == FileErrorKind.EXPIRED
    assert "credentials have expired (ExpiredToken); renew them and run again" in (reader.report.error or "")


def test_a_wrong_length_of_one_answer_does_not_shorten_the_file(server: str) -> None:
    with faulty(server, in_turn(Fault.LONG_LENGTH, Fault.SHORT_LENGTH, None)) as proxy:
        reader = read_records("s3://crawl/data/1.warc.gz", settings(proxy.endpoint))
        assert sum(1 for _ in reader) == N_PAGES
        assert (reader.report.size_bytes, reader.report.clipped) == (len(ARCHIVE), False)


def test_one_client_a_process(server: str) -> None:
    mine = settings(server).s3
    assert s3_client(mine) is s3_client(S3Settings(**mine.model_dump()))
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as child:
        assert child.submit(client_id, mine).result() != id(s3_client(mine))


def client_id(settings: S3Settings) -> int:
    return id(s3_client(settings))


@pytest.mark.parametrize(("pays", "told"), [(True, "requester"), (False, None)])
def test_who_agrees_to_pay_says_so_with_every_request(server: str, pays: bool, told: str | None) -> None:
    with faulty(server, lambda *_: None) as proxy:
        reading = settings(proxy.endpoint)
        reading = reading.model_copy(update={"s3": reading.s3.model_copy(update={"requester_pays": pays})})
        assert len(expand("s3://crawl/data/", reading)) == 3
        assert sum(1 for _ in read_records("s3://crawl/data/1.warc.gz", reading)) == N_PAGES
        assert {headers.get("x-amz-request-payer") for _, _, headers in proxy.requests} == {told}


def test_a_long_listing_goes_on_after_a_fault(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moto_settings, "get_s3_default_max_keys", lambda: 2)
    with faulty(server, in_turn(None, Fault.SLOW_DOWN, Fault.RESET, None)) as proxy:
        found = [key for key, _, _ in list_objects("crawl", "data/", settings(proxy.endpoint).s3)]
    assert found == ["data/1.warc.gz", "data/2.warc.gz", "data/deep/3.warc.gz", "data/notes.txt"]


def test_an_empty_object(server: str) -> None:
    reader = read_records("s3://crawl/empty.warc.gz", settings(server))
    assert list(reader) == []
    assert (reader.report.error, reader.report.problems) == (None, ["the file is empty"])


@pytest.mark.parametrize(
    ("spec", "keys"),
    [
        ("s3://crawl/data/1.warc.gz", ["data/1.warc.gz"]),
        ("s3a://crawl/data/", ["data/1.warc.gz", "data/2.warc.gz", "data/deep/3.warc.gz"]),
        ("s3://crawl/data", ["data/1.warc.gz", "data/2.warc.gz", "data/deep/3.warc.gz"]),
        ("s3://crawl/data/d", ["data/deep/3.warc.gz"]),
        ("s3://crawl/data/*/*.gz", ["data/deep/3.warc.gz"]),
        ("s3://crawl/data/[12].*", ["data/1.warc.gz", "data/2.warc.gz"]),
        # Empty objects: an archive, the marker of a folder and the marker of a finished job.
        ("s3://crawl/bare/", ["bare/a.warc.gz", "bare/b.warc.gz"]),
        ("s3://crawl/bare/*", ["bare/a.warc.gz", "bare/b.warc.gz"]),
        ("@s3://crawl/lists/warc.paths.gz", ["data/2.warc.gz", "data/1.warc.gz", "data/missing.warc.gz"]),
    ],
)
def test_objects_prefixes_patterns_and_lists(server: str, spec: str, keys: list[str]) -> None:
    assert [file.path for file in expand(spec, settings(server))] == [f"s3://crawl/{key}" for key in keys]


def test_a_private_object_is_not_for_everybody(server: str) -> None:
    client = boto3.client(
        "s3", endpoint_url=server, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    client.put_object(Bucket="crawl", Key="private.warc", Body=b"x")
    with pytest.raises(InputError, match="may not be public"):
        expand("s3://crawl/private.warc", settings(server))


def test_a_missing_object(server: str) -> None:
    with pytest.raises(InputError, match="does not exist"):
        expand("s3://crawl/data/missing.warc.gz", settings(server))
    with pytest.raises(InputError, match="does not exist"):
        expand("s3://nowhere/x.warc.gz", settings(server))
    reader = read_records("s3://crawl/data/missing.warc.gz", settings(server))
    assert list(reader) == []
    assert "does not exist" in (reader.report.error or "")


def test_no_credentials_is_an_error_that_says_so(server: str) -> None:
    with pytest.raises(InputError, match=r"s3\.anonymous=true"):
        expand(
            "s3://crawl/data/1.warc.gz",
            ReadSettings(s3=S3Settings(endpoint_url=server, region="us-east-1", max_attempts=1)),
        )


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ("NoSuchKey", FileErrorKind.GONE, "does not exist"),
        ("AccessDenied", FileErrorKind.DENIED, "access denied"),
        ("ExpiredToken", FileErrorKind.EXPIRED, "credentials have expired"),
        ("PreconditionFailed", FileErrorKind.CHANGED, "was changed"),
        ("PermanentRedirect", FileErrorKind.UNREADABLE, r"set reading\.s3\.region"),
        ("InvalidObjectState", FileErrorKind.UNREADABLE, "InvalidObjectState"),
    ],
)
def test_what_s3_answers_has_a_kind(code: str, kind: FileErrorKind, words: str) -> None:
    error = explain("s3://b/k", ClientError({"Error": {"Code": code, "Message": "no"}}, "GetObject"), S3Settings())
    assert error.kind == kind
    assert re.search(words, str(error))


def test_a_changed_object_is_not_mixed_with_the_old_one(server: str) -> None:
    client = boto3.client(
        "s3", endpoint_url=server, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    client.put_object(Bucket="crawl", Key="changing.warc", Body=b"old", ACL="public-read")
    source = S3Object("s3://crawl/changing.warc", settings(server).s3)
    client.put_object(Bucket="crawl", Key="changing.warc", Body=b"new", ACL="public-read")
    with pytest.raises(InputError, match="was changed"):
        source.open_at(0).read(10)


def test_an_object_that_changes_while_it_is_read_is_not_mixed(server: str) -> None:
    """The first answer breaks off in the middle, and the rest is of another object."""
    client = boto3.client(
        "s3", endpoint_url=server, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b"
    )
    client.put_object(Bucket="crawl", Key="changing.warc", Body=ARCHIVE, ACL="public-read")
    with faulty(server, in_turn(Fault.SHORT_BODY, None)) as proxy:
        proxy.random = Always(0.5)
        reader = read_records("s3://crawl/changing.warc", settings(proxy.endpoint))
        next(reader)
        client.put_object(Bucket="crawl", Key="changing.warc", Body=ARCHIVE + b"\0", ACL="public-read")
        n_more = sum(1 for _ in reader)
    assert 0 < n_more < N_PAGES - 1
    assert reader.report.error_kind == FileErrorKind.CHANGED

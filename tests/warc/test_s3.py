"""S3 for real: moto's server in a process of threads, boto3, and a proxy in front of it that misbehaves."""

import gzip
import re
import socketserver
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.server import ThreadedMotoServer

from dripper.errors import FileErrorKind, InputError
from dripper.warc import ReadSettings, S3Settings, expand, read_records
from dripper.warc.s3 import S3Object, explain
from support.archives import http, page, store, warc

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


def settings(endpoint: str, max_attempts: int = 4) -> ReadSettings:
    return ReadSettings(
        s3=S3Settings(endpoint_url=endpoint, region="us-east-1", anonymous=True, max_attempts=max_attempts)
    )


class Faulty(ThreadingHTTPServer):
    """Passes requests on to `target`; answers some with 503 (`busy`) and cuts bodies after `cut_after` bytes."""

    daemon_threads = True

    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), Passer)
        self.target = target
        self.busy = 0
        self.cut_after = 1 << 40
        self.ranges: list[str] = []
        self.endpoint = f"http://127.0.0.1:{self.server_address[1]}"


class Passer(BaseHTTPRequestHandler):
    server: Faulty

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        if self.server.busy > 0:
            self.server.busy -= 1
            self.send_error(503, "Slow Down")
            return
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        request = urllib.request.Request(self.server.target + self.path, headers=headers, method=self.command)
        try:
            answer = urllib.request.urlopen(request)
        except urllib.error.HTTPError as error:
            answer = error
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            if name.lower() != "connection":
                self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.server.ranges.append(self.headers.get("Range", ""))
            self.wfile.write(answer.read()[: self.server.cut_after])
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def faulty(server: str) -> Iterator[Faulty]:
    proxy = Faulty(server)
    threading.Thread(target=socketserver.BaseServer.serve_forever, args=(proxy,), daemon=True).start()
    yield proxy
    proxy.shutdown()
    proxy.server_close()


def test_an_object_is_read_like_a_file(server: str) -> None:
    reader = read_records("s3://crawl/data/1.warc.gz", settings(server))
    assert [record.payload for record in reader] == [page(i, 20_000) for i in range(N_PAGES)]
    assert (reader.report.size_bytes, reader.report.bytes_read) == (len(ARCHIVE), len(ARCHIVE))
    assert reader.report.error is None


def test_a_dropped_connection_is_taken_up_where_it_broke(faulty: Faulty) -> None:
    faulty.cut_after = len(ARCHIVE) // 3
    reader = read_records("s3://crawl/data/1.warc.gz", settings(faulty.endpoint))
    assert [record.payload for record in reader] == [page(i, 20_000) for i in range(N_PAGES)]
    assert (reader.report.error, reader.report.clipped) == (None, False)
    starts = [int(value.removeprefix("bytes=").split("-")[0]) for value in faulty.ranges]
    assert starts[1:] == sorted(set(starts[1:]))
    assert len(starts) >= 4


def test_throttling_is_waited_out(faulty: Faulty) -> None:
    faulty.busy = 2
    reader = read_records("s3://crawl/data/1.warc.gz", settings(faulty.endpoint))
    assert sum(1 for _ in reader) == N_PAGES


def test_a_server_that_never_answers_is_an_error_of_the_file(faulty: Faulty) -> None:
    faulty.cut_after = 0
    reader = read_records("s3://crawl/data/1.warc.gz", settings(faulty.endpoint, max_attempts=2))
    assert list(reader) == []
    assert "gave up at byte 0" in (reader.report.error or "")


def test_a_file_that_breaks_off_for_good_keeps_its_pages(faulty: Faulty) -> None:
    faulty.cut_after = len(ARCHIVE) // 2
    reader = read_records("s3://crawl/data/1.warc.gz", settings(faulty.endpoint, max_attempts=1))
    pages = [record.payload for record in reader]
    assert pages == [page(i, 20_000) for i in range(len(pages))]
    assert 0 < len(pages) < N_PAGES
    assert "gave up" in (reader.report.error or "")


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
        ("SlowDown", FileErrorKind.UNREACHABLE, "SlowDown"),
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

"""Archives over HTTP: ranges, busy servers, servers without ranges."""

import os
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from dripper.errors import FileErrorKind
from dripper.settings import ReadSettings, S3Settings
from dripper.warc import expand, read_records
from dripper.warc.index.select import Place
from dripper.warc.index.selected import read_selected
from dripper.warc.open.http import _explain_mistrust, _open_pool
from dripper.warc.read.record import Span
from support.archives import http, page, store, warc
from support.servers import serving
from support.storage_night import leave_out_pauses

N_PAGES = 30
ARCHIVE = store([warc(f"http://e.org/{i}", http(page(i, 20_000))) for i in range(N_PAGES)], "gzip").data
SETTINGS = ReadSettings(s3=S3Settings(max_attempts=3, timeout_seconds=10))


class Server(ThreadingHTTPServer):
    """Serves `ARCHIVE`: `cut_after` bytes per response, without ranges, or with a changing ETag, if
    set."""

    daemon_threads = True
    cut_after = 1 << 40
    ranges = True
    changing = False
    busy = 0
    n_requests = 0
    n_bytes = 0
    wrong_range = ""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        server.n_requests += 1
        if self.path == "/missing.warc.gz":
            self.send_error(404)
            return
        if server.busy:
            server.busy -= 1
            self.send_error(503)
            return
        if self.path.startswith("/moved"):
            self.send_response(302)
            self.send_header("Location", unquote(self.path.removeprefix("/moved").removeprefix("?")))
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if self.path.startswith("/signed") and "sig=right" not in self.path:
            self.send_error(403)
            return
        data = b"list.warc.gz\nx/a.warc.gz\n" if self.path == "/crawl/warc.paths" else ARCHIVE
        data = b"" if self.path == "/empty.warc" else data
        wanted = self.headers.get("Range")
        start, end = 0, len(data)
        if wanted and server.ranges:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            start, end = int(first), min(len(data), int(last or len(data)) + 1)
        if not data:
            self.send_error(416)
            return
        self.send_response(206 if wanted and server.ranges else 200)
        if wanted and server.ranges:
            self.send_header("Content-Range", server.wrong_range or f"bytes {start}-{end - 1}/{len(data)}")
        self.send_header("Content-Length", str(end - start))
        self.send_header("ETag", f'"{server.n_requests if server.changing else 1}"')
        self.end_headers()
        sent = data[start : min(end, start + server.cut_after)]
        server.n_bytes += len(sent)
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader waits before each new attempt, longer each time."""
    leave_out_pauses(monkeypatch)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server(("127.0.0.1", 0), Handler)) as running:
        yield running


def address(server: Server, path: str = "/x.warc.gz") -> str:
    return f"http://127.0.0.1:{server.server_address[1]}{path}"


def test_a_redirect_is_followed(server: Server) -> None:
    assert sum(1 for _ in read_records(address(server, "/moved/x.warc.gz"), SETTINGS)) == N_PAGES


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.2", "169.254.169.254", "[::1]", "2130706434", "[::ffff:10.0.0.1]"]
)
def test_a_redirect_into_another_hosts_private_network_is_refused(server: Server, host: str) -> None:
    to = f"http://{host}:{server.server_address[1]}/x.warc.gz"
    reader = read_records(address(server, f"/moved?{quote(to)}"), SETTINGS)
    assert list(reader) == []
    assert f"redirected to {to}, another host in a private network" in (reader.report.error or "")
    assert (reader.report.error_kind, server.n_requests) == (FileErrorKind.UNREADABLE, 1)


@pytest.mark.parametrize("to", ["ftp://e.org/x", "file:///etc/passwd", "http://[broken"])
def test_a_redirect_to_what_is_no_http_is_refused(server: Server, to: str) -> None:
    reader = read_records(address(server, f"/moved?{quote(to)}"), SETTINGS)
    assert list(reader) == []
    assert "which is no" in (reader.report.error or "")
    assert server.n_requests == 1


def test_a_redirect_must_not_end_encryption() -> None:
    secure = "https://e.org/a"
    assert _explain_mistrust(secure, secure, "http://e.org/a") == "which is not encrypted"
    assert _explain_mistrust(secure, secure, "https://93.184.215.14/a") is None
    assert _explain_mistrust("http://e.org/a", "http://e.org/a", "https://e.org/a") is None
    assert _explain_mistrust("http://10.0.0.1/a", "http://10.0.0.1/a", "http://10.0.0.1:8080/b") is None


def test_an_empty_file_is_empty(server: Server) -> None:
    reader = read_records(address(server, "/empty.warc"), SETTINGS)
    assert list(reader) == []
    assert (reader.report.error, reader.report.problems) == (None, ["the file is empty"])


def test_an_answer_of_other_bytes_is_not_taken(server: Server) -> None:
    server.wrong_range = f"bytes 7-{len(ARCHIVE)}/{len(ARCHIVE)}"
    reader = read_records(address(server), SETTINGS)
    assert list(reader) == []
    assert "not the bytes from 0 on" in (reader.report.error or "")


def test_signatures_are_used_and_never_told(server: Server) -> None:
    assert sum(1 for _ in read_records(address(server, "/signed.warc.gz?sig=right"), SETTINGS)) == N_PAGES
    reader = read_records(address(server, "/signed.warc.gz?sig=wrong"), SETTINGS)
    assert list(reader) == []
    assert reader.report.error == (
        f"{address(server, '/signed.warc.gz')}: the server answered 403 Forbidden; its signature may have expired"
    )
    assert reader.report.error_kind == FileErrorKind.DENIED


def test_connections_are_used_again_and_not_across_a_fork(server: Server) -> None:
    assert _open_pool(os.getpid(), None) is _open_pool(os.getpid(), None)
    assert _open_pool(os.getpid(), None) is not _open_pool(os.getpid() + 1, None)


def test_a_proxy_of_the_environment_is_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert sum(1 for _ in read_records("http://archive.invalid/x.warc.gz", SETTINGS)) == N_PAGES


def test_a_file_is_streamed(server: Server) -> None:
    reader = read_records(address(server), SETTINGS)
    assert [record.payload for record in reader] == [page(i, 20_000) for i in range(N_PAGES)]
    assert reader.report.size_bytes == len(ARCHIVE)


def test_spans_and_single_records_are_read_by_ranges(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.warc.gz"
    file.write_bytes(ARCHIVE)
    whole = [replace(record, warc_file="", page_id="") for record in read_records(str(file))]
    half = whole[15].offset - 10
    found = [
        replace(record, warc_file="", page_id="")
        for span in (Span(0, half), Span(half))
        for record in read_records(address(server), SETTINGS, span)
    ]
    assert found == whole
    monkeypatch.setattr("dripper.warc.index.selected.GAP_BYTES", 100)
    server.n_bytes = 0
    places = [Place(record.offset, record.length, record.url) for record in whole[3::5]]
    for cut_after in (1 << 40, 500):
        server.cut_after = cut_after
        reader = read_selected(address(server), places, SETTINGS)
        assert [replace(record, warc_file="", page_id="") for record in reader] == whole[3::5]
    assert server.n_bytes < 4 * len(ARCHIVE)


@pytest.mark.parametrize("ranges", [True, False])
def test_a_dropped_connection_is_taken_up_where_it_broke(server: Server, ranges: bool) -> None:
    server.ranges = ranges
    server.cut_after = len(ARCHIVE) // 2 if ranges else len(ARCHIVE)
    reader = read_records(address(server), SETTINGS)
    assert sum(1 for _ in reader) == N_PAGES
    assert reader.report.error is None


def test_a_busy_server_is_asked_again(server: Server) -> None:
    server.busy = 2
    assert sum(1 for _ in read_records(address(server), SETTINGS)) == N_PAGES


@pytest.mark.parametrize(
    ("path", "message", "kind"),
    [
        ("/missing.warc.gz", "answered 404", FileErrorKind.GONE),
        ("/x.warc.gz", "gave up", FileErrorKind.UNREACHABLE),
    ],
)
def test_refusals_are_errors_of_the_file(server: Server, path: str, message: str, kind: FileErrorKind) -> None:
    server.busy = 99
    reader = read_records(address(server, path), SETTINGS)
    assert list(reader) == []
    assert message in (reader.report.error or "")
    assert reader.report.error_kind == kind


def test_a_changed_file_is_not_mixed_with_the_old_one(server: Server) -> None:
    server.changing, server.cut_after = True, 100
    reader = read_records(address(server), SETTINGS)
    assert list(reader) == []
    assert "was changed" in (reader.report.error or "")
    assert reader.report.error_kind == FileErrorKind.CHANGED


def test_no_server(server: Server) -> None:
    reader = read_records("http://127.0.0.1:1/x.warc.gz", ReadSettings(s3=S3Settings(max_attempts=1)))
    assert list(reader) == []
    assert "gave up after 1 attempts" in (reader.report.error or "")


def test_relative_lines_of_a_list_are_joined_to_the_server(server: Server) -> None:
    found = [file.path for file in expand("@" + address(server, "/crawl/warc.paths"), SETTINGS)]
    assert found == [address(server, "/list.warc.gz"), address(server, "/x/a.warc.gz")]

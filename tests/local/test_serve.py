"""`dripper serve`: a page posted, its main content in the answer."""

import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import dripper
from dripper.labels.config import load
from dripper.local import serve
from dripper.local.serve import Service, make_server
from support.warcs import page

HTML = page(7)[1]
LIMITS = load(assignments=["limits.page_cpu_seconds=1", "reading.page_bytes=8000000"])


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server with two processes, one per page."""
    with closing(Service(LIMITS, 2)) as service, make_server(service, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def ask(port: int, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, str, str]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()


def test_a_page_is_answered_with_its_main_content(port: int) -> None:
    url = "https://example.org/7"
    expected = dripper.extract(HTML, url=url)
    status, kind, text = ask(port, "POST", f"/extract?url={url}&format=markdown", HTML)
    assert (status, kind, text) == (200, "text/markdown; charset=utf-8", expected.markdown)
    told = json.loads(ask(port, "POST", f"/extract?url={url}", HTML)[2])
    assert (told["title"], told["url"], told["main_html"]) == ("Article 7", url, expected.main_html)


def test_the_header_says_the_charset_of_html_alone(port: int) -> None:
    body = "<p>Es regnete überall, bis zum Hafen.".encode("cp1252")
    kind = "text/html; charset=windows-1252"
    assert "überall" in ask(port, "POST", "/extract?format=text", body, Content_Type=kind)[2]
    form = "application/x-www-form-urlencoded; charset=koi8-r"  # curl's default for any file
    assert "überall" in ask(port, "POST", "/extract?format=text", body, Content_Type=form)[2]


def test_a_page_may_come_as_json(port: int) -> None:
    url = "https://example.org/7"
    body = json.dumps({"url": url, "html": HTML.decode(), "format": "markdown"}).encode()
    expected = dripper.extract(HTML, url=url).markdown
    answer = ask(port, "POST", "/extract", body, Content_Type="application/json; charset=utf-8")
    assert answer == (200, "text/markdown; charset=utf-8", expected)
    query = f"/extract?url={url}&format=text"  # The query has the last word.
    assert ask(port, "POST", query, body, Content_Type="application/json")[2] == dripper.extract(HTML, url=url).text
    status, _, text = ask(port, "POST", "/extract", body.replace(b"markdown", b"pdf"), Content_Type="application/json")
    assert (status, "one of markdown, text" in text) == (400, True)


def test_health(port: int) -> None:
    status, _, text = ask(port, "GET", "/health")
    assert (status, json.loads(text)["status"], json.loads(text)["labeler"]) == (200, "ok", "cpu")


def test_bad_pages_are_answers_and_the_next_page_is_fine(port: int) -> None:
    status, _, text = ask(port, "POST", "/extract?format=text", b"%PDF-1.7")
    assert (status, json.loads(text)["error_code"]) == (422, "not_html")
    status, _, text = ask(port, "POST", "/extract", b"<p>x" * 1_900_000)
    assert (status, json.loads(text)["error_code"] is not None) == (422, True)
    assert ask(port, "POST", "/extract", HTML)[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/", {}, 404),
        ("POST", "/health", {}, 404),
        ("POST", "/extract?format=pdf", {}, 400),
        ("POST", "/extract?adress=x", {}, 400),
        ("POST", "/extract", {"Content_Length": "8000001"}, 413),
        ("POST", "/extract", {"Content_Length": "-1"}, 411),
        ("POST", "/extract", {"Content_Length": "9" * 5000}, 413),
        ("POST", "/extract", {"Content_Length": "1_0"}, 411),
        ("POST", "/extract", {"Content_Length": "3", "Transfer_Encoding": "chunked"}, 400),
        ("POST", "/extract", {"Content_Type": "multipart/form-data; boundary=x"}, 415),
        ("POST", "/extract", {"Content_Type": "application/json"}, 400),
        ("DELETE", "/extract", {}, 501),
    ],
)
def test_what_is_no_request(port: int, method: str, path: str, headers: dict[str, str], status: int) -> None:
    assert ask(port, method, path, b"<p>", **headers)[0] == status


def talk(port: int, *parts: bytes) -> bytes:
    with closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as connection:
        for part in parts:
            connection.sendall(part)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def test_a_page_may_come_in_chunks(port: int) -> None:
    head = b"POST /extract?format=text HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"".join(
        b"%x;a=b\r\n%s\r\n" % (len(HTML[at : at + 900]), HTML[at : at + 900]) for at in range(0, len(HTML), 900)
    )
    answer = talk(port, head, chunks, b"0\r\nA: b\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(dripper.extract(HTML).text.encode())
    assert talk(port, head, b"3\r\n<p>oh!").startswith(b"HTTP/1.1 400")
    assert talk(port, head, b"7fffffffffffffffff\r\n").startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize(
    "head",
    [
        b"POST /extract HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3",
        b"POST /extract HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip",
        b"POST http://[::1/extract HTTP/1.1\r\nContent-Length: 3",
        b"GET http://[::1/health HTTP/1.1",
        b"POST http://a:70000/extract HTTP/1.1\r\nContent-Length: 3",
        b"POST /extract HTTP/1.1\r\nContent-Length: 3\r\nHost: b",
    ],
)
def test_a_damaged_head_is_a_bad_request(port: int, head: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    assert talk(port, head + b"\r\nHost: a\r\n\r\n<p>").startswith(b"HTTP/1.1 400")
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("host", [b"", b"\r\nHost: [::1", b"\r\nHost: a:http"])
def test_a_host_that_is_missing_or_damaged_is_a_bad_request(port: int, host: bytes) -> None:
    head = b"POST /extract HTTP/1.1\r\nConnection: close\r\nContent-Length: 3"
    assert talk(port, head + host + b"\r\n\r\n<p>").startswith(b"HTTP/1.1 400")


def test_large_bodies_have_a_budget_and_keep_no_small_page_out(port: int) -> None:
    """Each client sends all of its body but the last byte, all of them at once, and waits."""
    head = b"POST /extract HTTP/1.1\r\nHost: a\r\nContent-Length: 8000000\r\n\r\n"
    waiting = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(8)]

    def send(connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            connection.sendall(head + b" " * 7_999_999)

    with ThreadPoolExecutor(len(waiting)) as clients:
        list(clients.map(send, waiting))
    assert ask(port, "POST", "/extract", HTML)[0] == 200
    held = 0
    for connection in waiting:
        connection.settimeout(0.5)
        try:
            connection.recv(12)
        except TimeoutError:
            held += 1
        except OSError:
            pass  # a refusal: the rest of the body cut off the response
    assert held == 4
    for connection in waiting:
        connection.close()
    large = b"<p>" + b"x" * 5_000_000
    for _ in range(50):
        if (status := ask(port, "POST", "/extract", large)[0]) != 503:
            break
        time.sleep(0.1)
    assert status in (200, 422), "room is given back"


def test_connections_are_counted(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "_MOST_CONNECTIONS", 2)
    with closing(Service(LIMITS, 1)) as service, make_server(service, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        idle = [socket.create_connection(("127.0.0.1", server.server_port), timeout=60) for _ in range(2)]
        time.sleep(0.2)
        assert talk(server.server_port).startswith(b"HTTP/1.1 503")
        for connection in idle:
            connection.close()
        server.shutdown()


def test_head_is_answered_without_a_body(port: int) -> None:
    answer = talk(port, b"HEAD /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"\r\n\r\n")


def test_slow_clients_take_no_place_and_have_one_deadline(
    port: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "_REQUEST_SECONDS", 2.0)
    slow = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(30)]
    for connection in slow:
        connection.sendall(b"POST /extract HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n<")
    assert ask(port, "POST", "/extract", HTML)[0] == 200
    for _ in range(5):
        time.sleep(0.5)
        with contextlib.suppress(OSError):
            slow[0].sendall(b"x")
    assert slow[0].recv(100) == b""
    for connection in slow:
        connection.close()
    assert ask(port, "POST", "/extract", HTML)[0] == 200
    assert "Traceback" not in capsys.readouterr().err


def test_the_command_listens_and_ends_with_a_signal() -> None:
    command = [sys.executable, "-m", "dripper", "serve", "--port", "0", "--jobs", "1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        found = re.search(r"listening on http://127.0.0.1:(\d+)", running.stderr.readline())
        assert found is not None
        assert ask(int(found[1]), "GET", "/health")[0] == 200
        with closing(socket.create_connection(("127.0.0.1", int(found[1])), timeout=60)) as begun:
            begun.sendall(b"POST /extract?format=text HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n<" % len(HTML))
            time.sleep(0.5)
            running.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            assert ask(int(found[1]), "POST", "/extract", HTML)[0] == 503
            assert ask(int(found[1]), "GET", "/health")[0] == 503
            begun.sendall(HTML[1:])
            assert begun.recv(12) == b"HTTP/1.1 200"
        assert running.wait(60) == 0


def test_the_image_starts_a_command_that_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    from dripper.__main__ import main

    lines = (Path(__file__).parents[2] / "conf" / "Dockerfile").read_text().splitlines()
    (entry,) = (line for line in lines if line.startswith("ENTRYPOINT"))
    program, *arguments = json.loads(entry.removeprefix("ENTRYPOINT "))
    assert program == "dripper"
    assert main([*arguments, "--port", "99999"]) == 2
    assert "--port 99999" in capsys.readouterr().err

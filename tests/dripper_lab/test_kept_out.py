"""Pages that are reserved by hash are not trained on, under any of their names."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from dripper_lab.kept_out import host_in, read_training_pages

PAGES = {"a": b"<p>One page of four.</p>", "b": b"<p>Two.</p>", "c": b"<p>Three.</p>", "d": b"<p>Four.</p>"}
URLS = {
    "a": "https://www.shop.example.org/1",
    "b": "https://other.example.com",
    "c": None,
    "d": "https://ok.example.net",
}
HOSTS = {"c": "forum.example.edu"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "fundus"
    (folder / "html").mkdir(parents=True)
    rows = []
    for name, html in PAGES.items():
        (folder / "html" / f"{name}.html").write_bytes(html)
        digest = sha256(html).hexdigest()
        row = {"id": name, "file": f"html/{name}.html", "truth_text": "Two", "html_sha256": digest, "url": URLS[name]}
        rows.append(row | ({"host": HOSTS[name]} if name in HOSTS else {}))
    (folder / "truth.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def keep_out(data: Path, *lines: str) -> list[str]:
    (data / "kept_out.txt").write_text("# a comment\n" + "".join(line + "\n" for line in lines))
    return [page.id for page in read_training_pages(data, "fundus")]


def of_host(name: str) -> str:
    return f"host {sha256(name.encode()).hexdigest()}"


def test_a_folder_without_the_list_keeps_nothing_out(data: Path) -> None:
    assert [page.id for page in read_training_pages(data, "fundus")] == ["a", "b", "c", "d"]


def test_pages_are_left_out_by_their_bytes(data: Path) -> None:
    assert keep_out(data, f"page {sha256(PAGES['b']).hexdigest()}") == ["a", "c", "d"]


@pytest.mark.parametrize(
    ("host", "left"),
    [("shop.example.org", "bcd"), ("example.org", "bcd"), ("forum.example.edu", "abd"), ("www.example.net", "abcd")],
)
def test_pages_are_left_out_by_any_name_of_their_host(data: Path, host: str, left: str) -> None:
    assert "".join(keep_out(data, of_host(host))) == left


def test_an_address_that_is_none_has_no_host() -> None:
    assert host_in(None) is None
    assert host_in("https://[") is None

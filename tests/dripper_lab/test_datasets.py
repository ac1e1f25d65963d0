import hashlib
import io
import json
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.errors import InputError
from dripper_lab import datasets
from dripper_lab.datasets import (
    DATA_SETS,
    LabelledPage,
    PageCounts,
    Role,
    available,
    count_pages,
    detect_language,
    names_with,
    read_pages,
    site_of,
)
from dripper_lab.wrong_truths import Fault, WrongTruth

SHARED_DATA = Path(__file__).parents[3] / "shared" / "data"
PAGES = {
    "one": "<p>Erste Seite über den Fluß.</p>",
    "two": "<p>Second page.</p>",
    "three": "<p>Third page.</p>",
    "four": "<p>Second page.</p>",
}


def row(name: str, html: str, **more: object) -> dict[str, object]:
    digest = hashlib.sha256(html.encode()).hexdigest()
    return {"id": name, "file": f"html/{name}.html", "truth_text": f"text of {name}", "html_sha256": digest, **more}


ROWS = [
    row("one", PAGES["one"], url="http://a.example.org/1", lang="de-DE", page_type="article", split="dev"),
    row("two", PAGES["two"], truth_text="odd\u2028line ends\x85here", encoding="utf-8 (stored as JSON string)"),
    row("three", PAGES["three"], bad="truth_not_in_page(<0.7)", duplicate=True),
    row("four", PAGES["four"], duplicate=True),
]


def files(rows: list[dict[str, object]] = ROWS) -> dict[str, bytes]:
    contents = {f"html/{name}.html": html.encode() for name, html in PAGES.items()}
    return contents | {"truth.jsonl": "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows).encode()}


def write_archive(folder: Path, contents: dict[str, bytes], name: str = "fundus") -> Path:
    path = folder / f"{name}.tar.xz"
    with tarfile.open(path, "w:xz") as tar:
        for file, content in contents.items():
            member = tarfile.TarInfo(f"{name}/{file}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def write_folder(folder: Path, contents: dict[str, bytes], name: str = "mine") -> None:
    for file, content in contents.items():
        path = folder / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def ids(pages: object) -> list[str]:
    return [page.id for page in pages]  # type: ignore[attr-defined]


def test_usable_pages_in_archive_order(tmp_path: Path) -> None:
    write_archive(tmp_path, files())
    one, two = read_pages(tmp_path, "fundus")
    assert one == LabelledPage(
        "one", "fundus", "http://a.example.org/1", PAGES["one"].encode(), None, "text of one",
        page_type="article", language="de", more={"lang": "de-DE", "split": "dev"},
    )  # fmt: skip
    assert two.truth_text == "odd\u2028line ends\x85here"


def test_character_references_are_decoded_where_the_set_forgot(tmp_path: Path) -> None:
    contents = files([row("one", PAGES["one"], truth_text="it&#8217;s &lt;p&gt;")])
    write_archive(tmp_path, contents)
    write_archive(tmp_path, contents, "cleanportaleval")
    assert [page.truth_text for page in read_pages(tmp_path, "cleanportaleval")] == ["it’s <p>"]
    assert [page.truth_text for page in read_pages(tmp_path, "fundus")] == ["it&#8217;s &lt;p&gt;"]


def test_counts_close(tmp_path: Path) -> None:
    write_archive(tmp_path, files())
    assert count_pages(tmp_path, "fundus") == PageCounts(4, 2, 1, {"truth_not_in_page": 1})


LISTED = WrongTruth("fundus", "two", Fault.PART, "It stops in the middle.")


@pytest.fixture
def one_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Page `two` of every known set is in the list of wrong truths."""
    listed = {(name, "two"): replace(LISTED, data_set=name) for name in DATA_SETS}
    monkeypatch.setattr(datasets, "wrong_truths", lambda: listed)


@pytest.mark.usefixtures("one_is_listed")
@pytest.mark.parametrize("bad", [None, "", "no main content"])
def test_pages_whose_truth_was_found_wrong_are_left_out_and_counted(tmp_path: Path, bad: str | None) -> None:
    write_archive(tmp_path, files([ROWS[0], ROWS[1] | {"bad": bad}]))
    assert ids(read_pages(tmp_path, "fundus", empty=True)) == ["one"]
    assert ids(read_pages(tmp_path, "fundus", sample=2)) == ["one"]
    assert count_pages(tmp_path, "fundus") == PageCounts(2, 1, 0, {"wrong truth: part": 1})


@pytest.mark.usefixtures("one_is_listed")
def test_a_fault_that_the_set_states_itself_goes_before_the_list(tmp_path: Path) -> None:
    write_archive(tmp_path, files([ROWS[0], ROWS[1] | {"bad": "tiny_truth"}]))
    assert count_pages(tmp_path, "fundus") == PageCounts(2, 1, 0, {"tiny_truth": 1})


@pytest.mark.usefixtures("one_is_listed")
@pytest.mark.parametrize("name", [*names_with(*(set(Role) - {Role.TRAIN_SHIPS})), "mine"])
def test_the_list_of_wrong_truths_touches_nothing_but_training_sets(tmp_path: Path, name: str) -> None:
    rows = [each | {"split": DATA_SETS[name].split if name in DATA_SETS else None} for each in ROWS]
    write_folder(tmp_path, files(rows), (name in DATA_SETS and DATA_SETS[name].part_of) or name)
    assert ids(read_pages(tmp_path, name)) == ["one", "two"]
    assert count_pages(tmp_path, name) == PageCounts(4, 2, 1, {"truth_not_in_page": 1})


def test_archive_cache_and_folder_give_the_same(tmp_path: Path) -> None:
    write_archive(tmp_path, files())
    write_folder(tmp_path, files())
    expected = list(read_pages(tmp_path, "fundus"))
    for _ in range(2):
        assert list(read_pages(tmp_path, "fundus", cache=tmp_path / "cache")) == expected
    assert ids(read_pages(tmp_path, "mine")) == ids(expected)
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_a_changed_archive_is_unpacked_anew(tmp_path: Path) -> None:
    write_archive(tmp_path, files())
    assert ids(read_pages(tmp_path, "fundus", cache=tmp_path / "cache")) == ["one", "two"]
    write_archive(tmp_path, files(ROWS[1:]))
    assert ids(read_pages(tmp_path, "fundus", cache=tmp_path / "cache")) == ["two"]


def test_sample_is_fixed_and_nested(tmp_path: Path) -> None:
    rows = [row(f"page{number}", PAGES["two"], file="html/two.html") for number in range(1)] + ROWS[:2]
    write_archive(tmp_path, files(rows[1:]))
    samples = [set(ids(read_pages(tmp_path, "fundus", sample=size))) for size in range(4)]
    assert [len(sample) for sample in samples] == [0, 1, 2, 2]
    assert samples[0] < samples[1] < samples[2]


@pytest.mark.parametrize("how", ["archive", "cache", "folder"])
def test_rows_of_the_evaluation_split_are_a_set_of_their_own(tmp_path: Path, how: str) -> None:
    rows = [row("one", PAGES["one"], split="train"), row("two", PAGES["two"], split="evaluation")]
    rows += [row("three", PAGES["three"], split="evaluation", bad="no main content"), row("four", PAGES["four"])]
    write = write_folder if how == "folder" else write_archive
    write(tmp_path, files(rows), "web-kinds")
    cache = tmp_path / "cache" if how == "cache" else None
    assert available(tmp_path) == ["web-kinds", "web-kinds-evaluation"]
    assert ids(read_pages(tmp_path, "web-kinds", cache=cache)) == ["one"]
    assert ids(read_pages(tmp_path, "web-kinds-evaluation", cache=cache)) == ["two"]
    assert count_pages(tmp_path, "web-kinds") == PageCounts(1, 1, 0, {})
    assert count_pages(tmp_path, "web-kinds-evaluation", cache=cache) == PageCounts(2, 1, 0, {"no main content": 1})


def test_missing_set_names_those_there(tmp_path: Path) -> None:
    write_archive(tmp_path, files())
    write_folder(tmp_path, files())
    assert available(tmp_path) == ["fundus", "mine"]
    with pytest.raises(
        InputError, match=r"no data set 'fundos' in .*: no fundos.tar.xz there. Sets there: fundus, mine"
    ):
        list(read_pages(tmp_path, "fundos"))


@pytest.mark.parametrize("how", ["archive", "folder"])
@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (files() | {"truth.jsonl": b'{"id": "one"\n'}, "line 1 is not JSON"),
        (files() | {"truth.jsonl": b"[1]\n"}, "line 1 lacks the text field 'id'"),
        (files([*ROWS[:1], row("two", PAGES["two"], truth_text=None)]), "line 2 lacks the text field 'truth_text'"),
        (files([row("one", PAGES["two"])]), "html/one.html is not the page that truth.jsonl describes"),
        (files([row("five", PAGES["two"])]), "html/five.html"),
        (files([row("one", PAGES["one"], file="../../secret")]), r"\.\./\.\./secret"),
    ],
)
def test_wrong_truth_file(tmp_path: Path, how: str, contents: dict[str, bytes], message: str) -> None:
    write_archive(tmp_path, contents) if how == "archive" else write_folder(tmp_path, contents, "fundus")
    with pytest.raises(InputError, match=message):
        list(read_pages(tmp_path, "fundus"))


@pytest.mark.parametrize("damage", [lambda raw: raw[: len(raw) // 2], lambda raw: b"not xz", lambda raw: b""])
@pytest.mark.parametrize("cached", [False, True])
def test_damaged_archive(tmp_path: Path, damage: object, cached: bool) -> None:
    path = write_archive(tmp_path, files())
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(InputError, match=r"fundus\.tar\.xz"):
        list(read_pages(tmp_path, "fundus", cache=tmp_path / "cache" if cached else None))
    assert not list(tmp_path.glob("cache/*"))


def test_archive_without_truth(tmp_path: Path) -> None:
    write_archive(tmp_path, {"html/one.html": b"x"})
    with pytest.raises(InputError, match=r"has no truth\.jsonl"):
        count_pages(tmp_path, "fundus")


def page(**changes: object) -> LabelledPage:
    values = {"id": "1", "data_set": "set", "url": None, "html": b"<p>x", "encoding": None, "truth_text": "t"}
    return LabelledPage(**(values | changes))  # type: ignore[arg-type]


def test_content_type_only_where_characters_were_stored() -> None:
    assert page(encoding="utf-8").content_type is None
    assert page(encoding="utf-8 (stored as JSON string)").content_type == "text/html; charset=utf-8"


def test_site_of_a_page() -> None:
    assert page(url="https://www.bbc.co.uk/1", more={"site": "cjw"}).host == "set/cjw"
    assert page(url="https://www.bbc.co.uk/1", more={"host": "other.org"}).host == "bbc.co.uk"
    assert page(more={"host": "www.tovima.gr"}).host == "tovima.gr"
    assert page(more={"site": "http://abcnews.go.com"}).host == "go.com"
    assert page().host == "set/1"


def test_language_stated_or_detected() -> None:
    assert detect_language(page(language="el")) == "el"
    assert detect_language(page(truth_text="Das ist ein ganz gewöhnlicher deutscher Satz über das Wetter.")) == "de"
    assert detect_language(page(truth_text="12")) == "?"


def test_roles_keep_training_and_evaluation_apart() -> None:
    train, evaluation = names_with(Role.TRAIN_SHIPS, Role.TRAIN_RESEARCH), names_with(Role.EVALUATION)
    assert len(train) == 15
    assert {"web-kinds", "web-forum-52", "readability"} <= set(names_with(Role.TRAIN_SHIPS))
    assert {"cleaneval-en", "web-kinds-evaluation", "web-kinds-2-evaluation"} <= set(evaluation)
    assert sorted([*train, *evaluation, *names_with(Role.FORMAT_SAMPLE)]) == sorted(DATA_SETS)


@pytest.mark.skipif(not SHARED_DATA.is_dir(), reason="needs the data folder ../shared/data")
def test_real_archives_are_the_known_sets() -> None:
    of_recipes = {"web-kinds-2", "web-kinds-2-evaluation", "web-kinds-3", "unlabelled-web-training"}
    assert available(SHARED_DATA) == sorted(set(DATA_SETS) - of_recipes)
    assert count_pages(SHARED_DATA, "web-forum-52") == PageCounts(102, 98, 0, {"empty_page": 2, "truth_not_in_page": 2})
    assert len(list(read_pages(SHARED_DATA, "web-forum-52"))) == 98
    assert count_pages(SHARED_DATA, "web-kinds") == PageCounts(
        1166, 1107, 0, {"no main content": 53, "wrong truth: glued": 5, "wrong truth: nothing there": 1}
    )
    assert count_pages(SHARED_DATA, "web-kinds-evaluation") == PageCounts(195, 191, 0, {"no main content": 4})
    assert count_pages(SHARED_DATA, "web-kinds-more") == PageCounts(
        964, 895, 0, {"no main content": 66, "wrong truth: glued": 3}
    )


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.bbc.co.uk/news", "bbc.co.uk"),
        ("http://foo.blogspot.com/2010/x.html", "foo.blogspot.com"),
        ("www.express.gr", "express.gr"),
        ("http://192.168.1.20:8080/x", "192.168.1.20"),
        ("http://localhost/x", "localhost"),
        ("http://[broken/x", None),
        ("", None),
        (None, None),
    ],
)
def test_site_of_a_url(url: str | None, host: str | None) -> None:
    assert site_of(url) == host


@pytest.mark.parametrize(
    "html",
    [
        b'<link rel="canonical" href="https://news.example.org/a">',
        b"<link href='https://news.example.org/a' rel='canonical'/>",
        b'<META property="og:url" content="http://example.org/a">',
        b'<meta content="http://example.org/a" property="og:url">',
        b'<base href="http://www.example.org/">',
        b'<a href="http://other.net/"></a>' + b"".join(b'<a href="http://example.org/%d"></a>' % n for n in range(3)),
    ],
)
def test_host_found_in_the_page(html: bytes) -> None:
    assert site_of(None, html) == "example.org"
    assert site_of("http://mine.com/", html) == "mine.com"


@pytest.mark.parametrize(
    "html",
    [
        b"<p>nothing",
        b'<a href="http://example.org/1"></a><a href="http://example.org/1"></a><a href="http://example.org/2"></a>',
        b"".join(b'<a href="http://www.facebook.com/%d"></a>' % n for n in range(9)),
        b'<a href="http://[broken/"></a>',
    ],
)
def test_no_host_is_guessed_from_little(html: bytes) -> None:
    assert site_of(None, html) is None


@given(st.text(max_size=40), st.binary(max_size=60))
def test_never_raises(url: str, html: bytes) -> None:
    site_of(url, html)
    site_of(None, b'<a href="http://' + html + b'">')

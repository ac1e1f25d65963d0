"""The values of --select."""

import pytest

from dripper.errors import InputError
from dripper.warc.index.selection import Capture, Selection, parse_selection


def test_all_keys() -> None:
    text = (
        "index=a.cdxj, index=b.parquet,url-prefix=http://e.org/a%2Cb,host=E.org,domain=*.Example.org,"
        "language=DEU,status=200,status=404,mime=Text/HTML,urls=@u.txt"
    )
    expected = Selection(
        ("a.cdxj", "b.parquet"),
        ("http://e.org/a,b",),
        ("e.org",),
        ("example.org",),
        ("deu",),
        (200, 404),
        ("text/html",),
    )
    assert parse_selection(text) == (expected, "u.txt")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "names no index"),
        ("host=e.org", "names no index"),
        ("cc.parquet", "'cc.parquet' is none of index=…"),
        ("index=a,hosts=b", "'hosts=b' is none of"),
        ("index=", "index= has no value"),
        ("index=a,status=2xx", "status=2xx is not an HTTP status"),
        ("index=a,urls=u.txt", "urls=@addresses.txt"),
        ("index=a,urls=@a,urls=@b", "urls=@addresses.txt"),
    ],
)
def test_what_cannot_be_understood_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_selection(text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("selection", "wanted"),
    [
        (Selection(("i",)), True),
        (Selection(("i",), hosts=("www.e.org",)), True),
        (Selection(("i",), hosts=("e.org",)), False),
        (Selection(("i",), domains=("e.org",)), True),
        (Selection(("i",), domains=("w.e.org",)), False),
        (Selection(("i",), url_prefixes=("http://x", "https://www.e.org/a")), True),
        (Selection(("i",), languages=("fra",)), True),
        (Selection(("i",), languages=("eng",)), False),
        (Selection(("i",), statuses=(200,), mimes=("text/html",)), True),
        (Selection(("i",), statuses=(404,), mimes=("text/html",)), False),
        (Selection(("i",), urls=frozenset()), False),
        (Selection(("i",), urls=frozenset({"https://www.e.org/ab"})), True),
    ],
)
def test_a_capture_must_satisfy_all_keys(selection: Selection, wanted: bool) -> None:
    capture = Capture("https://www.e.org/ab", "a.warc", 0, 9, 200, "text/html", ("deu", "fra"))
    assert selection.wants(capture) is wanted

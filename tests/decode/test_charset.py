"""From bytes to text as browsers do it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dripper.decode.charset import SCAN_BYTES, DecodedText, find_declared_label, parse_charset, to_utf8
from dripper.decode.codecs import decode_as
from dripper.warc import decode

TEXTS = {
    "windows-1252": "Die schönen Straßen der Stadt wären für Fußgänger größer: „Überall Blumen“, sagte die Köchin. ",
    "windows-1251": "Московские улицы сегодня утром были почти пустыми, потому что все жители города уехали за город. ",
    "windows-1250": "Příliš žluťoučký kůň úpěl ďábelské ódy a potom šel spát do své stáje za městem. ",
    "windows-1253": "Οι δρόμοι της Αθήνας ήταν άδειοι σήμερα το πρωί επειδή όλοι οι κάτοικοι έφυγαν από την πόλη. ",
    "windows-1254": "İstanbul'un sokakları bu sabah bomboştu çünkü herkes şehirden ayrılmıştı, güneş ışığı vardı. ",
    "shift_jis": "今朝の東京の通りはほとんど空っぽでした。住民はみんな街を出て、山や海へ行ってしまったからです。",
    "euc-jp": "今朝の東京の通りはほとんど空っぽでした。住民はみんな街を出て、山や海へ行ってしまったからです。",
    "gbk": "今天早上北京的街道几乎空无一人，因为所有的居民都离开了城市，到山上和海边去度假了。",
    "big5": "今天早上臺北的街道幾乎空無一人，因為所有的居民都離開了城市，到山上和海邊去度假了。",
    "euc-kr": "오늘 아침 서울의 거리는 거의 비어 있었습니다. 모든 주민들이 도시를 떠나 산과 바다로 갔기 때문입니다. ",
}
PYTHON = {"gbk": "gb18030", "euc-kr": "cp949", "shift_jis": "cp932", "euc-jp": "euc_jp"}


def stored(name: str, head: str = "") -> bytes:
    return (f"<!doctype html><html><head>{head}</head><body><p>" + TEXTS[name] * 20).encode(PYTHON.get(name, name))


@pytest.mark.parametrize("name", TEXTS)
def test_header_meta_and_detector_agree(name: str) -> None:
    for payload, content_type, source in [
        (stored(name), f'text/html; charset="{name.upper()}"', "http"),
        (stored(name, f"<meta charset='{name}'>"), "text/html", "meta"),
        (stored(name, f'<meta http-equiv=Content-Type content="text/html; charset={name}">'), None, "meta"),
        (stored(name), None, "detector"),
    ]:
        found = decode(payload, content_type)
        # chardetng calls GBK by the name of its superset, which is decoded the same.
        assert found.encoding == ("gb18030" if (name, source) == ("gbk", "detector") else name)
        assert found.source == source
        assert found.text.endswith(TEXTS[name] * 20)


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("ISO-8859-1", "windows-1252"),
        ("ascii", "windows-1252"),
        ("latin1", "windows-1252"),
        ("gb2312", "gbk"),
        ("x-sjis", "shift_jis"),
        ("ks_c_5601-1987", "euc-kr"),
        ("iso-8859-9", "windows-1254"),
        ("unicode-1-1-utf-8", "utf-8"),
        ("utf-16", "utf-16le"),
        ("hz-gb-2312", "replacement"),
    ],
)
def test_labels_mean_what_the_standard_says(label: str, name: str) -> None:
    assert decode(b"<p>", f"text/html; charset={label}").encoding == name


@pytest.mark.parametrize(
    ("payload", "content_type", "encoding", "source"),
    [
        (b"\xef\xbb\xbf<p>", "text/html; charset=gbk", "utf-8", "bom"),
        ("\ufeff<p>".encode("utf-16-le"), "text/html; charset=utf-8", "utf-16le", "bom"),
        ("\ufeff<p>".encode("utf-16-be"), None, "utf-16be", "bom"),
        (b"<meta charset=gbk>", "text/html; charset=utf-8", "utf-8", "http"),
        (b"<meta charset=gbk>", "text/html; charset=nonsense", "gbk", "meta"),
        (b"<meta charset=utf-16>", None, "utf-8", "meta"),
        (b"<meta charset=x-user-defined>", None, "windows-1252", "meta"),
        (b"<meta charset=nonsense>caf\xc3\xa9", None, "utf-8", "detector"),
        (b'<?xml version="1.0" encoding="EUC-JP"?>', "application/xhtml+xml", "euc-jp", "meta"),
        (b"", None, "utf-8", "detector"),
        (b"plain", "", "utf-8", "detector"),
    ],
)
def test_the_order_of_sources(payload: bytes, content_type: str | None, encoding: str, source: str) -> None:
    found = decode(payload, content_type)
    assert (found.encoding, found.source) == (encoding, source)
    assert "\ufeff" not in found.text


def test_a_declaration_is_obeyed_even_where_it_is_wrong() -> None:
    assert decode("é".encode(), "text/html; charset=iso-8859-1").text == "Ã©"
    mixed = "déjà vu ".encode() + b"caf\xe9!"
    assert decode(mixed, "text/html; charset=utf-8") == DecodedText("déjà vu caf\ufffd!", "utf-8", "http", 1)


@pytest.mark.parametrize("name", sorted(set(TEXTS) - {"utf-8"}))
def test_utf_8_with_more_broken_characters_than_whole_ones_is_none(name: str) -> None:
    stored = f"<p>{TEXTS[name]}".encode(PYTHON.get(name, name))
    said = f"<meta charset={name}>".encode() + stored
    assert decode(said, "text/html; charset=utf-8") == DecodedText(decode(said).text, name, "meta")
    for payload in (stored * 9, b"<meta charset=utf-8>" + stored * 9):
        found = decode(payload, "text/html; charset=utf-8")
        assert (found.encoding, found.source) == (decode(stored * 9).encoding, "detector")
    lies = b"<meta charset=euc-kr>" + b"caf\xe9 \xe0 la carte, d\xe9j\xe0 vu"
    assert decode(lies, "text/html; charset=utf-8").text.endswith("café à la carte, déjà vu")


def test_bytes_that_can_be_of_one_encoding_alone() -> None:
    japanese = "<title>水車</title><p>水車小屋は朝からまわっている。"
    for encoding, name in (("iso2022_jp", "iso-2022-jp"), ("utf-16-le", "utf-16le"), ("utf-16-be", "utf-16be")):
        for content_type in (None, "text/html; charset=utf-8", "text/html"):
            found = decode(japanese.encode(encoding), content_type)
            assert found == DecodedText(japanese, name, "detector")
    assert decode(b"<p>one \x1b$ two \x1b$B three four").encoding == "utf-8"
    assert decode(b"<p>one\0two\0").encoding == "utf-8"


def test_errors_are_counted_without_those_that_were_stored() -> None:
    kept = "<meta charset=utf-8>Straße, größer \ufffd ".encode()
    for payload, errors in ((kept, 0), (kept + b"\xe9 ", 1), (b"<meta charset=gbk>\xff\xff", 2)):
        assert decode(payload).errors == to_utf8(payload).errors == errors


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_utf_8_beyond_doubt_is_decoded_so_whatever_it_says(name: str) -> None:
    payload = f"<meta charset={name}><p>{TEXTS[name] * 20}".encode()
    for content_type in (f"text/html; charset={name}", "text/html", None):
        assert decode(payload, content_type) == DecodedText(payload.decode(), "utf-8", "detector")
    assert decode(payload[:-2]).encoding == "utf-8"


def test_a_few_characters_of_utf_8_do_not_make_a_page_utf_8() -> None:
    payload = "le café est fermé; ".encode("cp1252") * 5 + "déjà vu ".encode() * 20
    assert decode(payload).encoding == "windows-1252"


@pytest.mark.parametrize("shift", [0, 1])
def test_what_is_detected_from_may_end_within_a_character(shift: int) -> None:
    text = "あ" + "a" * shift + "日本語の文章はここに続きます。" * 3000
    assert decode(text.encode("shift_jis")) == DecodedText(text, "shift_jis", "detector")


def test_a_long_head_without_other_than_ascii_is_passed_over() -> None:
    text = "<script>" + "x = 1; " * 10_000 + "</script>" + "Здравствуйте, это страница на русском языке. " * 20
    assert decode(text.encode("cp1251")) == DecodedText(text, "windows-1251", "detector")


def test_utf_8_with_a_broken_character_is_still_utf_8() -> None:
    payload = ("Straße " * 20).encode() + b"\xc3 cut " + ("größer " * 20).encode()
    found = decode(payload)
    assert (found.encoding, found.text.count("\ufffd")) == ("utf-8", 1)
    assert decode("Straße".encode()[:-2]).encoding == "utf-8"


@given(st.binary(max_size=500), st.one_of(st.none(), st.text(max_size=60)))
def test_any_bytes_become_text(payload: bytes, content_type: str | None) -> None:
    found = decode(payload, content_type)
    assert found.encoding == found.encoding.lower()


ALMOST_UTF_8 = st.lists(
    st.sampled_from(
        [
            b"a",
            "é".encode(),
            "€".encode(),
            "😀".encode(),
            b"\xed\xa0\x80",
            b"\xc0\x80",
            b"\xf4\x90\x80\x80",
            b"\xe2\x82",
        ]
    )
).map(b"".join)


@given(
    st.binary(max_size=500) | ALMOST_UTF_8,
    st.one_of(st.none(), st.text(max_size=60), st.sampled_from(["a/b; charset=gbk", "a/b; charset=utf-8"])),
)
def test_utf_8_says_what_the_text_says(payload: bytes, content_type: str | None) -> None:
    text, found = decode(payload, content_type), to_utf8(payload, content_type)
    assert (found.utf8.decode(), *found[1:]) == (text.text, text.encoding, text.source, text.errors)


@pytest.mark.parametrize("payload", ["größer".encode(), b"plain", "größer".encode("utf-8-sig")])
def test_utf_8_stays_as_it_was_served(payload: bytes) -> None:
    found = to_utf8(payload, "text/html; charset=utf-8")
    assert found.utf8 == payload.removeprefix(b"\xef\xbb\xbf")


@given(
    st.binary(max_size=200), st.sampled_from([*TEXTS, "gb18030", "iso-2022-jp", "koi8-u", "replacement", "macintosh"])
)
def test_every_decoder_takes_any_bytes(payload: bytes, name: str) -> None:
    decode_as(payload, name)


@pytest.mark.parametrize(
    ("data", "name", "text"),
    [
        (b"\x80\x81\x8d\x9d", "windows-1252", "€\x81\x8d\x9d"),
        (b"\xae\xbe", "koi8-u", "ўЎ"),
        (b"\xd2\xff\x81", "windows-1253", "\ufffd\ufffd\x81"),
        (b"\xca", "windows-1255", "\u05ba"),
        (b"\x80\xa3\xa0\xfe\x59", "gbk", "€\u3000\u9fb4"),
        (b"\xad\xa1\xfc\xfe\xa1\xc1\xa1\xdd", "euc-jp", "①＂～－"),
        (b"\x87\x40\xfa\x40", "shift_jis", "①ⅰ"),
        (b"\xb0\xa1\x81A", "euc-kr", "가갂"),
        (b"a\xff<b", "gbk", "a\ufffd<b"),
        (b"\xb0<p>", "euc-kr", "\ufffd<p>"),
        (b"\xe4\xb8<p>\xf0\x9f", "utf-8", "\ufffd<p>\ufffd"),
        (b"\xf7\x80", "x-user-defined", "\uf7f7\uf780"),
        (b"abc", "replacement", "\ufffd"),
    ],
)
def test_bytes_where_python_and_the_standard_differ(data: bytes, name: str, text: str) -> None:
    assert decode_as(data, name) == text


@pytest.mark.parametrize("errors", [3000, 30_000])
def test_more_errors_than_are_mended_one_by_one(errors: int) -> None:
    assert decode_as(b"\xff" * errors + b"\xb0\xa1", "gbk") == "\ufffd" * errors + "啊"


def test_a_page_full_of_characters_that_python_does_not_know() -> None:
    assert decode_as(b"\xad\xa1" * 5000 + b"\xa4\xa2", "euc-jp") == "①" * 5000 + "あ"


@pytest.mark.parametrize(
    ("head", "label"),
    [
        (b"<meta charset=gbk>", "gbk"),
        (b"<META CharSet = 'gbk' >", "gbk"),
        (b"<meta/charset=gbk/>", "gbk/"),
        (b'<meta name="a" content="b" charset="gbk">', "gbk"),
        (b'<meta content="text/html;charset=gbk" http-equiv="CONTENT-TYPE">', "gbk"),
        (b'<meta http-equiv="content-type" content="text/html; charset=\'gbk\'">', "gbk"),
        (b'<meta content="text/html;charset=gbk">', None),
        (b'<meta http-equiv="refresh" content="0; charset=gbk">', None),
        (b"<!-- <meta charset=a> --><meta charset=gbk>", "gbk"),
        (b"<!--><meta charset=gbk>", "gbk"),
        (b"<!-- <meta charset=gbk>", None),
        (b'<a title="<meta charset=a>"><meta charset=gbk>', "gbk"),
        (b"<script>'<meta charset=a>'</script><meta charset=gbk>", "gbk"),
        (b"<title><meta charset=a></title><meta charset=gbk>", "gbk"),
        (b"<metadata charset=a><meta charset=gbk>", "gbk"),
        (b"<?php <meta charset=a> ?><meta charset=gbk>", "gbk"),
        (b"<meta charset><meta charset=gbk>", "gbk"),
        (b"<meta charset=gbk", "gbk"),
        (b"a < b <meta charset=gbk>", "gbk"),
        (b"", None),
    ],
)
def test_the_prescan(head: bytes, label: str | None) -> None:
    assert find_declared_label(head) == label


def test_the_prescan_goes_on_to_the_end_of_the_head_and_no_further() -> None:
    far = b"<head>" + b"<link rel=x href=y>" * 1000
    assert find_declared_label(far + b"<meta charset=gbk>") == "gbk"
    assert find_declared_label(far + b"</head><body><meta charset=gbk>") is None
    assert find_declared_label(b"<body><meta charset=gbk>") == "gbk"
    assert find_declared_label(b" " * SCAN_BYTES + b"<meta charset=gbk>") is None


@pytest.mark.parametrize(
    ("value", "charset"),
    [
        (b"text/html; charset=utf-8", "utf-8"),
        (b"text/html;CHARSET = utf-8 ; x=y", "utf-8"),
        (b"text/html; charset='utf-8'", "utf-8"),
        (b'text/html; charset="utf-8', None),
        (b"charset; charset=utf-8", "utf-8"),
        (b"text/html", None),
    ],
)
def test_charset_of_a_content_type(value: bytes, charset: str | None) -> None:
    assert parse_charset(value) == charset

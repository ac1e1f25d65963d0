"""Text that was encoded as UTF-8 twice is repaired only if this is certain."""

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dripper
from dripper.decode.codecs import decode_as
from dripper.decode.double import mend_double_encoding
from dripper.warc import decode, read_records
from support.labelled import labelled_pages

TEXTS = {
    "German": "Die schönen Straßen wären für Fußgänger größer: „Überall Blumen“, sagte die Köchin.",
    "Russian": "Московские улицы сегодня утром были почти пустыми.",
    "Czech": "Příliš žluťoučký kůň úpěl ďábelské ódy a potom šel spát.",
    "Greek": "Οι δρόμοι της Αθήνας ήταν άδειοι σήμερα το πρωί.",
    "Japanese": "今朝の東京の通りはほとんど空っぽでした。",
    "Korean": "오늘 아침 서울의 거리는 거의 비어 있었습니다.",
    "Hebrew": "הרחובות היו ריקים הבוקר",
    "English": "“It’s late”, she said — and left… 🙂",
}


def mend(text: str) -> str:
    return mend_double_encoding(text.encode()).decode()


def encode_twice(text: str, name: str = "windows-1252") -> str:
    return decode_as(text.encode(), name)


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("name", TEXTS)
def test_texts_come_back_in_every_script(name: str, rounds: int) -> None:
    broken = TEXTS[name]
    for _ in range(rounds):
        broken = encode_twice(broken)
    assert broken != TEXTS[name]
    assert mend(f"<p>{broken}</p>") == f"<p>{TEXTS[name]}</p>"


def test_read_as_latin_1_it_comes_back_too() -> None:
    text = "l’été à Orléans — “déjà vu”…"
    assert mend(text.encode().decode("latin-1")) == text


@pytest.mark.parametrize("name", TEXTS)
def test_correct_texts_stay(name: str) -> None:
    assert mend(TEXTS[name]) == TEXTS[name]


@pytest.mark.parametrize(
    "text",
    [
        "„MENÜ“ und „CAFÉ», AMANHÔ, VÝŠKA, BOUŽE, Å“ É» È\xa0 Â° Â® É… Ü— ß\xad é\xa0» 50×60Ž",  # letters and their followers
        "SÃO PAULO não Ã© Ã£ Ãª Ã©",  # the letter also occurs alone
        "ÔÙ¸øÄã½²¸ö¹ÊÊÂ ÔÙ¸ø",  # GBK, read as Latin-1
        "Ã©",  # too few
        "To see é, è and ü as Ã©, Ã¨ and Ã¼ means that UTF-8 was read as Latin-1.",  # a page about it
    ],
)
def test_what_may_be_meant_stays(text: str) -> None:
    assert mend(text) == text


def test_a_control_character_is_the_sign_of_its_byte() -> None:
    assert mend("M1 ActiveÂ™, 20 ÂµF, Ã©tÃ©") == "M1 Active™, 20 µF, été"


@pytest.fixture(scope="module")
def texts(sample: Path) -> list[str]:
    """Real pages, and the labelled ones."""
    archived = [record for archive in sorted(sample.glob("*.warc.gz")) for record in read_records(str(archive))]
    decoded = [decode(record.payload, record.content_type).text for record in archived if not record.error_code]
    return decoded + [decode(page.html, page.content_type).text for page in labelled_pages()]


def test_real_pages_stay(texts: list[str]) -> None:
    assert sum(not text.isascii() for text in texts) > 30
    assert [mend(text) == text for text in texts] == [True] * len(texts)


def test_real_pages_come_back(texts: list[str]) -> None:
    """Except texts with too few letters and quotation marks beyond ASCII, which stay unchanged."""
    telling = [text for text in texts if len(re.findall("[à-ü’“”–—а-я一-龥]", text)) > 10]
    assert len(telling) > 15
    assert [mend(encode_twice(text)) == text for text in telling] == [True] * len(telling)


@given(st.text(alphabet=st.sampled_from("aé ’“ÃÂâ€™©¨\xa0\x80\x99ÐÑ<>ï½�"), max_size=60))
def test_a_second_time_changes_nothing_and_nothing_fails(text: str) -> None:
    once = mend(text)
    assert len(once) <= len(text)
    assert mend(text + " ") == once + " "


@given(st.integers(0, 10**6))
def test_noise_is_no_error(seed: int) -> None:
    mend_double_encoding(random.Random(seed).randbytes(200))


def test_an_extraction_is_mended_before_it_has_blocks() -> None:
    story = (
        "<h1>CafÃ© Ã  la carte</h1>" + "<p>Itâ€™s a cafÃ© that serves crÃ¨me brÃ»lÃ©e all day long, every day.</p>" * 5
    )
    page = dripper.extract(f"<title>CafÃ©</title>{story}".encode())
    assert (page.html_title, page.title) == ("Café", "Café à la carte")
    assert "It’s a café that serves crème brûlée" in page.markdown

"""Languages of real sentences; no answer if there is too little text."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import dripper
from dripper.facts.language import SAMPLE_CHARACTERS, detect, read_code


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "The ferry leaves the harbour at noon, and nobody on the pier waves."),
        ("de", "Die Fähre verlässt mittags den Hafen, und niemand winkt vom Steg."),
        ("fr", "Le bac quitte le port à midi, et personne ne fait signe depuis le quai."),
        ("zh", "渡轮中午离开港口，码头上没有人挥手。天气很好，大家都在家里休息。"),
        ("ja", "フェリーは正午に港を出ますが、桟橋で手を振る人はいません。"),
        ("ru", "Паром покидает порт в полдень, и никто на причале не машет рукой."),
    ],
)
def test_languages(code: str, text: str) -> None:
    found, probability = detect(text)
    assert found == code
    assert probability is not None
    assert 0 < probability <= 1


@pytest.mark.parametrize("text", ["", "   ", "12345 67890 " * 10, "Hi there"])
def test_too_little_text(text: str) -> None:
    assert detect(text) == (None, None)


def test_only_the_start_is_looked_at() -> None:
    text = "The ferry leaves the harbour at noon. " * 100
    assert len(text) > SAMPLE_CHARACTERS
    assert detect(text) == detect(text + "Die Fähre verlässt mittags den Hafen. " * 1000)


def test_white_space_is_no_text() -> None:
    text = "The ferry leaves the harbour at noon, and nobody on the pier waves. " * 5
    assert detect(" \n" * 300 + text)[0] == detect(text)[0] == "en"


def test_a_start_that_tells_little_does_not_decide() -> None:
    names = "Ana Berg, Jon Dahl, Ole Lind, Per Vik, Eva Holm, Tor Moen, Liv Aas, Kim Ruud, Nils Foss, Siri Lie. " * 3
    text = names + "Die Fähre verlässt mittags den Hafen, und niemand winkt vom Steg. " * 10
    assert detect(names)[0] != "de"
    assert detect(text)[0] == "de"


SHORT_TEXTS = [
    line.split("\t")
    for line in (Path(__file__).parents[1] / "data/short_texts/short_texts.tsv").read_text("utf-8").splitlines()
]


def count(declares: Callable[[str], str | None]) -> Counter[str]:
    """Count the outcomes for the lines that were not used to choose anything."""
    outcomes: Counter[str] = Counter()
    for number, (code, text) in enumerate(SHORT_TEXTS):
        if number % 4 > 1:
            found = detect(text, declares(code))[0]
            outcomes["right" if found == code else "null" if found is None else "wrong"] += 1
    return outcomes


def test_short_texts_in_many_languages() -> None:
    assert len({code for code, _ in SHORT_TEXTS}) > 30
    alone, declared, template = count(lambda _: None), count(lambda code: code), count(lambda _: "en-US")
    assert (alone["right"] >= 62, alone["wrong"] <= 1) == (True, True)
    assert (declared["right"] >= 65, declared["wrong"]) == (True, 0)
    assert (template["right"] >= 62, template["wrong"] <= 1) == (True, True)


@pytest.mark.parametrize(
    "text", ["Ana Berg, Jon Dahl, Ole Lind, Per Vik, Eva Holm", "SKU 4711 XL-200 AB USB HDMI DVI VGA LED RGB IPS"]
)
def test_what_says_no_language_has_none(text: str) -> None:
    assert detect(text) == (None, None)


def test_a_declaration_decides_where_the_text_leaves_it_open() -> None:
    text = "Kontakt Impressum Hotel Restaurant Berlin"
    assert detect(text)[0] is None
    assert detect(text, "de-DE")[0] == "de"
    assert detect("Die Fähre verlässt mittags den Hafen, und niemand winkt vom Steg.", "en")[0] == "de"


def test_codes_are_those_of_the_standard() -> None:
    from dripper.facts.language_model import load_identifier

    named = {read_code(code) for code, _ in load_identifier().rank("text")}
    assert {code for code in named if code is not None and len(code) == 2} >= {"no", "nn", "he", "id", "ki"}
    assert not named & {"nb", "iw", "in", "uzs", "kik", "sh", None}


def test_a_page_that_declares_its_language() -> None:
    page = "<html{}><title>x</title><p>Kontakt Impressum Hotel Restaurant Berlin</p></html>"
    assert dripper.extract(page.format("")).language is None
    assert dripper.extract(page.format(" lang=de-DE")).language == "de"

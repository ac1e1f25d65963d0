"""Languages of real sentences; no answer where there is too little text."""

import pytest

from dripper.page.language import SAMPLE_CHARACTERS, detect


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

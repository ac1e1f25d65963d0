"""What annotators are told, people and models alike."""

from importlib.resources import files

FILE = "guidelines.md"


def guidelines() -> str:
    """Return the guidelines with the form of an answer, as Markdown."""
    return files("dripper.train.annotation").joinpath(FILE).read_text(encoding="utf-8")

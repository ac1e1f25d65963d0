"""Prompts: our own, public ones by hash, files."""

from pathlib import Path

import pytest

from dripper.errors import MachineError, SettingsError
from dripper.labels.lm.answer import FORMS, parse_answer
from dripper.labels.lm.prompt import PUBLIC, PublicPrompt, find_prompt, own_prompt, prompt_folder, sha256


@pytest.mark.parametrize("form", FORMS)
def test_our_own_prompt_shows_an_answer_that_can_be_read(form: str) -> None:
    text = own_prompt(form).text("<html>the page</html>")
    assert text.endswith("<html>the page</html>")
    example = text[text.rindex("as in") :].partition("\n")[0]
    assert parse_answer(example) == {1: False, 2: True, 3: True}
    assert FORMS[form].text([False, True, True]).replace("\n", "") in example


def test_versions_tell_texts_apart() -> None:
    versions = {own_prompt(form).version for form in FORMS}
    texts = {form.text([True, False]) for form in FORMS.values()}
    assert len(versions) == len(texts) == len(FORMS) - 1
    assert all(version.startswith("own:") and len(version) == 12 for version in versions)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_prompt_that_is_not_there_names_the_command(name: str, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=f"the prompt {name}, .*run `dripper prompts fetch --folder {tmp_path}`"):
        find_prompt(name, "json", tmp_path)


@pytest.mark.parametrize("content", [b"", b"another text", b"\xff"])
def test_a_public_prompt_of_another_text_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "v0.txt").write_bytes(content)
    with pytest.raises(MachineError, match=r"v0\.txt: .*Run `dripper prompts fetch"):
        find_prompt("v0", "json", tmp_path)


def test_a_public_prompt_is_split_where_the_page_goes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = "Sagé: . Now say it."
    known = PublicPrompt(sha256(text), 6, "json")
    monkeypatch.setattr("dripper.labels.lm.prompt.PUBLIC", {"made": known})
    (tmp_path / "made.txt").write_bytes(text.encode())
    prompt = find_prompt("made", "json", tmp_path)
    assert prompt.text("<p>") == "Sagé: <p>. Now say it."


def test_a_file_of_the_users(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("Label {this}: {html}\nGo.")
    prompt = find_prompt(str(file), "json", tmp_path)
    assert prompt.text("<p>{html}</p>") == "Label {this}: <p>{html}</p>\nGo."
    assert prompt.version.startswith("mine.txt:")


@pytest.mark.parametrize(("content", "words"), [("no place", "exactly once"), ("{html} {html}", "exactly once")])
def test_a_file_without_one_place_is_named(content: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(content)
    with pytest.raises(SettingsError, match=words):
        find_prompt(str(file), "json", tmp_path)


def test_an_unknown_name_lists_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="neither a file nor one of auto, own, v0, v1, v2, compact, short_compact"):
        find_prompt("v3", "json", tmp_path)


def test_the_folder_is_the_setting_or_the_users_cache(tmp_path: Path) -> None:
    assert prompt_folder(str(tmp_path)) == tmp_path
    assert prompt_folder("").parts[-2:] == ("dripper", "prompts")


def test_the_project_holds_no_public_prompt(tmp_path: Path) -> None:
    """Not as a file: by hash of every text file's content, whole."""
    hashes = {public.sha256 for public in PUBLIC.values()}
    root = Path(__file__).parents[3]
    for folder in ("lib", "conf", "docs", "tests"):
        for file in (root / folder).rglob("*"):
            if file.suffix in (".txt", ".md", ".json", ".yml"):
                assert sha256(file.read_bytes().decode("utf-8", "replace")) not in hashes

"""Prompts of the `lm` labeler: our own, or one that a public checkpoint was trained on.

The public prompts belong to their authors, so this project contains only hashes to recognise them.
`dripper prompts fetch` downloads these prompts from the authors' package.
"""

import ast
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from dripper.errors import MachineError, SettingsError
from dripper.parse_place import local_place

_TASK = """\
Below is a web page. Every block of it carries its number in the attribute _item_id. Decide for each block whether \
somebody who opened this page came to read or see it.

main: what the page is there for. The text, headings, pictures, tables, code and formulas of an article, a product, a \
recipe, a document; the question and all answers of a question page; the posts of a thread; the entries of a list where \
the list is the purpose.
other: what surrounds it. Menus, logos, search, log-in and cookie notices; advertising; share and subscribe buttons; \
teasers of other pages; tags, counters and imprint; author boxes and dates apart from the text.

A block that has parts of both is what most of its text is. If unsure, say other.

"""
_JSON = "Answer with one JSON object and nothing else: the number of every block, in order, and its label, as in "
_TIGHT = (
    "Answer with one JSON object without white space and nothing else: the number of every block, in order, and "
    'its label, as in {"1":"other","2":"main","3":"main"}.\n\nThe page:\n'
)
_HOW = {
    "json": _JSON + '{"1": "other", "2": "main", "3": "main"}.\n\nThe page:\n',
    "json_v0": _JSON + '{"1": "other","2": "main","3": "main"}.\n\nThe page:\n',
    "json_tight": _TIGHT,
    "json_machine": _TIGHT,
    "compact": "Answer with the number and label of every block, in order, without spaces, and nothing else, as in "
    "1other2main3main.\n\nThe page:\n",
    "tagged": "Answer with the number and label of every block, in order, without spaces, between answer tags, and "
    "nothing else, as in <answer>1other2main3main</answer>.\n\nThe page:\n",
    "tagged_tight": "Answer with the number and label of every block, in order, between answer tags, without any white space, "
    "and nothing else, as in <answer>1other2main3main</answer>.\n\nThe page:\n",
}
PLACE = "{html}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: the simplified HTML is inserted between `before` and `after`."""

    name: str
    before: str
    after: str = ""

    def text(self, html: str) -> str:
        """Return the prompt for a page. Nothing in the HTML is escaped."""
        return f"{self.before}{html}{self.after}"

    @property
    def version(self) -> str:
        """The name, and the first 8 hexadecimal digits of the text's SHA-256."""
        return f"{self.name}:{sha256(self.text(''))[:8]}"


@dataclass(frozen=True, slots=True)
class PublicPrompt:
    """The properties that identify a public prompt: the hash of its UTF-8 text without a page, and
    the position at which a page is inserted."""

    sha256: str
    html_at: int
    answer: str
    """The answer form that the prompt asks for."""

    def split(self, name: str, text: str) -> Prompt:
        """Return the prompt with this text. Raises ValueError if the text is not this public
        prompt."""
        if sha256(text) != self.sha256:
            raise ValueError(f"this is not the prompt {name}: sha256 {sha256(text)}, expected {self.sha256}")
        return Prompt(name, text[: self.html_at], text[self.html_at :])


PUBLIC: Mapping[str, PublicPrompt] = {
    "v0": PublicPrompt("3b3a52b33e30b08a49b31f94bce51fe06be205ff7bda56783e9827fba235c68a", 2734, "json"),
    "v1": PublicPrompt("1ce791c9cab9089901bac579647ad393139986c1089c6dbe9cf0417c2f497bac", 1755, "json"),
    "v2": PublicPrompt("a85b7fa9a87ca34c897d73d9215dda6d01e14b49ab3932236d138588eef180d1", 1937, "json"),
    "compact": PublicPrompt("bdd321f2cb0834ffc4a72ed41a285698c2721d0fa664da215e176b0b9ed551de", 3027, "compact"),
    "short_compact": PublicPrompt("7d114fd27fc107bf980f353065f5a5fec20bb2dddc1ff1c74db4b901f6957d24", 689, "compact"),
}


def sha256(text: str) -> str:
    """Return the SHA-256 of `text` in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def own_prompt(answer: str) -> Prompt:
    """Return our own prompt for an answer form."""
    return Prompt("own", _TASK + _HOW[answer])


def prompt_folder(setting: str) -> Path:
    """Return the folder for fetched prompts: the setting labels.lm.prompt_folder, or the platform's
    user cache folder."""
    return (
        local_place("labels.lm.prompt_folder", setting)
        if setting
        else platformdirs.user_cache_path("dripper") / "prompts"
    )


def find_prompt(name: str, answer: str, folder: Path) -> Prompt:
    """Return the prompt with a name: `own`, a name in PUBLIC (read from the folder), or a file with
    `{html}` in place of the page.

    Raises MachineError if a public prompt is missing; the message names the command that fetches
    it. Raises SettingsError for unknown names, and for a file without exactly one `{html}`.
    """
    if name == "own":
        return own_prompt(answer)
    if name in PUBLIC:
        return _public_prompt(name, folder)
    file = local_place("labels.lm.prompt", name)
    if not file.is_file():
        raise SettingsError(f"labels.lm.prompt={name}: neither a file nor one of auto, own, {', '.join(PUBLIC)}")
    before, *after = file.read_text(encoding="utf-8").split(PLACE)
    if len(after) != 1:
        raise SettingsError(f"labels.lm.prompt={name}: the file must have {PLACE} exactly once, where the page goes")
    return Prompt(file.name, before, after[0])


def _public_prompt(name: str, folder: Path) -> Prompt:
    file = folder / f"{name}.txt"
    fetch = f"dripper prompts fetch --folder {folder}"
    try:
        return PUBLIC[name].split(name, file.read_bytes().decode())
    except FileNotFoundError:
        raise MachineError(
            f"the prompt {name}, which this model was trained on, is not in {folder}. It is its authors' text and comes "
            f"from their package: run `{fetch}` (or set labels.lm.prompt=own)"
        ) from None
    except ValueError as error:
        raise MachineError(f"{file}: {error}. Run `{fetch}` again") from None


PACKAGE = "mineru-html==1.1.2"
MODULE = "mineru_html/process/build_prompt.py"
# A placeholder for the page while the text is assembled; no prompt contains it.
_PAGE = "\0"
# The only name that the prompts import (from mineru_html.constants).
_CONSTANTS = {"ITEM_ID_ATTR": "_item_id"}


def fetch_prompts(folder: Path) -> list[Path]:
    """Download MinerU-HTML from pip's configured index, and write its five prompts into a folder.
    Return the files.

    Raises MachineError, and writes nothing, if pip fails or a prompt has an unexpected text.
    """
    with tempfile.TemporaryDirectory() as temporary:
        texts = read_prompts(_download(Path(temporary)))
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.txt" for name in texts]
    for file, text in zip(files, texts.values(), strict=True):
        file.write_bytes(text.encode())
    return files


def read_prompts(wheel: Path) -> dict[str, str]:
    """Return the public prompts in a wheel, keyed by name. The prompts contain no page. Raises
    MachineError if a prompt is missing or has an unexpected text."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            tree = ast.parse(archive.read(MODULE))
    except (OSError, KeyError, zipfile.BadZipFile, SyntaxError) as error:
        raise MachineError(f"{wheel.name} does not hold {MODULE}: {error}") from None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    texts = {}
    for name, public in PUBLIC.items():
        try:
            text = _read_prompt_text(functions[_name_function(name)])
            prompt = public.split(name, text.replace(_PAGE, ""))
        except (KeyError, TypeError, ValueError) as error:
            raise MachineError(f"{wheel.name} has another prompt {name} than expected: {error}") from None
        texts[name] = prompt.text("")
    return texts


def _name_function(prompt: str) -> str:
    """Return the name of the function that returns a prompt in the package's module."""
    return f"get_full_prompt_{prompt if prompt.startswith('short_') else f'long_{prompt}'}"


def _download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", PACKAGE]
    pip = subprocess.run([*command, "--dest", str(folder)], capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if pip.returncode or not wheels:
        raise MachineError(
            f"pip could not download {PACKAGE}: {pip.stderr.strip().splitlines()[-1:] or pip.returncode}"
        )
    return wheels[0]


def _read_prompt_text(function: ast.FunctionDef) -> str:
    """Return the text that a function assigns to `prompt`, with a placeholder for the page, the
    function's first argument."""
    texts = {**_CONSTANTS, function.args.args[0].arg: _PAGE}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            texts[node.targets[0].id] = _text(node.value, texts)
    return texts["prompt"]


def _text(node: ast.expr, texts: Mapping[str, str]) -> str:
    """Return the value of an expression that consists of literals, f-strings and names. Raises
    TypeError for other expressions."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return texts[name]
        case ast.JoinedStr(values=parts):
            return "".join(_text(part, texts) for part in parts)
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return _text(value, texts)
    raise TypeError(f"line {node.lineno} is more than a text")

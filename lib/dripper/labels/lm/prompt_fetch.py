"""Takes the public prompts from the package that their authors publish: downloaded, read as data,
never imported."""

import ast
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from dripper.errors import MachineError
from dripper.labels.lm.prompt import PUBLIC

PACKAGE = "mineru-html==1.1.2"
MODULE = "mineru_html/process/build_prompt.py"
# Stands for the page while the text is put together; no prompt holds it.
_PAGE = "\0"
# The one name that the prompts take from elsewhere (mineru_html.constants).
_CONSTANTS = {"ITEM_ID_ATTR": "_item_id"}


def fetch_prompts(folder: Path) -> list[Path]:
    """Download the package from the index that pip is set to, and write its five prompts into a
    folder; return the files.

    Raises MachineError where pip fails or a prompt is not the one that its checkpoint was trained
    on; then nothing is written.
    """
    with tempfile.TemporaryDirectory() as temporary:
        texts = read_prompts(_download(Path(temporary)))
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.txt" for name in texts]
    for file, text in zip(files, texts.values(), strict=True):
        file.write_bytes(text.encode())
    return files


def read_prompts(wheel: Path) -> dict[str, str]:
    """Return the public prompts in a wheel, by name, without a page. Raises MachineError where one
    is missing or another."""
    try:
        with zipfile.ZipFile(wheel) as opened:
            tree = ast.parse(opened.read(MODULE))
    except (OSError, KeyError, zipfile.BadZipFile, SyntaxError) as error:
        raise MachineError(f"{wheel.name} does not hold {MODULE}: {error}") from None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    texts = {}
    for name, public in PUBLIC.items():
        try:
            text = _returned(functions[public.function])
            prompt = public.split(name, text.replace(_PAGE, ""))
        except (KeyError, TypeError, ValueError) as error:
            raise MachineError(f"{wheel.name} has another prompt {name} than expected: {error}") from None
        texts[name] = prompt.text("")
    return texts


def _download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", PACKAGE]
    told = subprocess.run([*command, "--dest", str(folder)], capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if told.returncode or not wheels:
        raise MachineError(
            f"pip could not download {PACKAGE}: {told.stderr.strip().splitlines()[-1:] or told.returncode}"
        )
    return wheels[0]


def _returned(function: ast.FunctionDef) -> str:
    """Return the text that a function assigns to `prompt`, its first argument being the page."""
    known = {**_CONSTANTS, function.args.args[0].arg: _PAGE}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            known[node.targets[0].id] = _text(node.value, known)
    return known["prompt"]


def _text(node: ast.expr, known: Mapping[str, str]) -> str:
    """Return the value of an expression of literals, f-strings and names. Raises TypeError for
    anything else."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return known[name]
        case ast.JoinedStr(values=parts):
            return "".join(_text(part, known) for part in parts)
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return _text(value, known)
    raise TypeError(f"line {node.lineno} is more than a text")

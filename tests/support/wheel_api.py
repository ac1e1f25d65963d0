"""Reads the definitions in a wheel on the package index, without installing it or fetching all of
it: names are followed through its modules by syntax only."""

import ast
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
import urllib3

BUFFER_BYTES = 1 << 20
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign | ast.AnnAssign


class Found(NamedTuple):
    """A definition, and its module."""

    module: str
    node: Definition


class RangeFile(io.RawIOBase):
    """A file on a web server that is read piece by piece."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        auth = f"{parts.username}:{parts.password}" if parts.username else None
        self._headers = urllib3.make_headers(basic_auth=auth)
        self._url = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
        self._pool = urllib3.PoolManager(retries=urllib3.Retry(3, backoff_factor=1))
        self._at = 0
        asked = self._pool.request("GET", self._url, headers={**self._headers, "Range": "bytes=0-0"})
        if asked.status != 206:
            raise OSError(f"the server answers {asked.status} to a request for a part of a file")
        self._size = int(asked.headers["Content-Range"].rpartition("/")[2])

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        end = min(self._at + len(buffer), self._size)
        if end <= self._at:
            return 0
        headers = {**self._headers, "Range": f"bytes={self._at}-{end - 1}"}
        data = self._pool.request("GET", self._url, headers=headers).data
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class Wheel:
    """The Python of a wheel."""

    def __init__(self, opened: zipfile.ZipFile) -> None:
        self._opened = opened
        self._files = set(opened.namelist())
        self._parsed: dict[str, ast.Module | None] = {}

    def metadata(self) -> str:
        """Return the metadata of the wheel."""
        name = next(name for name in self._files if name.endswith(".dist-info/METADATA"))
        return self._opened.read(name).decode()

    def find(self, module: str, name: str) -> Found | None:
        """Return the definition of a name in a module, through any number of imports, or None."""
        tree = self._tree(module)
        if tree is None:
            return None
        for node in _statements(tree.body):
            if _defines(node, name):
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
                    return self.find(module, node.value.id)
                return Found(module, node)  # type: ignore[arg-type]
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return self.find(self._absolute(module, node), alias.name)
        return self._lazy(module, tree, name)

    def members(self, found: Found) -> set[str]:
        """Return the names that instances of a class have: fields, methods and attributes that its
        methods set, including its bases."""
        names = set[str]()
        for each in self._classes(found):
            assert isinstance(each.node, ast.ClassDef)
            for node in ast.walk(each.node):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    names.add(node.name)
                elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                    names.add(node.attr)
                elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    names.add(node.target.id)
                elif isinstance(node, ast.Assign):
                    names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        return names

    def parameters(self, found: Found, method: str = "") -> tuple[set[str], bool]:
        """Return the keyword arguments of a function, a method or (no method) a class, and whether
        it takes any other name too. A class without `__init__` takes its fields, as dataclasses
        do."""
        if isinstance(found.node, ast.FunctionDef):
            return _parameters(found.node)
        for each in self._classes(found):
            assert isinstance(each.node, ast.ClassDef)
            for node in each.node.body:
                if isinstance(node, ast.FunctionDef) and node.name == (method or "__init__"):
                    return _parameters(node)
        assert not method, f"{found.module} has no {method}"
        return self.members(found), False

    def _classes(self, found: Found) -> Iterator[Found]:
        yield found
        assert isinstance(found.node, ast.ClassDef), ast.dump(found.node)[:100]
        for base in found.node.bases:
            if isinstance(base, ast.Subscript):
                base = base.value
            if isinstance(base, ast.Name) and (above := self.find(found.module, base.id)) is not None:
                yield from self._classes(above)

    def _tree(self, module: str) -> ast.Module | None:
        if module not in self._parsed:
            path = module.replace(".", "/")
            file = next((name for name in (f"{path}.py", f"{path}/__init__.py") if name in self._files), None)
            self._parsed[module] = None if file is None else ast.parse(self._opened.read(file))
        return self._parsed[module]

    def _absolute(self, module: str, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        is_package = f"{module.replace('.', '/')}/__init__.py" in self._files
        parts = module.split(".")
        kept = parts[: len(parts) - node.level + is_package]
        return ".".join([*kept, *([node.module] if node.module else [])])

    def _lazy(self, module: str, tree: ast.Module, name: str) -> Found | None:
        """vLLM imports its public names on demand, by a table of `module:name`."""
        for node in tree.body:
            if isinstance(node, ast.Assign) and _defines(node, "MODULE_ATTRS"):
                place = ast.literal_eval(node.value).get(name)
                return self.find(module + place.split(":")[0], place.split(":")[1]) if place else None
        return None


@cache
def open_wheel(requirement: str) -> Wheel:
    """Return a wheel of the index that pip is set to; skips if it cannot be reached."""
    command = (
        "install --quiet --dry-run --ignore-installed --no-deps --only-binary=:all: --use-feature=fast-deps --report -"
    )
    told = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *command.split(), requirement],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if told.returncode:
        pytest.skip(f"pip finds no wheel for {requirement}: the index cannot be reached, or this is another platform")
    url = json.loads(told.stdout)["install"][0]["download_info"]["url"]
    try:
        return Wheel(zipfile.ZipFile(io.BufferedReader(RangeFile(url), BUFFER_BYTES)))
    except (OSError, urllib3.exceptions.HTTPError) as error:
        pytest.skip(f"{requirement} cannot be read in parts from the index: {type(error).__name__}")


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield a module's statements, also within `if` and `try`. Branches for type checkers come
    first; their replacements are in `else`."""
    for node in body:
        yield node
        for name in ("body", "orelse", "finalbody"):
            if isinstance(node, ast.If | ast.Try):
                yield from _statements(getattr(node, name, []))


def _defines(node: ast.stmt, name: str) -> bool:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name == name
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[set[str], bool]:
    arguments = node.args
    return {each.arg for each in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}, bool(
        arguments.kwarg
    )

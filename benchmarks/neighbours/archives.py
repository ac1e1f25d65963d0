"""Writes docs/neighbours/archives.md: how this project and four other readers read valid WARC
records.

`make neighbours` installs the other readers into a separate folder, and runs this script.

    python benchmarks/neighbours/archives.py FOLDER

FOLDER contains `python/bin/python` with warcio and FastWARC, `jars` with jwarc, and `node_modules`.
"""

import base64
import json
import subprocess
import sys
import tempfile
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tests"))

from dripper.warc import read_records  # noqa: E402
from support.neighbour_archives import Case, build_cases  # noqa: E402
from support.neighbour_rows import count_right, write_rows  # noqa: E402

VERSIONS = {"warcio": "1.8.1", "FastWARC": "2.0.1", "jwarc": "0.36.0", "warcio.js": "2.4.11"}
ADDRESS = "https://example.org/mill"

_SECONDS = len("2024-05-01T10:20:30")

INTRO = """# How readers read valid archives

Each row is a handwritten file that the standards allow. *Right* means that a reader returns the
pages of the file, with the bodies that a browser gets, the address without brackets, and the time
of capture. The readers were called as in their documentation, with decoding of bodies turned on.

Tested on {day} with {versions}, on Python {python}.
jwarc ran with zstd-jni and Brotli's `dec` and warcio with brotli and zstandard. `make neighbours`
repeats all of it.

Right: {right}. The second column of the table
names the readers that are not right.

"""


def read_ours(file: Path) -> Any:
    """Return the pages of a file in the format of the other readers' output."""
    with closing(read_records(str(file))) as reader:
        return [
            (page.url, page.fetched_at and page.fetched_at.isoformat(), base64.b64encode(page.payload).decode())
            for page in reader
        ]


def read_theirs(name: str, folder: Path, files: list[Path]) -> list[Any]:
    """Return another reader's result for each file: its pages, or the name of an error."""
    python = folder / "python" / "bin" / "python"
    command = {
        "warcio": [python, HERE / "by_python.py", "warcio"],
        "FastWARC": [python, HERE / "by_python.py", "FastWARC"],
        "jwarc": ["java", "-cp", f"{folder}/jars/*", HERE / "ByJwarc.java"],
        "warcio.js": ["node", folder / "by_warcio_js.mjs"],
    }[name]
    if name == "warcio.js":  # Node looks for packages beside the script
        (folder / "by_warcio_js.mjs").write_text((HERE / "by_warcio_js.mjs").read_text())
    done = subprocess.run([*map(str, command), *map(str, files)], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def judge(case: Case, found: Any) -> str:
    """Return a description of a reader's result for a case, such as "right"."""
    if isinstance(found, str):
        return f"refused ({found})" if found[0].isupper() else found
    bodies = [base64.b64decode(page[2]) for page in found]
    if bodies == list(case.expected):
        if found[0][0] != ADDRESS:
            return "right, with brackets"
        when = (found[-1][1] or "").partition("+")[0]
        is_right = not case.when or (
            len(when) >= _SECONDS and (case.when.startswith(when) or when.startswith(case.when))
        )
        return "right" if is_right else "the body, without a time"
    if len(bodies) != len(case.expected):
        return f"{len(bodies)} page{'s' * (len(bodies) != 1)}, not {len(case.expected)}"
    return _judge_body(bodies[0], case.expected[0])


def _judge_body(body: bytes, expected: bytes) -> str:
    if not body:
        return "an empty page"
    if body in expected:
        return f"{round(100 * len(body) / len(expected))} % of the page"
    if expected in body:
        return "the page with other bytes around it"
    return "the body as sent, not decoded"


def main(folder: Path) -> None:
    """Write the document."""
    cases = list(build_cases())
    with tempfile.TemporaryDirectory() as place:
        files = [Path(place, f"{number:02d}{case.suffix}") for number, case in enumerate(cases)]
        for file, case in zip(files, cases, strict=True):
            file.write_bytes(case.data)
        answers = {"dripper": list(map(read_ours, files))}
        answers |= {name: read_theirs(name, folder, files) for name in VERSIONS}
    found = {
        case.name: {name: judge(case, told[number]) for name, told in answers.items()}
        for number, case in enumerate(cases)
    }
    versions = ", ".join(f"{name} {version}" for name, version in VERSIONS.items())
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    text = INTRO.format(day=f"{date.today():%-d %B %Y}", versions=versions, python=python, right=count_right(found))
    text += write_rows("record", found) + "\n"
    target = ROOT / "docs" / "neighbours" / "archives.md"
    target.parent.mkdir(exist_ok=True)
    target.write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

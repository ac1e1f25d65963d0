"""Writes docs/neighbours/tables.md: how various readers read Delta tables of this project and of
others.

`make neighbours` installs the readers into separate environments, and runs this script.

    python benchmarks/neighbours/tables.py FOLDER

FOLDER contains the environments named in `PLACES`. Spark 4.0 writes and reads in one of them, and
Spark 4.2 in the project's own environment.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tests"))

from support.neighbour_rows import write_rows  # noqa: E402

Rows = list[list[str | None]]

PLACES = {
    "Spark 4.0": "spark",
    "Spark 4.2": "",
    "deltalake": "readers",
    "QueryBuilder": "readers",
    "Polars": "readers",
    "DuckDB": "duckdb",
    "Daft": "daft",
    "DataFusion": "datafusion",
    "chDB": "chdb",
}
"""Reader → its environment in the folder; "" means the project's own environment."""
VERSIONS = (
    "Spark 4.0.2 (Delta Lake 4.0.1) and 4.2.0 (4.4.0), deltalake 1.6.6, Polars 2.1.0 (with that deltalake), "
    "DuckDB 1.5.5 (extension 1.5.5), Daft 0.7.26, DataFusion 55.0.0 (with deltalake as its provider), chDB 4.4.0"
)

INTRO = """# How readers read Delta tables

Each row is a table with one feature of Delta. *Right* means three things: the reader returns all
rows and values, its count agrees, and a filter finds the matching rows. *Refused* means an error
instead of rows. Everything else is wrong **without an error**.

Tested on {day} with {versions}, on Python {python}. `deltalake` means
`DeltaTable.to_pyarrow_table`, `QueryBuilder` is its SQL interface. The first rows are the tables
of this project, the others were written by Spark 4.0.2. `make neighbours` repeats all of it.
[Tables](../tables.md#properties-that-you-may-set) lists the features that you may turn on.
The second column of the table names the readers that are not right.

"""
NOTES = """
**Which reader for which table.** All of them read this project's tables, with one exception: chDB
has no NULL for a map. If column mapping is turned on, do not use `to_pyarrow_table`. Polars
and `to_pyarrow_table` refuse v2 checkpoints. They refuse widened types, as do `QueryBuilder` and
DataFusion. `DeltaTable.count` and chDB's `count()` use the log, without deletion vectors, and the
former treats a file without statistics as empty. Filters of `to_pyarrow_table` lose rows of a file
with NaN, or with texts of the last character of Unicode.

**Times as partitions.** Delta stores the time of a partition as text, in the time zone of the session
that wrote it (here New York). A reader in another zone (here UTC) gets another time, and the
repeated hour in autumn becomes one hour. The tables of this project are partitioned by a number.
"""


def read(name: str, folder: Path, cases: Path) -> list[dict[str, Any]]:
    """Return a reader's results for each case."""
    python = str(folder / PLACES[name] / "bin" / "python") if PLACES[name] else sys.executable
    environment = {**os.environ, "TZ": "UTC", "PYSPARK_PYTHON": python, "OMP_NUM_THREADS": "1"}
    command = [python, str(HERE / "read_tables.py"), name.split()[0], str(cases)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if len(lines) != len(json.loads(cases.read_text())):
        raise SystemExit(f"{name} ended early: {done.stderr[-2000:]}")
    return lines


def judge(columns: list[str], wanted: Rows, find: list[str], answer: dict[str, Any]) -> str:
    """Return a description of a reader's results for a table, such as "right"."""
    wanted = sorted(wanted, key=str)
    told, count, found = (_like(answer[part], wanted) for part in ("rows", "count", "found"))
    fitting = [row for row in wanted if row[columns.index(find[0])] == find[1]]
    if isinstance(told, str):
        counted = f", but counts {count}" if isinstance(count, int) and count != len(wanted) else ""
        return f"refused ({told}){counted}"
    if told != wanted:
        return f"**{_judge_rows(told, wanted)}**"
    if count != len(wanted):
        return (
            f"rows right, count refused ({count})"
            if isinstance(count, str)
            else f"**counts {count}, not {len(wanted)}**"
        )
    if found != fitting:
        return (
            f"rows right, filter refused ({found})"
            if isinstance(found, str)
            else f"**a filter finds {len(found)} of {len(fitting)}**"
        )
    return "right"


def _like(told: Any, wanted: Rows) -> Any:
    """Return rows without time zones if the expected rows have none, because some readers have no
    type for times without a zone."""
    if not isinstance(told, list) or any(str(value).endswith("Z") for row in wanted for value in row):
        return told
    return [[value[:-1] if isinstance(value, str) and value.endswith("Z") else value for value in row] for row in told]


def _judge_rows(told: Rows, wanted: Rows) -> str:
    if len(told) != len(wanted):
        return f"{len(told)} rows, not {len(wanted)}"
    if all(value is None for row in told for value in row):
        return "every value NULL"
    if any(str(value).startswith("[['metadata'") for row in told for value in row):
        return "its two binary parts"
    row, column = next((r, c) for r in range(len(told)) for c in range(len(told[r])) if told[r][c] != wanted[r][c])
    one, other = ("NULL" if rows[row][column] is None else f"`{rows[row][column]}`" for rows in (told, wanted))
    return f"{one} for {other}".replace("|", "\\|")


def write_document(made: list[Any], answers: Mapping[str, list[dict[str, Any]]]) -> None:
    """Write the document. `made` are the cases in `cases.json`, and `answers` the results of each
    reader for each case."""
    found = {
        name: {reader: judge(columns, wanted, find, told[number]) for reader, told in answers.items()}
        for number, (_, name, columns, wanted, find) in enumerate(made)
    }
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    text = INTRO.format(day=f"{date.today():%-d %B %Y}", versions=VERSIONS, python=python)
    (ROOT / "docs" / "neighbours" / "tables.md").write_text(text + write_rows("table", found) + "\n" + NOTES)


def main(folder: Path) -> None:
    """Write the tables, read them, and write the document."""
    with tempfile.TemporaryDirectory() as place:
        older = str(folder / PLACES["Spark 4.0"] / "bin" / "python")
        for python, script in ((older, "write_tables.py"), (sys.executable, "write_our_tables.py")):
            environment = {**os.environ, "TZ": "UTC", "PYSPARK_PYTHON": python, "PYTHONPATH": str(ROOT / "lib")}
            subprocess.run([python, str(HERE / script), place], check=True, env=environment)
        cases = Path(place, "cases.json")
        write_document(json.loads(cases.read_text()), {name: read(name, folder, cases) for name in PLACES})


if __name__ == "__main__":
    main(Path(sys.argv[1]))

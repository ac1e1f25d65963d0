"""Writes this project's own tables, and inserts them before the cases of write_tables.py.

    python write_our_tables.py FOLDER

The tables come from a run over the sample archives, followed by `jobs/maintain.py`. The expected
rows are those that Spark reads here.
"""

import json
import subprocess
import sys
from pathlib import Path

from read_tables import by_spark, to_rows

ROOT = Path(__file__).parents[2]
TABLES = ("extractions", "published", "warc_files", "runs")


def main(folder: Path) -> None:
    """Write the tables, and add their cases."""
    output, conf = folder / "ours", ["--conf", str(ROOT / "conf" / "local.yml")]
    archives = str(ROOT / "tests" / "data" / "sample")
    run = ["jobs/run.py", "--warcs", archives, "--output", str(output), *conf]
    subprocess.run([sys.executable, *run], check=True, cwd=ROOT)
    publish = ["jobs/maintain.py", "--output", str(output), *conf, "--publish"]
    subprocess.run([sys.executable, *publish], check=True, cwd=ROOT)
    made = []
    for table in TABLES:
        path = str(output / table)
        shown = by_spark(path, [], ("batch", 0))[0]()
        columns = shown.column_names
        wanted = to_rows(shown, columns)
        name = next(name for name in ("page_id", "warc_file", "run_id") if name in columns)
        find = [name, wanted[0][columns.index(name)]]
        made.append([path, f"`{table}` of this project", columns, wanted, find])
    cases = folder / "cases.json"
    cases.write_text(json.dumps(made + json.loads(cases.read_text())))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

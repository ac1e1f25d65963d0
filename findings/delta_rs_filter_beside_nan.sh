#!/bin/sh
# A filter of `DeltaTable.to_pyarrow_table` loses the rows of a file that has NaN.
#
# Spark orders NaN above all numbers, and writes "NaN" as the maximum of such a file into the statistics
# of Delta's log. deltalake makes that a bound of the file, nothing compares with NaN, and the file is
# left out: a filter for a number that is there finds no row, and no error is raised. Its SQL engine,
# QueryBuilder, finds the row. The log is written by hand here, with the statistics as Spark 4.0.2 and
# Delta Lake 4.0.1 write them.
#
# deltalake 1.6.6, pyarrow 26.0.1, Python 3.11; 28 November 2026. Seen:
#   all rows: [(1, 5.0), (2, nan)]
#   to_pyarrow_table, score = 5.0: 0 rows; QueryBuilder: 1 row
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages deltalake==1.6.6 pyarrow==26.0.1
export PYTHONPATH=packages
python3 - <<'PY'
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, QueryBuilder

file = Path("table/part-0.parquet")
Path("table/_delta_log").mkdir(parents=True)
pq.write_table(pa.table({"id": pa.array([1, 2], pa.int32()), "score": [5.0, float("nan")]}), file)
fields = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in (("id", "integer"), ("score", "double"))]
statistics = {
    "numRecords": 2,
    "minValues": {"id": 1, "score": 5.0},
    "maxValues": {"id": 2, "score": "NaN"},
    "nullCount": {"id": 0, "score": 0},
}
actions = [
    {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
    {
        "metaData": {
            "id": "5e1f0c52-3333-4444-8555-666677778888",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps({"type": "struct", "fields": fields}),
            "partitionColumns": [],
            "configuration": {},
            "createdTime": 1714550400000,
        }
    },
    {
        "add": {
            "path": file.name,
            "partitionValues": {},
            "size": file.stat().st_size,
            "modificationTime": 1714550400000,
            "dataChange": True,
            "stats": json.dumps(statistics),
        }
    },
]
Path("table/_delta_log/00000000000000000000.json").write_text("".join(json.dumps(one) + "\n" for one in actions))

table = DeltaTable("table")
rows = [tuple(row.values()) for row in table.to_pyarrow_table().to_pylist()]
filtered = table.to_pyarrow_table(filters=[("score", "=", 5.0)]).num_rows
asked = pa.table(QueryBuilder().register("t", table).execute("SELECT * FROM t WHERE score = 5.0").read_all()).num_rows
print("all rows:", rows)
print(f"to_pyarrow_table, score = 5.0: {filtered} rows; QueryBuilder: {asked} row")
assert rows[0] == (1, 5.0)
assert filtered == 0
assert asked == 1
PY

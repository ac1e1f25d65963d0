#!/bin/sh
# `DeltaTable.count` is 0 for a table with rows, if the log has no statistics of its files.
#
# Statistics of a file are optional in Delta's protocol ("Per-file Statistics"): writers leave them out
# for speed, and Spark drops them at a checkpoint with delta.checkpoint.writeStatsAsJson=false. deltalake
# adds up the numbers of rows in the log, takes a missing number for 0, and raises no error.
# `to_pyarrow_table` and the SQL engine, QueryBuilder, give the rows. The log is written by hand here.
#
# deltalake 1.6.6, pyarrow 26.0.1, Python 3.11; 28 November 2026. Seen:
#   count: 0, rows: 3, QueryBuilder's count: 3
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
pq.write_table(pa.table({"id": pa.array([1, 2, 3], pa.int32())}), file)
schema = {"type": "struct", "fields": [{"name": "id", "type": "integer", "nullable": True, "metadata": {}}]}
add = {"path": file.name, "partitionValues": {}, "size": file.stat().st_size, "modificationTime": 1714550400000, "dataChange": True}
about = {
    "id": "7c3d9b1e-aaaa-4bbb-8ccc-ddddeeeeffff",
    "format": {"provider": "parquet", "options": {}},
    "schemaString": json.dumps(schema),
    "partitionColumns": [],
    "configuration": {},
    "createdTime": 1714550400000,
}
actions = [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": about}, {"add": add}]
Path("table/_delta_log/00000000000000000000.json").write_text("".join(json.dumps(one) + "\n" for one in actions))

table = DeltaTable("table")
count, rows = table.count(), table.to_pyarrow_table().num_rows
asked = pa.table(QueryBuilder().register("t", table).execute("SELECT count(*) AS n FROM t").read_all())["n"][0].as_py()
print(f"count: {count}, rows: {rows}, QueryBuilder's count: {asked}")
assert rows == asked == 3
assert count == 0
PY

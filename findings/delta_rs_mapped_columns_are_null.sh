#!/bin/sh
# `DeltaTable.to_pyarrow_table` gives NULL in every value of a table with mapped columns, and no error.
#
# Renaming or dropping a column makes Spark set `delta.columnMapping.mode`: from then on the Parquet
# files use physical names, and the log maps them (Delta's protocol, "Column Mapping"). deltalake opens
# such a table and returns the right names and the right number of rows, with each value NULL. Its own
# SQL engine, QueryBuilder, reads the values. The table is written by hand here, as the protocol has it:
# reader version 2, writer version 5.
#
# deltalake 1.6.6, pyarrow 26.0.1, Python 3.11; 28 November 2026. Seen:
#   to_pyarrow_table: [{'url': None}, {'url': None}]
#   QueryBuilder: ['https://example.org/1', 'https://example.org/2']
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m pip install --quiet --disable-pip-version-check --target packages deltalake==1.6.6 pyarrow==26.0.1
export PYTHONPATH=packages
python3 - <<'PY'
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, QueryBuilder

URLS = ["https://example.org/1", "https://example.org/2"]
field = pa.field("col-1f", pa.string(), metadata={"PARQUET:field_id": "1"})
Path("table/_delta_log").mkdir(parents=True)
pq.write_table(pa.table([pa.array(URLS)], schema=pa.schema([field])), "table/part-0.parquet")
mapping = {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "col-1f"}
schema = {"type": "struct", "fields": [{"name": "url", "type": "string", "nullable": True, "metadata": mapping}]}
actions = [
    {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}},
    {
        "metaData": {
            "id": "0a2b4c6d-1111-4222-8333-444455556666",
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps(schema),
            "partitionColumns": [],
            "configuration": {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "1"},
            "createdTime": 1714550400000,
        }
    },
    {
        "add": {
            "path": "part-0.parquet",
            "partitionValues": {},
            "size": os.path.getsize("table/part-0.parquet"),
            "modificationTime": 1714550400000,
            "dataChange": True,
            "stats": json.dumps({"numRecords": 2}),
        }
    },
]
Path("table/_delta_log/00000000000000000000.json").write_text("".join(json.dumps(one) + "\n" for one in actions))

table = DeltaTable("table")
rows = table.to_pyarrow_table().to_pylist()
found = QueryBuilder().register("t", table).execute("SELECT url FROM t ORDER BY url").read_all()
values = pa.table(found).column("url").to_pylist()
print("to_pyarrow_table:", rows)
print("QueryBuilder:", values)
assert rows == [{"url": None}, {"url": None}]
assert values == URLS
PY

"""Writes a Delta table for each feature of the format: `python write_tables.py FOLDER`.

This script requires Spark and Delta Lake. It writes a folder for each table to FOLDER, and
`cases.json`: a list of [folder, name of the feature, column names, rows, condition of a filter].
The rows follow from the SQL statements; their values are text in Spark's format.
"""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession

PLAIN = "CREATE TABLE {t} (id INT, url STRING, host STRING) USING delta"
FILL = "INSERT INTO {t} SELECT /*+ COALESCE(1) */ id, 'https://example.org/' || id, 'h' || id %% 3 FROM range(%d, %d)"
FIRST, SECOND = FILL % (0, 6), FILL % (6, 10)
MAPPED = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
LONG = "https://example.org/a/folder/with/a/long/name/"


def rows(first: int = 0, last: int = 10, host: bool = True) -> list[list[str | None]]:
    """Return the rows that `FILL` writes, as text."""
    return [[str(i), f"https://example.org/{i}", *([f"h{i % 3}"] if host else [])] for i in range(first, last)]


class Case(NamedTuple):
    """A table to write. statements: the SQL that creates the table, with `{t}` for its name.
    settings: the session's settings for these statements. wanted: the expected rows. find: the
    column and value that readers filter by. after: a function that is then applied to the table's
    folder."""

    name: str
    statements: tuple[str, ...]
    wanted: list[list[str | None]]
    columns: str = "id,url,host"
    find: tuple[str, str] = ("url", "https://example.org/5")
    settings: tuple[tuple[str, str], ...] = ()
    after: Callable[[Path], None] = lambda folder: None


def cut_log(folder: Path) -> None:
    """Remove the commits before the checkpoint, as log cleanup does."""
    for version in range(10):
        (folder / "_delta_log" / f"{version:020d}.json").unlink()
        (folder / "_delta_log" / f".{version:020d}.json.crc").unlink(missing_ok=True)


def _many(*more: str) -> tuple[str, ...]:
    """Return statements that create a table with a checkpoint at version 10."""
    return (
        PLAIN + " TBLPROPERTIES ('delta.checkpointInterval' = '10')",
        *more,
        *(FILL % (i, i + 1) for i in range(10)),
    )


DEFAULTS = {"spark.sql.session.timeZone": "UTC", "spark.databricks.delta.checkpoint.partSize": "1000000"}
NEW_YORK = (("spark.sql.session.timeZone", "America/New_York"),)
TIMES = "CREATE TABLE {t} (id INT, at TIMESTAMP) USING delta"
CASES = (
    Case("nothing turned on", (PLAIN, FIRST, SECOND), rows()),
    Case(
        "deletion vectors",
        (
            PLAIN + " TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
            FILL % (0, 10),
            "DELETE FROM {t} WHERE id < 3",
        ),
        rows(3),
    ),
    Case("column mapping by name", (f"{PLAIN} {MAPPED}", FIRST, SECOND), rows()),
    Case("column mapping by id", (PLAIN + " TBLPROPERTIES ('delta.columnMapping.mode' = 'id')", FIRST, SECOND), rows()),
    Case(
        "column mapping, and a column renamed",
        (f"{PLAIN} {MAPPED}", FIRST, "ALTER TABLE {t} RENAME COLUMN host TO site", SECOND),
        rows(),
        "id,url,site",
    ),
    Case(
        "column mapping, and a column dropped and added again",
        (
            f"{PLAIN} {MAPPED}",
            FIRST,
            "ALTER TABLE {t} DROP COLUMN host",
            "ALTER TABLE {t} ADD COLUMN host STRING",
            SECOND,
        ),
        [[*row[:2], None] for row in rows(0, 6)] + rows(6),
    ),
    Case(
        "type widening, INT to BIGINT",
        (
            PLAIN + " TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
            FIRST,
            "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
            SECOND,
        ),
        rows(),
    ),
    Case(
        "type widening, INT to DOUBLE",
        (
            PLAIN + " TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
            FIRST,
            "ALTER TABLE {t} ALTER COLUMN id TYPE DOUBLE",
            SECOND,
        ),
        [[f"{row[0]}.0", *row[1:]] for row in rows()],
    ),
    Case("a checkpoint, and the log before it removed", _many(), rows(), after=cut_log),
    Case(
        "a checkpoint in several parts",
        _many(),
        rows(),
        settings=(("spark.databricks.delta.checkpoint.partSize", "5"),),
        after=cut_log,
    ),
    Case(
        "a v2 checkpoint, and the log before it removed",
        _many("ALTER TABLE {t} SET TBLPROPERTIES ('delta.checkpointPolicy' = 'v2')")[:-1],
        rows(0, 9),
        after=cut_log,
    ),
    Case(
        "a checkpoint without statistics",
        _many(
            "ALTER TABLE {t} SET TBLPROPERTIES ('delta.checkpoint.writeStatsAsStruct' = 'true', "
            "'delta.checkpoint.writeStatsAsJson' = 'false')"
        )[:-1],
        rows(0, 9),
        after=cut_log,
    ),
    Case("clustering", (PLAIN + " CLUSTER BY (host)", FIRST, SECOND, "OPTIMIZE {t}"), rows()),
    Case("row tracking", (PLAIN + " TBLPROPERTIES ('delta.enableRowTracking' = 'true')", FIRST, SECOND), rows()),
    Case(
        "in-commit timestamps",
        (PLAIN + " TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", FIRST, SECOND),
        rows(),
    ),
    Case(
        "a change feed, and rows updated",
        (
            PLAIN + " TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
            FILL % (0, 10),
            "UPDATE {t} SET host = 'new' WHERE id = 3",
        ),
        [[*row[:2], "new" if row[0] == "3" else row[2]] for row in rows()],
    ),
    Case(
        "a shallow clone",
        (
            "CREATE TABLE delta.`{f}-source` (id INT, url STRING, host STRING) USING delta",
            (FILL % (0, 10)).replace("{t}", "delta.`{f}-source`"),
            "CREATE TABLE {t} SHALLOW CLONE delta.`{f}-source`",
        ),
        rows(),
    ),
    Case(
        "a column that was added later, with a default",
        (
            PLAIN + " TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
            FIRST,
            "ALTER TABLE {t} ADD COLUMN kind STRING",
            "ALTER TABLE {t} ALTER COLUMN kind SET DEFAULT 'page'",
            "INSERT INTO {t} (id, url, host) SELECT CAST(id AS INT), 'https://example.org/' || id, 'h' || id % 3 FROM range(6, 10)",
        ),
        [[*row, None] for row in rows(0, 6)] + [[*row, "page"] for row in rows(6)],
        "id,url,host,kind",
    ),
    Case(
        "VARIANT",
        (
            "CREATE TABLE {t} (id INT, url STRING, more VARIANT) USING delta",
            "INSERT INTO {t} SELECT id, 'https://example.org/' || id, parse_json('{{\"a\":' || id || '}}') FROM range(6)",
        ),
        [[str(i), f"https://example.org/{i}", f'{{"a":{i}}}'] for i in range(6)],
        "id,url,more",
    ),
    Case(
        "TIMESTAMP_NTZ",
        (
            "CREATE TABLE {t} (id INT, at TIMESTAMP_NTZ) USING delta",
            "INSERT INTO {t} VALUES (1, TIMESTAMP_NTZ '2024-05-01 00:00:00.000123'), (2, TIMESTAMP_NTZ '2024-03-10 02:30:00')",
        ),
        [["1", "2024-05-01T00:00:00.000123"], ["2", "2024-03-10T02:30:00"]],
        "id,at",
        ("id", "2"),
        NEW_YORK,
    ),
    Case(
        "partitions: empty text, NULL and signs",
        (
            "CREATE TABLE {t} (id INT, host STRING) USING delta PARTITIONED BY (host)",
            "INSERT INTO {t} VALUES (1, 'a/b c%=ü'), (2, NULL), (3, '__HIVE_DEFAULT_PARTITION__x'), (4, '+1')",
        ),
        [["1", "a/b c%=ü"], ["2", None], ["3", "__HIVE_DEFAULT_PARTITION__x"], ["4", "+1"]],
        "id,host",
        ("host", "a/b c%=ü"),
    ),
    Case(
        "partitions by TIMESTAMP, session in New York",
        (
            TIMES + " PARTITIONED BY (at)",
            "INSERT INTO {t} VALUES (1, TIMESTAMP '2024-07-01 16:00:00Z'), (2, TIMESTAMP '2024-12-01 16:00:00.5Z')",
        ),
        [["1", "2024-07-01T16:00:00Z"], ["2", "2024-12-01T16:00:00.500000Z"]],
        "id,at",
        ("id", "2"),
        NEW_YORK,
    ),
    Case(
        "partitions by TIMESTAMP, the hour that comes twice",
        (
            TIMES + " PARTITIONED BY (at)",
            "INSERT INTO {t} VALUES (1, TIMESTAMP '2024-11-03 05:30:00Z'), (2, TIMESTAMP '2024-11-03 06:30:00Z')",
        ),
        [["1", "2024-11-03T05:30:00Z"], ["2", "2024-11-03T06:30:00Z"]],
        "id,at",
        ("id", "2"),
        NEW_YORK,
    ),
    Case(
        "filter: microseconds within a millisecond",
        (TIMES, "INSERT INTO {t} VALUES (1, TIMESTAMP '2024-05-01 00:00:00.000456Z')"),
        [["1", "2024-05-01T00:00:00.000456Z"]],
        "id,at",
        ("at", "2024-05-01T00:00:00.000456Z"),
    ),
    Case(
        "filter: texts that are alike for 40 characters",
        (
            "CREATE TABLE {t} (id INT, url STRING) USING delta",
            f"INSERT INTO {{t}} VALUES (1, '{LONG}1'), (2, '{LONG}2')",
            f"INSERT INTO {{t}} VALUES (3, '{LONG}3')",
        ),
        [[str(i), f"{LONG}{i}"] for i in (1, 2, 3)],
        "id,url",
        ("url", f"{LONG}2"),
    ),
    Case(
        "filter: a text of the last character of Unicode",
        (
            "CREATE TABLE {t} (id INT, url STRING) USING delta",
            "INSERT INTO {t} VALUES (1, repeat('\U0010ffff', 40))",
            "INSERT INTO {t} VALUES (2, 'b')",
        ),
        [["1", "\U0010ffff" * 40], ["2", "b"]],
        "id,url",
        ("url", "\U0010ffff" * 40),
    ),
    Case(
        "filter: NaN beside numbers",
        (
            "CREATE TABLE {t} (id INT, score DOUBLE) USING delta",
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, DOUBLE('NaN')), (2, 5.0D)",
        ),
        [["1", "NaN"], ["2", "5.0"]],
        "id,score",
        ("score", "5.0"),
    ),
    Case(
        "filter: a column without bounds",
        (PLAIN + " TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'id')", FIRST, SECOND),
        rows(),
    ),
)


def main(folder: Path) -> None:
    """Write the tables."""
    builder = SparkSession.builder.master("local[1]").config(
        "spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"
    )
    builder = builder.config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    for key, value in {
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",
    }.items():
        builder = builder.config(key, value)
    spark = configure_spark_with_delta_pip(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    made = []
    for number, case in enumerate(CASES):
        place = folder / f"{number:02d}"
        shutil.rmtree(place, ignore_errors=True)
        for key, value in case.settings:
            spark.conf.set(key, value)
        for statement in case.statements:
            spark.sql(statement.format(t=f"delta.`{place}`", f=place))
        for key, _ in case.settings:
            spark.conf.set(key, DEFAULTS[key])
        case.after(place)
        made.append([str(place), case.name, case.columns.split(","), case.wanted, case.find])
        print(case.name, file=sys.stderr)
    (folder / "cases.json").write_text(json.dumps(made))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

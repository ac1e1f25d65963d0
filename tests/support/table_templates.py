"""New tables as copies of empty ones: making one by SQL takes half a second, and a staged run makes
six."""

import shutil
import threading
import uuid
from collections.abc import Callable
from functools import wraps
from pathlib import Path

from dripper.spark.tables.schemas import SCHEMA_VERSION, TABLES
from dripper.spark.tables.store import Tables

BringUp = Callable[[Tables, str, bool], bool]


def copying(bring_up: BringUp, templates: Path) -> BringUp:
    """Return `Tables.bring_up` as it is, but that a new table on the local disk is copied from one
    below `templates`.

    A template is made by `bring_up` itself, once for each schema. Tests of tables take it as it is,
    from `__wrapped__`.
    """
    lock = threading.Lock()

    @wraps(bring_up)
    def copy_or_make(tables: Tables, table: str, is_there: bool) -> bool:
        place = Path(tables.output) / table
        if is_there or tables.in_catalog or "://" in tables.output or place.exists():
            return bring_up(tables, table, is_there)
        schema, comment = TABLES[table]
        kind = f"{hash((schema.json(), comment, SCHEMA_VERSION)):x}"
        with lock:
            made = templates / kind / table
            if not made.exists():
                bring_up(Tables(tables._spark, str(templates / kind)), table, False)
        copy = shutil.copytree(made, templates / uuid.uuid4().hex)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            copy.rename(place)
        except OSError:  # Another driver was here first, or no table can be here: SQL has the better error.
            return bring_up(tables, table, is_there)
        return True

    return copy_or_make

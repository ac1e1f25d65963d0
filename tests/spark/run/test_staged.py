"""The checks of a stage before it works, in memory; test_stage_run.py has whole runs."""

from typing import Any

import pytest

from dripper.spark.run.batch_checks import LostRowsError
from dripper.spark.run.staged import StagedJob
from dripper.spark.tables.batches import Batch, PlannedFile


class Counted:
    """The rows of a batch in the table `pages`, used only to count the rows of each file."""

    def __init__(self, **rows: int) -> None:
        self._rows = rows

    def groupBy(self, *_: str) -> "Counted":
        return self

    def count(self) -> "Counted":
        return self

    def collect(self) -> list[dict[str, Any]]:
        return [{"warc_file": name, "count": n} for name, n in self._rows.items()]

    def where(self, *_: Any) -> "Counted":
        raise AssertionError("it went on to the next look")


@pytest.mark.parametrize("stage", ["label", "extract"])
@pytest.mark.parametrize("rows", [{"a": 1}, {}, {"a": 3}])
def test_a_stage_goes_by_what_the_ledger_counted_not_by_the_table_before_it(
    stage: str, rows: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A comparison with another table would miss the loss if both were emptied."""
    job = object.__new__(StagedJob)
    counted = [{"warc_file": name, "rows": n, "others": 0} for name, n in rows.items()]
    monkeypatch.setattr("dripper.spark.run.batch_checks.count_by_file", lambda pages: counted)
    monkeypatch.setattr(job, "_batch_of", lambda table, batch: Counted(**rows), raising=False)
    monkeypatch.setattr(job, "_files_of", lambda batch: [{"warc_file": "a", "pages": 2}], raising=False)
    with pytest.raises(LostRowsError, match="of the 2 pages that were read from a") as lost:
        job._check_before(stage, Batch(1, (PlannedFile("a"),)))
    assert lost.value.stage == "preprocess"

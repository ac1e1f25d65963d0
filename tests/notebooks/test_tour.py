"""The tour runs from top to bottom over tables as `make run` leaves them."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from pyspark.sql import SparkSession

from dripper.settings import Settings
from dripper.spark.run.run import run

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[2]


def test_the_tour(spark: SparkSession, sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run(spark, str(sample.relative_to(ROOT)), str(tmp_path), Settings())
    monkeypatch.setenv("DRIPPER_OUTPUT", str(tmp_path))
    notebook = nbformat.read(ROOT / "notebooks" / "tour.ipynb", as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(ROOT / "notebooks")}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    shown = "".join(str(output.get("data", {})) for output in outputs)
    assert "image/png" in shown
    assert "srcdoc" in shown
    tables = [text for output in outputs if "<table>" in (text := output.get("data", {}).get("text/html", ""))]
    assert [text for text in tables if "<td" not in text] == []
    assert "not html" in shown
    assert "it is a PDF" in shown
    assert "The ferry leaves at noon." in shown

"""The extractor for datatrove in datatrove's own executor, readers and writers (make
test-adapters)."""

import json
from pathlib import Path

import pytest

import dripper
from dripper.errors import SettingsError
from support.warcs import page

pytest.importorskip("datatrove", reason="datatrove is not installed: make test-adapters")

from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

from dripper.adapters.datatrove import Dripper

LABELLED = Path(__file__).parents[1] / "data" / "labelled" / "wcxb-dev" / "html"
REAL = [file.read_text(encoding="utf-8", errors="replace") for file in sorted(LABELLED.glob("*.html"))[:3]]
HOSTILE = ["", "<html><body></body></html>", "%PDF-1.7 \0\1\2\3", "<div>" * 60_000]


def documents(*pages: str) -> list[Document]:
    return [Document(text, str(i), metadata={"url": f"https://example.org/{i}/"}) for i, text in enumerate(pages)]


def test_each_document_has_what_extract_gives_and_keeps_its_place() -> None:
    step = Dripper()
    made = list(step.run(documents(*REAL, *HOSTILE, REAL[0])))
    assert [document.id for document in made] == ["0", "1", "2", "7"]
    for document, html in zip(made, [*REAL, REAL[0]], strict=True):
        alone = dripper.extract(html, url=document.metadata["url"])
        assert document.text == alone.markdown
        assert (document.metadata["title"], document.metadata["method"]) == (alone.title, alone.method)
    stats = {name: found.total for name, found in step.stats.stats.items()}
    assert (stats["total"], stats["forwarded"], stats["dropped"]) == (8, 4, 4)
    assert stats["dropped_empty_page"] == 2
    assert stats["dropped_not_html"] == stats["dropped_parse_failed"] == 1


@pytest.mark.parametrize("form", ["text", "main_html"])
def test_other_forms_and_settings(form: str) -> None:
    html = page(1)[1].decode()
    (document,) = Dripper(form, labeler="all").run(documents(html))
    assert document.text == getattr(dripper.extract(html, url="https://example.org/0/", labeler="all"), form)
    assert Dripper(form, labeler="all").extract(html) == getattr(dripper.extract(html, labeler="all"), form)


def test_a_page_over_its_limits_takes_nothing_down() -> None:
    step = Dripper(settings={"limits.page_cpu_seconds": 1, "limits.page_memory_bytes": 67108864})
    made = list(step.run(documents("<p>x" * 4_000_000, "<p>good")))
    assert [document.text for document in made] == ["good\n"]


def test_in_a_pipeline_with_a_writer_for_what_failed(tmp_path: Path) -> None:
    lines = [
        json.dumps({"text": html, "id": str(i), "url": f"https://example.org/{i}/"})
        for i, html in enumerate([*REAL, *HOSTILE])
    ]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "pages.jsonl").write_text("\n".join(lines))
    failed = JsonlWriter(str(tmp_path / "failed"), compression=None)
    steps = [
        JsonlReader(str(tmp_path / "in")),
        Dripper(exclusion_writer=failed),
        JsonlWriter(str(tmp_path / "out"), compression=None),
    ]
    LocalPipelineExecutor(steps, tasks=1, logging_dir=str(tmp_path / "logs")).run()
    out, bad = (
        [json.loads(line) for file in (tmp_path / name).glob("*.jsonl") for line in file.read_text().splitlines()]
        for name in ("out", "failed")
    )
    assert [row["text"] for row in out] == [
        dripper.extract(html, url=f"https://example.org/{i}/").markdown for i, html in enumerate(REAL)
    ]
    # The reader leaves empty texts out itself.
    assert [row["metadata"]["error_code"] for row in bad] == ["empty_page", "not_html", "parse_failed"]
    assert bad[1]["text"] == HOSTILE[2]


def test_what_cannot_work_is_told_at_once() -> None:
    with pytest.raises(SettingsError, match="form='pdf': there are markdown, text, main_html"):
        Dripper("pdf")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="cannot be shared with the processes"):
        Dripper(labeler="lm", model="/m")

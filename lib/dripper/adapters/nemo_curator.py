"""Extracts main content in NeMo Curator, either as pipeline stages or in its download stages.

    pipeline.add_stage(DripperPages(labeler="cpu,lm", model="…", gpus=1))

This stage splits pages on CPUs, uses GPUs to label the pages that `cpu` is unsure of, and finishes
all pages on CPUs. The output has a row for every page; the row of a page that fails has an
`error_code`.

    CommonCrawlDownloadExtractStage(…, html_extraction=DripperAlgorithm())

This algorithm replaces Curator's jusText. Curator still detects the language first, and drops pages
in languages for which it has no stop words.

    DocumentDownloadExtractStage(…, iterator=CommonCrawlWarcIterator(),
                                 extractor=DripperExtractor())

This extractor replaces the whole `CommonCrawlHTMLExtractor`. Unlike that extractor, it accepts
every language, uses the page's URL, and reports why a page has no content.

All three run in Curator's own processes, which cannot be forked safely because they have threads.
Therefore, only the HTML parser's limits apply, not the limits on CPU time and memory.
"""

import re
from collections.abc import Mapping
from typing import Any

from dripper import extras as optional
from dripper.adapters import Form, PageStep
from dripper.adapters.steps import EXTRACTED, PagePlan, finish_table, label_table, preprocess_table
from dripper.labels.base import Closable
from dripper.labels.engine import Engine, Loader, load_labeler
from dripper.page.extraction import shared_extractor
from dripper.settings import Settings

with optional.needed("dripper.adapters.nemo_curator", "nemo"):
    import pyarrow as pa
    from nemo_curator.stages.base import CompositeStage, ProcessingStage
    from nemo_curator.stages.resources import Resources
    from nemo_curator.stages.text.download import DocumentExtractor
    from nemo_curator.stages.text.download.html_extractors import HTMLExtractorAlgorithm
    from nemo_curator.tasks import DocumentBatch

_BETWEEN = re.compile(r"\n{2,}")


class DripperAlgorithm(PageStep, HTMLExtractorAlgorithm):  # type: ignore[misc]
    """Extracts the main content of a page as paragraphs, which Curator then joins.

    The arguments are the same as for `PageStep`.
    """

    def extract_text(self, html: str, stop_words: frozenset[str], language: str) -> list[str] | None:
        """Return the paragraphs, or None if there are none. Ignores `stop_words` and `language`."""
        text = self.select(shared_extractor(self.settings).extract(html)).strip()
        return _BETWEEN.split(text) if text else None


class DripperExtractor(PageStep, DocumentExtractor):  # type: ignore[misc]
    """Extracts the main content of a record: reads the page in `content`, and writes `text`.

    Args:
        form: `markdown`, `text` or `main_html`.
        labeler, settings, options: As in `dripper.extract`.
        keep_failed: Whether to keep pages without main content, as records with an `error_code` and
            no text. By default these pages are dropped, as in Curator's own extractors.

    Raises:
        UsageError: The form, the labeler or a setting is invalid.
    """

    def __init__(
        self,
        form: Form = "markdown",
        labeler: str | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        *,
        keep_failed: bool = False,
        **options: Any,
    ) -> None:
        PageStep.__init__(self, form, labeler, settings, **options)
        DocumentExtractor.__init__(self)
        self.keep_failed = keep_failed

    def extract(self, record: dict[str, Any]) -> dict[str, Any] | None:
        """Return the record with its text, or None if it has no text and `keep_failed` is not
        set."""
        extraction = shared_extractor(self.settings).extract(record.get("content") or b"", record.get("url"))
        text = self.select(extraction)
        if not text and not self.keep_failed:
            return None
        place = {name: record.get(name) for name in ("url", "warc_id", "source_id")}
        fields = {
            "language": extraction.language,
            "title": extraction.title,
            "confidence": extraction.confidence,
            "error_code": extraction.error_code.value if extraction.error_code else None,
        }
        return place | fields | {"text": text}

    def input_columns(self) -> list[str]:
        """Return the columns that a record needs."""
        return ["url", "warc_id", "source_id", "content"]

    def output_columns(self) -> list[str]:
        """Return the columns of an extracted record."""
        return ["url", "warc_id", "source_id", "language", "title", "confidence", "error_code", "text"]


class DripperPages(CompositeStage[DocumentBatch, DocumentBatch]):  # type: ignore[misc]
    """Replaces the pages in document batches with their main content, in two or three stages.

    The stages are `dripper_prepare`, `dripper_label` (only for labelers that run in their own
    stage, such as `lm` and `encoder`) and `dripper_finish`. The resources and worker counts of the
    stages can be changed with `with_`. A batch keeps its other columns, and gains the columns in
    `dripper.adapters.steps.EXTRACTED`.

    Args:
        labeler, settings, options: As in `dripper.extract`. In a chain, such as `cpu,lm`, the first
            labeler runs in the first stage, and `labeler.escalate_below` decides which pages go to
            the next labeler.
        form: The field of an extraction that becomes `text`: `markdown`, `text` or `main_html`.
        content, url: The columns with the pages (bytes or text) and their URLs.
        gpus: GPUs per engine. None means one GPU if the labeler runs on GPUs, else 0.
        batches: The number of document batches that an engine gets at a time.
        loader: Loads the labeler of an engine. By default, the labeler comes from the registry.

    Raises:
        UsageError: The form, the labeler or a setting is invalid.
    """

    name = "dripper"

    def __init__(
        self,
        labeler: str | None = None,
        settings: Settings | Mapping[str, Any] | None = None,
        *,
        form: Form = "markdown",
        content: str = "content",
        url: str = "url",
        gpus: float | None = None,
        batches: int = 4,
        loader: Loader = load_labeler,
        **options: Any,
    ) -> None:
        super().__init__()
        self._plan = PagePlan.make(labeler, settings, options, form=form, content=content, url=url, loader=loader)
        self._gpus = float(self._plan.asks_gpu) if gpus is None else gpus
        self._batches = batches

    def decompose(self) -> list[ProcessingStage]:
        """Return the stages."""
        engine = [LabelStage(self._plan, self._gpus, self._batches)] if self._plan.asks_engine else []
        return [PrepareStage(self._plan), *engine, FinishStage(self._plan)]


class _TableStage(ProcessingStage[DocumentBatch, DocumentBatch]):  # type: ignore[misc]
    """A stage that processes the Arrow tables of document batches."""

    def __init__(self, plan: PagePlan) -> None:
        self._plan = plan

    def _work(self, pages: pa.Table) -> pa.Table:
        raise NotImplementedError

    def process(self, task: DocumentBatch) -> DocumentBatch:
        """Return the batch with the same rows. The stage adds and drops columns."""
        return _replace_data(task, self._work(task.to_pyarrow()))


def _replace_data(batch: DocumentBatch, pages: pa.Table) -> DocumentBatch:
    return DocumentBatch(
        dataset_name=batch.dataset_name, data=pages, _metadata=batch._metadata, _stage_perf=batch._stage_perf
    )


class PrepareStage(_TableStage):
    """Splits pages into blocks, on CPUs."""

    name = "dripper_prepare"

    def inputs(self) -> tuple[list[str], list[str]]:
        """Return the columns that a batch needs."""
        return ["data"], [self._plan.content]

    def _work(self, pages: pa.Table) -> pa.Table:
        return preprocess_table(pages, self._plan)


class LabelStage(_TableStage):
    """Labels the blocks of pages with one engine per worker."""

    name = "dripper_label"

    def __init__(self, plan: PagePlan, gpus: float, batches: int) -> None:
        super().__init__(plan)
        self.resources = Resources(cpus=1.0, gpus=gpus)
        self.batch_size = batches
        self._engine: Engine | None = None

    def setup(self, worker_metadata: Any = None) -> None:
        """Start the engine. Curator has already given this worker its GPU."""
        self._engine = self._plan.start_engine()

    def process_batch(self, tasks: list[DocumentBatch]) -> list[DocumentBatch]:
        """Return the batches with labels. The engine labels the pages of all batches together."""
        tables = [task.to_pyarrow() for task in tasks]
        columns = [name for name in tables[0].column_names if name.startswith("dripper_")]
        together = pa.concat_tables([table.select(columns) for table in tables])
        labels = self._work(together)["dripper_labels"].combine_chunks()
        batches, start = [], 0
        for task, table in zip(tasks, tables, strict=True):
            part = pa.chunked_array([labels.slice(start, len(table))]) if len(table) else labels.slice(0, 0)
            batches.append(_replace_data(task, table.append_column("dripper_labels", part)))
            start += len(table)
        return batches

    def teardown(self) -> None:
        """Release the engine."""
        if self._engine is not None and isinstance(self._engine.labeler, Closable):
            self._engine.labeler.close()
        self._engine = None

    def _work(self, pages: pa.Table) -> pa.Table:
        if self._engine is None:
            self.setup()
        assert self._engine is not None
        return label_table(pages, self._plan, self._engine)


class FinishStage(_TableStage):
    """Creates main HTML, Markdown and metadata from labelled pages, on CPUs."""

    name = "dripper_finish"

    def outputs(self) -> tuple[list[str], list[str]]:
        """Return the columns that this stage adds to a batch."""
        return ["data"], [field.name for field in EXTRACTED]

    def _work(self, pages: pa.Table) -> pa.Table:
        return finish_table(pages, self._plan)

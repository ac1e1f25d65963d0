"""Extracts main content in Ray Data, on CPUs and GPUs at the same time.

    pages = ray.data.read_parquet("pages/")  # columns content (HTML) and url
    extract_dataset(pages, "cpu,lm", model="…", concurrency=4).write_parquet("extracted/")

CPU tasks split the pages, actors with one GPU each label them in batches, and CPU tasks finish
them. Every page remains a row; a page that fails has an `error_code`.

Ray's workers cannot be forked safely, because they have threads. Therefore, only the HTML parser's
limits apply, not the limits on CPU time and memory.
"""

from collections.abc import Mapping
from typing import Any

from dripper import extras as optional
from dripper.adapters import Form
from dripper.adapters.steps import PagePlan, finish_table, label_table, preprocess_table
from dripper.labels.engine import Loader, load_labeler
from dripper.settings import Settings

with optional.needed("dripper.adapters.ray_data", "ray"):
    import pyarrow as pa
    from ray.data import Dataset


def extract_dataset(
    pages: Dataset,
    labeler: str | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    *,
    form: Form = "markdown",
    content: str = "content",
    url: str = "url",
    concurrency: int | tuple[int, int] = 1,
    num_gpus: float | None = None,
    batch_pages: int = 1024,
    loader: Loader = load_labeler,
    **options: Any,
) -> Dataset:
    """Replace the `content` column with the columns in `dripper.adapters.steps.EXTRACTED`. By
    default, Ray Data does not preserve the row order.

    Args:
        labeler, settings, options: As in `dripper.extract`. In a chain, such as `cpu,lm`, the first
            labeler runs in the tasks that split pages, and `labeler.escalate_below` decides which
            pages go to the engines.
        form: The field of an extraction that becomes `text`: `markdown`, `text` or `main_html`.
        content, url: The columns with the pages (bytes or text) and their URLs.
        concurrency: The number of engines, or the minimum and maximum number. Engines start only
            for a labeler that runs in its own stage, such as `lm` or `encoder`.
        num_gpus: GPUs per engine. None means one GPU if the labeler runs on GPUs, else 0.
        batch_pages: The number of pages that an actor gets at a time. The actor splits them into
            engine batches of at most 256 pages and about a million tokens.
        loader: Loads the labeler of an engine. By default, the labeler comes from the registry.

    Raises:
        UsageError: The form, the labeler or a setting is invalid.
    """
    plan = PagePlan.make(labeler, settings, options, form=form, content=content, url=url, loader=loader)
    prepared = pages.map_batches(
        preprocess_table, batch_format="pyarrow", batch_size=_CPU_PAGES, fn_kwargs={"plan": plan}
    )
    if plan.asks_engine:
        prepared = prepared.map_batches(
            _Labelling,
            batch_format="pyarrow",
            batch_size=batch_pages,
            concurrency=concurrency,
            num_gpus=float(plan.asks_gpu) if num_gpus is None else num_gpus,
            fn_constructor_kwargs={"plan": plan},
        )
    return prepared.map_batches(finish_table, batch_format="pyarrow", batch_size=_CPU_PAGES, fn_kwargs={"plan": plan})


_CPU_PAGES = 256
"""Number of pages that a CPU task gets at a time. They take a few seconds."""


class _Labelling:
    """Labels pages in an actor, with an engine that is started once."""

    def __init__(self, plan: PagePlan) -> None:
        self._plan = plan
        self._engine = plan.start_engine()

    def __call__(self, pages: pa.Table) -> pa.Table:
        return label_table(pages, self._plan, self._engine)

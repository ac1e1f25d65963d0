"""Extracts the pages in Arrow tables in three steps: CPUs split the pages, an engine labels the
blocks, and CPUs finish the pages. A pipeline can therefore keep CPUs and GPUs busy at the same
time.

Between the steps, the data about a page are in columns with names that begin with `dripper_`. No
page is lost: a page that fails has an `error_code`. The workers cannot be forked safely, because
they have threads. Therefore, only the HTML parser's limits apply, not the limits on CPU time and
memory.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from dripper.adapters import Form, check_form, collect_declared, select_text
from dripper.errors import ErrorCode, InputError, PageError, SettingsError, UsageError
from dripper.guard import run_item
from dripper.labels import Labeler, Labels, SimplifiedPage
from dripper.labels.chain import chain_of, is_sure
from dripper.labels.config import split_settings
from dripper.labels.cost import estimate_tokens
from dripper.labels.engine import Engine, Loader, check_labeler, environment, groups, load_labeler
from dripper.labels.entry import CountTokens, Use
from dripper.labels.registry import (
    bound_of,
    check_use,
    find_entry,
    labeler_settings,
    load_from_settings,
    runs_staged,
    split_into_stages,
)
from dripper.page.extraction import Extraction, check_single_pages, make_failed
from dripper.page.finish import Finisher
from dripper.page.rows import Row, extraction_columns, outcome_columns, storable
from dripper.page.stages import (
    Preprocessed,
    finish_row,
    preprocess_page,
    preprocessed_columns,
    read_first_labels,
    with_first_labels,
)
from dripper.settings import LabelerSettings, Settings

_PREPROCESSED: Sequence[pa.Field] = (
    pa.field("dripper_page", pa.large_string()),
    pa.field("dripper_simplified", pa.large_string()),
    pa.field("dripper_blocks", pa.int32()),
    pa.field("dripper_tokens", pa.int64()),
)
"""Columns that the first step adds. `dripper_simplified` is null if no engine has to label the
page."""
_LABELLED = pa.field("dripper_labels", pa.large_string())
EXTRACTED: Sequence[pa.Field] = (
    pa.field("text", pa.large_string()),
    *(pa.field(name, pa.string()) for name in ("title", "language", "method", "page_kind")),
    pa.field("confidence", pa.float64()),
    *(pa.field(name, pa.int32()) for name in ("n_blocks", "n_main")),
    *(pa.field(name, pa.string()) for name in ("authors", "published", "site", "error_code", "error_detail")),
)
"""The columns that replace the page's columns in the last step."""


@dataclass(frozen=True, slots=True)
class PagePlan:
    """The settings of an extraction, which all steps and workers share."""

    settings: Settings
    form: Form = "markdown"
    content: str = "content"
    """The column with the pages, as bytes or text."""
    url: str = "url"
    """The column with the pages' URLs, against which relative links are resolved. The column may be
    absent."""
    loader: Loader = load_labeler

    @classmethod
    def make(
        cls,
        labeler: str | None,
        settings: Settings | Mapping[str, Any] | None,
        options: Mapping[str, Any],
        **named: Any,
    ) -> "PagePlan":
        """Create a plan, after checking everything that can be checked without a GPU. Raises
        UsageError if anything is wrong.

        Args:
            labeler, settings, options: As in `dripper.extract`.
            named: Values for the other fields of the plan.
        """
        check_form(named.get("form", "markdown"))
        plan = cls(split_settings(labeler, settings, options), **named)
        resolved = plan.settings
        check_single_pages(resolved)
        if resolved.labeler.escalate_share is not None:
            raise SettingsError(
                "labeler.escalate_share compares the pages of a job's batch: set labeler.escalate_below instead"
            )
        stages = ("preprocess", "label", "extract") if plan.asks_engine else ()
        check_use(resolved.labeler, resolved.labels, Use(resolved.profile, stages))
        if plan.asks_engine:
            check_labeler(plan._in_engine, plan.loader)
        return plan

    @property
    def asks_engine(self) -> bool:
        """Whether an engine must label pages in a step of its own."""
        return runs_staged(self.settings.labeler)

    @property
    def asks_gpu(self) -> bool:
        """Whether the engine is meant to run on GPUs."""
        return self.asks_engine and any(find_entry(name).gpus for name in chain_of(self._last.name))

    @property
    def _last(self) -> LabelerSettings:
        return split_into_stages(self.settings.labeler)[1]

    @property
    def _in_engine(self) -> Settings:
        return self.settings.model_copy(update={"labeler": self._last})

    def start_engine(self) -> Engine:
        """Start the engine for a worker of the labelling step."""
        settings = self._in_engine
        os.environ.update(environment(settings))
        return Engine(lambda: self.loader(settings))


def preprocess_table(pages: pa.Table, plan: PagePlan) -> pa.Table:
    """Split the pages into blocks, and drop the content column (`plan.content`). Raises InputError
    if this column is missing."""
    if plan.content not in pages.column_names:
        raise InputError(f"pages have no column {plan.content!r}; there are {', '.join(pages.column_names) or 'none'}")
    preprocessing = _preprocessing(plan.settings.model_dump_json())
    urls = pages.column(plan.url).to_pylist() if plan.url in pages.column_names else [None] * len(pages)
    rows = [
        preprocessing.preprocess(html, url)
        for html, url in zip(pages.column(plan.content).to_pylist(), urls, strict=True)
    ]
    return _append(pages.drop_columns([plan.content]), _PREPROCESSED, rows)


def label_table(pages: pa.Table, plan: PagePlan, engine: Engine) -> pa.Table:
    """Label the prepared pages that need labels. Raises EngineError if the engine cannot label
    pages at all."""
    is_chain = split_into_stages(plan.settings.labeler)[0] is not None
    prepared = pages.column(_PREPROCESSED[0].name).to_pylist() if is_chain else []
    columns = {field.name.removeprefix("dripper_"): pages.column(field.name).to_pylist() for field in _PREPROCESSED[1:]}
    questions = [
        {"row": row, "simplified": simplified, "blocks": blocks, "tokens": tokens}
        for row, (simplified, blocks, tokens) in enumerate(zip(*columns.values(), strict=True))
        if simplified is not None
    ]
    # Sort by length so that pages of similar length share batches, as in the `label` stage of a
    # job.
    questions.sort(key=lambda page: -page["tokens"])
    labels: list[Row] = [{_LABELLED.name: None} for _ in range(len(pages))]
    by = {"labeler": engine.labeler.name, "labeler_version": engine.labeler.version}
    for group in groups(questions):
        drafts = [_read_draft(prepared[page["row"]]) if is_chain else None for page in group]
        outcomes = engine.label(
            [
                SimplifiedPage(page["simplified"], page["blocks"], draft)
                for page, draft in zip(group, drafts, strict=True)
            ]
        )
        for page, outcome in zip(group, outcomes, strict=True):
            answer = storable(by | outcome_columns(outcome) | {"probability": None})
            labels[page["row"]] = {_LABELLED.name: json.dumps(answer)}
    return _append(pages.drop_columns(["dripper_simplified"]), (_LABELLED,), labels)


def _read_draft(page: str) -> Labels | None:
    first = json.loads(page)["first_labels"]
    return None if first is None else read_first_labels(first)


def finish_table(pages: pa.Table, plan: PagePlan) -> pa.Table:
    """Replace the prepared pages with the columns `EXTRACTED`: the main content, or an error."""
    finisher = _finisher(plan.settings.model_dump_json())
    has_labels = _LABELLED.name in pages.column_names
    labels = pages.column(_LABELLED.name).to_pylist() if has_labels else [None] * len(pages)
    rows = []
    for page, answer in zip(pages.column("dripper_page").to_pylist(), labels, strict=True):
        extraction = _finish(finisher, json.loads(page), json.loads(answer or "{}"))
        text = select_text(extraction, plan.form)
        rows.append(storable(_describe(extraction) | {"text": text}))
    own_columns = [name for name in pages.column_names if name.startswith("dripper_")]
    return _append(pages.drop_columns(own_columns), EXTRACTED, rows)


class _Preprocessing:
    """Runs the first step in a worker."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        first, last = split_into_stages(settings.labeler) if runs_staged(settings.labeler) else (settings.labeler, None)
        self._first: Labeler | None = load_from_settings(first, settings.labels) if first is not None else None
        self._below = bound_of(settings.labeler) if last is not None else None
        self._count_tokens: CountTokens = estimate_tokens
        if last is not None:
            name = chain_of(last.name)[0]
            count_tokens = find_entry(name).count_tokens(labeler_settings(name, settings.labels))
            self._count_tokens = count_tokens or estimate_tokens

    def preprocess(self, html: bytes | str | None, url: str | None) -> Row:
        """Preprocess a page, and return the values for the `_PREPROCESSED` columns."""
        split = lambda html: preprocess_page(html, None, url, self._settings, self._count_tokens, self._first)  # noqa: E731
        page = run_item(split, html or b"")
        if isinstance(page, UsageError):
            raise page
        if isinstance(page, PageError):
            page = Preprocessed(error_code=page.code, error_detail=page.detail)
        by = (self._first.name, self._first.version) if self._first is not None else None
        row = storable(preprocessed_columns(page, self._settings.profile, by) | {"url": page.url})
        simplified = row.pop("simplified_html")
        return {
            "dripper_page": json.dumps(row),
            "dripper_simplified": simplified if self._goes_on(page) else None,
            "dripper_blocks": row["n_blocks"],
            "dripper_tokens": row["tokens"],
        }

    def _goes_on(self, page: Preprocessed) -> bool:
        if self._below is None or page.error_code is not None:
            return False
        return page.labels is None or not is_sure(page.labels, self._below)


@lru_cache(maxsize=4)
def _preprocessing(settings: str) -> _Preprocessing:
    """Return the `_Preprocessing` of this process. `settings` is JSON, which is hashable, unlike
    `Settings`."""
    return _Preprocessing(Settings.model_validate_json(settings))


@lru_cache(maxsize=4)
def _finisher(settings: str) -> Finisher:
    """Return the `Finisher` of this process. `settings` is JSON, as for `_preprocessing`."""
    return Finisher(Settings.model_validate_json(settings))


_LABEL_NAMES = {"confidence": "label_confidence", "error_detail": "label_error"}
"""Column of the labels → its new name in a page's row, which has its own column with the old
name."""


def _finish(finisher: Finisher, page: Row, answer: Row) -> Extraction:
    if page["error_code"] is not None:
        return Extraction(error_code=ErrorCode(page["error_code"]), error_detail=page["error_detail"])
    names = ("main", "confidence", "page_kind", "windows", "labeler", "labeler_version", "error_detail")
    labels = {_LABEL_NAMES.get(name, name): answer.get(name) for name in names}
    row = with_first_labels(page | labels)
    outcome = run_item(lambda row: finish_row(finisher, row), row)
    if isinstance(outcome, UsageError):
        raise outcome
    return make_failed(outcome) if isinstance(outcome, PageError) else outcome


def _describe(extraction: Extraction) -> Row:
    columns = extraction_columns(extraction) | collect_declared(extraction)
    return {field.name: columns.get(field.name) for field in EXTRACTED}


def _append(pages: pa.Table, fields: Sequence[pa.Field], rows: Sequence[Row]) -> pa.Table:
    """Return the table with the columns `fields` from `rows`. Existing columns with these names are
    replaced."""
    same = [field.name for field in fields if field.name in pages.column_names]
    pages = pages.drop_columns(same)
    for field in fields:
        pages = pages.append_column(field, pa.array([row[field.name] for row in rows], field.type))
    return pages

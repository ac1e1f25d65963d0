"""Turns pages and rows into views. Each page is processed in a child process with limits, so that a
page that hangs becomes an ordinary error."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dripper.errors import InputError, PageError, UsageError
from dripper.guard import Guard, GuardLimits
from dripper.inspect.sources import Row, describe_place, to_page_input
from dripper.inspect.views import PageInput, PageView, view_page
from dripper.labels.config import from_values
from dripper.page.extraction import shared_extractor
from dripper.settings import Settings

_Guard = Guard[tuple[PageInput, Settings], PageView]
"""Labels one page with the settings' labeler, and returns the page's view."""


def view_pages(pages: Iterable[PageInput], settings: Settings) -> Iterator[PageView]:
    """Yield a view of each page."""
    with _open_guard(settings) as guard:
        for page in pages:
            yield _look_guarded(guard, page, settings)


def view_rows(rows: Iterable[Row], settings: Settings, labeler: str | None) -> Iterator[PageView]:
    """Yield a view of each row of `extractions`. The row's page is read again from its archive.

    Args:
        rows: Rows with the columns in `dripper.inspect.sources.COLUMNS`.
        labeler: The labeler to use; None means the labeler that wrote the row.
    """
    with _open_guard(settings) as guard:
        for row in rows:
            yield _view_row(row, settings, labeler, guard)


def _open_guard(settings: Settings) -> _Guard:
    return Guard(lambda asked: view_page(shared_extractor(asked[1]), asked[0]), GuardLimits.of(settings.limits))


def _look_guarded(guard: _Guard, page: PageInput, settings: Settings) -> PageView:
    shared_extractor(settings)  # load it now: loading errors are not the page's fault, and children inherit it
    try:
        return guard.call((page, settings))
    except PageError as error:
        return PageView(page.id, page.name, page.url, error_code=error.code.value, error_detail=error.detail or None)


def _view_row(row: Row, settings: Settings, labeler: str | None, guard: _Guard) -> PageView:
    """Return the view of a row: its stored values, and the blocks of its page if the archive can be
    read."""
    # Import it here, because only archives need the `warc` extra.
    from dripper.warc.read.reader import read_record_at

    stored = view_stored_row(row)
    versions = row["versions"] or {}
    try:
        record = read_record_at(row["warc_file"], row["warc_offset"], row["page_id"], settings.reading)
    except InputError as error:
        return _add_note(stored, f"The blocks are not shown, as the archive is out of reach: {error}.")
    name = labeler or versions.get("labeler") or settings.labeler.name
    own = {"labeler.name": name, "profile": versions.get("profile") or settings.profile}
    try:
        current = _look_guarded(guard, to_page_input(record), from_values(settings.model_dump() | own))
    except UsageError as error:
        return _add_note(stored, f"The blocks are not shown, as the labeler {name} cannot be loaded: {error}.")
    return compare_views(stored, current)


def view_stored_row(row: Row) -> PageView:
    """Return the view of a row, from the values in the row alone."""
    versions = row["versions"] or {}
    return PageView(
        id=row["page_id"], name=describe_place(row["warc_file"], row["warc_offset"]), url=row["url"],
        title=row["title"] or "", labeler=f"{versions.get('labeler')} {versions.get('labeler_version')}",
        profile=versions.get("profile") or "", method=row["method"], confidence=row["confidence"],
        page_kind=row["page_kind"], language=row["language"], error_code=row["error_code"], error_detail=row["error_detail"],
        markdown=row["markdown"] or "", main_html=row["main_html"] or "", metadata=row["metadata"],
        images=row["images"] or (), posts=row["posts"] or (), comments=row["comments"],
    )  # fmt: skip


def compare_views(stored: PageView, current: PageView) -> PageView:
    """Return the stored view, with the blocks of the current view and a note if the two views
    differ."""
    names = ("blocks", "html", "encoding", "profile", "refused")
    both = replace(stored, **{name: getattr(current, name) for name in names})
    if stored.error_code != current.error_code:
        now = f"error {current.error_code}" if current.error_code else "no error"
        return _add_note(both, f"The row has {stored.error_code or 'no error'}; read again, the page gives {now}.")
    if stored.main_html != current.main_html:
        return _add_note(
            both,
            f"The blocks are as {current.labeler} labels them now; the row, by {stored.labeler}, has another main HTML.",
        )
    return both


def _add_note(view: PageView, note: str) -> PageView:
    return replace(view, notes=(*view.notes, note))

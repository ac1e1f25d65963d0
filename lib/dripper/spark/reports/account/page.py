"""Writes the account as a single HTML file that needs no other files, scripts or network.

All text from the tables is escaped.
"""

import json
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from html import escape
from string import Template

import dripper
from dripper.page.rows import DOUBTFUL, SURE
from dripper.spark.reports.account.charts import bar, duration, figure
from dripper.spark.reports.account.facts import SHORT, FileFacts, PageFacts, RunFacts
from dripper.standalone import asset, policy, style_of

SHOWN_FILES = 20
"""Maximum number of files to show in the list of slow files, and in the list of files with faults.
The `warc_files` table has all files."""
_SHOWN_RATES = 20
"""Maximum number of rows in the table of pages per second. All rows but the last cover the same
number of commits."""
_SHORT = 16
"""Text of at most this many characters is not wrapped in its cell. Examples are numbers and
codes."""
_ENDS = {
    0: ("good", "every record is accounted for"),
    3: ("bad", "work is left"),
    4: ("doubtful", "all work is done, but some inputs are bad"),
}


def page(facts: RunFacts) -> str:
    """Return the account of a run as an HTML document."""
    style = style_of("dripper.spark.reports.account", ("account.css",))
    parts = {
        "policy": policy(style),
        "style": style,
        "title": escape(f"Run of {_moment(facts.moment('started_at')) or 'an unknown time'}"),
        "head": _head(facts),
        "counts": _counts(facts),
        "speed": _speed(facts),
        "cost": _cost(facts),
        "quality": _quality(facts),
        "errors": _errors(facts),
        "files": _files(facts),
        "settings": _settings(facts),
        "generator": escape(f"dripper {dripper.__version__}"),
    }
    return Template(asset("dripper.spark.reports.account", "account.html")).substitute(parts)


def _head(facts: RunFacts) -> str:
    state, code = str(facts.run.get("state")), facts.run.get("exit_code")
    kind, words = _ENDS.get(code, ("bad", "")) if isinstance(code, int) else ("doubtful", "no end was heard of")
    about = [
        ("Run", facts.run.get("run_id")),
        ("Output", facts.output),
        ("Input", facts.run.get("input")),
        ("Job", facts.run.get("job")),
        ("Started", _moment(facts.moment("started_at"))),
        ("Ended", _moment(facts.moment("ended_at"))),
        ("Took", duration(facts.seconds) if facts.seconds is not None else None),
    ]
    complaints = facts.run.get("complaints")
    items = "".join(
        f"<li>{escape(str(line))}</li>" for line in (complaints if isinstance(complaints, Iterable) else ())
    )
    headline = f"{state}" + (f", exit code {code}: {words}" if code is not None else f": {words}")
    return f'<p class="end {kind}">{escape(headline)}</p>{_pairs(about)}' + (
        f'<h2>What it said</h2><ul class="said">{items}</ul>' if items else ""
    )


def _counts(facts: RunFacts) -> str:
    records, pages, failed = (facts.count(name) for name in ("records", "pages", "failed_pages"))
    skipped = facts.counts("skipped")
    n_skipped = sum(skipped.values())
    closes = records == pages + n_skipped
    sentence = f"{records:,} records = {pages:,} pages + {n_skipped:,} skipped" + (
        "" if closes else ", which does not add up"
    )
    rows = f"{pages:,} pages = {pages - failed:,} extractions + {failed:,} error rows"
    return (
        _tiles(
            [("files read", f"{facts.count('files'):,}"), ("pages", f"{pages:,}"), ("error rows", f"{failed:,}"),
             ("records skipped", f"{n_skipped:,}")]
        )
        + f'<p class="{"closes" if closes else "end bad"}">{sentence}</p><p class="closes">{rows}</p>'
        + _shares("Skipped, by reason", skipped)
    )  # fmt: skip


def _speed(facts: RunFacts) -> str:
    started, commits = facts.moment("started_at"), facts.commits()
    if started is None or not commits:
        return "<p>No file that this run read is known by it any more: later runs have read them again.</p>"
    before, rates, step = 0.0, [], math.ceil(len(commits) / _SHOWN_RATES)
    for group in (commits[i : i + step] for i in range(0, len(commits), step)):
        second = max((group[-1][0] - started).total_seconds(), before + 0.001)
        rates.append((second, sum(pages for _, pages in group) / (second - before)))
        before = second
    end, most = facts.seconds or before, max(rate for _, rate in rates) or 1
    mean = sum(pages for _, pages in commits) / end
    words = f"{figure(mean)} pages a second over {duration(end)}, {len(commits)} commits"
    rows = [(duration(second), Markup(bar(rate / most)), figure(rate)) for second, rate in rates]
    return f"<p>{words}</p>{_table(('until', '', 'pages a second'), rows)}"


def _cost(facts: RunFacts) -> str:
    hours, pages = facts.core_hours, sum(file.pages for file in facts.files)
    times = _table(
        ("stage", "time of its batches, summed"),
        [(name, duration(ms / 1000)) for name, ms in facts.counts("stage_ms").items()],
    )
    if hours is None or not pages:
        return "<p>How long cores were at work on the files is not known of all of them.</p>" + times
    million = hours / pages * 1e6
    rent = facts.core_dollars_per_hour
    tiles = [
        ("core hours at work", figure(hours)),
        ("core ms a page", figure(hours * 3.6e6 / pages)),
        ("core hours per million pages", figure(million)),
        ("per million pages", f"${million * rent:,.2f}"),
    ]
    at_work = (
        f", {figure(hours * 3600 / facts.seconds)} cores at work on average, over the whole run"
        if facts.seconds
        else ""
    )
    return (
        _tiles(tiles)
        + f"<p>At ${rent:g} an hour for a core (setting <code>cost.core_dollars_per_hour</code>){at_work}. "
        "Not included: cores that waited, the driver, and the stages <code>label</code> and "
        "<code>extract</code> of a staged run.</p>" + times
    )


def _quality(facts: RunFacts) -> str:
    total = sum(facts.confidences.values())
    if not total:
        return "<p>No page came out.</p>"
    known = {step: n for step, n in facts.confidences.items() if step is not None}
    shares = {
        f"confidence {SURE:g} and more": sum(n for step, n in known.items() if step >= SURE * 20),
        f"confidence under {DOUBTFUL:g}": sum(n for step, n in known.items() if step < DOUBTFUL * 20),
        f"under {SHORT} characters": facts.short_pages,
        "without a word": facts.wordless_pages,
    }
    bins = {f"{step / 20:.2f} to {(step + 1) / 20:.2f}": known[step] for step in sorted(known, reverse=True)}
    unknown = {"not known": facts.confidences[None]} if facts.confidences.get(None) else {}
    parts = [
        _tiles((name, f"{n / total:.0%}") for name, n in shares.items()),
        f"<p>On labelled pages that no model was trained on, a confidence of {SURE:g} or more means a mean F1 of 0.96.</p>",
        _shares("Pages, by confidence", bins | unknown),
        _shares("Pages, by kind", facts.kinds),
    ]
    if facts.doubtful_pages:
        ids = ", ".join(f"'{page.page_id}'" for page in facts.doubtful_pages)
        command = f'dripper inspect --table {shlex.quote(facts.output)} --where "page_id IN ({ids})" > doubtful.html'
        rows = [
            (page.url, f"{page.confidence or 0:.2f}", page.page_kind, f"{page.markdown_chars or 0:,}", _place(page))
            for page in facts.doubtful_pages
        ]
        parts += [
            f"<h3>The most doubtful</h3><p>To look at them block by block:</p><pre>{escape(command)}</pre>",
            _table(("page", "confidence", "kind", "characters", "record"), rows),
        ]
    return "".join(parts)


def _errors(facts: RunFacts) -> str:
    parts = [_shares("Error rows, by code", facts.counts("errors"))]
    if facts.failed_pages:
        rows = [(page.url, page.error_code, page.error_detail, _place(page)) for page in facts.failed_pages]
        parts.append(f"<h3>Some of them</h3>{_table(('page', 'code', 'detail', 'record'), rows)}")
    parts += [_shares("Rows, by method", facts.methods), _shares("Rows, by language", facts.languages)]
    return "".join(parts)


def _files(facts: RunFacts) -> str:
    failed = [file for file in facts.files if file.error or file.n_problems]
    failed.sort(key=lambda file: (file.error is None, -file.n_problems, file.warc_file))
    slow = sorted((file for file in facts.files if file.task_ms), key=lambda file: -(file.task_ms or 0))[:SHOWN_FILES]
    longest = max([file.task_ms or 0 for file in slow], default=0)
    parts = ["<h3>Slowest files</h3>", _table(
        ("file", "", "time at work", "pages", "ms a page", "MB"),
        [(file.warc_file, Markup(bar((file.task_ms or 0) / longest)), *_file_cells(file)) for file in slow],
    )]  # fmt: skip
    if facts.slowest_pages:
        rows = [
            (page.url, f"{page.ms:,} ms", _bytes(page.payload_bytes), page.error_code, _place(page))
            for page in facts.slowest_pages
        ]
        parts += [
            "<h3>Slowest pages</h3><p>The slowest of each file, wall time.</p>",
            _table(("page", "took", "size", "error", "record"), rows),
        ]
    fault_rows = [
        (file.warc_file, file.state, file.error_kind, file.error, f"{file.n_problems:,}")
        for file in failed[:SHOWN_FILES]
    ]
    title = f"Files with faults: {len(failed):,}" + (f", {SHOWN_FILES} shown" if len(failed) > SHOWN_FILES else "")
    parts += [f"<h3>{title}</h3>", _table(("file", "state", "kind", "why", "problems"), fault_rows)]
    return "".join(parts)


def _file_cells(file: FileFacts) -> Sequence[object]:
    ms = file.task_ms or 0
    each = figure(ms / file.pages) if file.pages else "–"
    return (duration(ms / 1000), f"{file.pages:,}", each, f"{file.bytes_read / 1e6:,.1f}")


def _settings(facts: RunFacts) -> str:
    versions = facts.run.get("versions")
    pairs = dict(versions) if isinstance(versions, Mapping) else {}
    settings = str(facts.run.get("settings") or "{}")
    with suppress(ValueError):
        settings = json.dumps(json.loads(settings), indent=2, ensure_ascii=False)
    set_ones = f"<pre>{escape(settings)}</pre>" if settings != "{}" else "<p>None.</p>"
    return f"{_pairs(sorted(pairs.items()))}<h3>Settings that are not the default</h3>{set_ones}"


class Markup(str):
    """HTML that this module created. It is not escaped again in a table."""

    __slots__ = ()


def _shares(title: str, counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    if not total:
        return ""
    rows = [(name, Markup(bar(n / total)), f"{n:,}", f"{n / total:.1%}") for name, n in counts.items()]
    return f"<h3>{escape(title)}</h3>{_table(('', '', 'count', 'share'), rows)}"


def _table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    if not rows:
        return "<p>None.</p>"
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(map(_td, row))}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _td(value: object) -> str:
    is_short = isinstance(value, str) and not isinstance(value, Markup) and len(value) <= _SHORT
    return f"<td{' class=short' if is_short else ''}>{_cell(value)}</td>"


def _cell(value: object) -> str:
    return value if isinstance(value, Markup) else "" if value is None else escape(str(value))


def _pairs(pairs: Iterable[tuple[str, object]]) -> str:
    cells = "".join(
        f"<dt>{escape(name)}</dt><dd>{_cell(value)}</dd>" for name, value in pairs if value not in (None, "")
    )
    return f"<dl>{cells}</dl>"


def _tiles(tiles: Iterable[tuple[str, str]]) -> str:
    return f'<div class="tiles">{"".join(f"<div><b>{escape(n)}</b>{escape(name)}</div>" for name, n in tiles)}</div>'


def _place(page: PageFacts) -> str:
    return f"{page.warc_file} at byte {page.warc_offset}"


def _bytes(size: int | None) -> str:
    return "" if size is None else f"{size / 1000:,.0f} kB"


def _moment(moment: datetime | None) -> str | None:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if moment else None

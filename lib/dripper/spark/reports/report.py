"""Texts that the jobs print about a run: final counts, plan, estimated cost, and a few rows."""

import shlex
from collections.abc import Mapping

from pyspark.sql import SparkSession

from dripper.addresses import printable
from dripper.labels.chain import chain_of
from dripper.labels.cost import Sample, describe_actual, describe_estimate, estimate
from dripper.labels.registry import bound_of, labeler_settings, runs_staged
from dripper.layouts.templates import REPRESENTATIVES
from dripper.page.rows import DOUBTFUL, GRADES, SURE
from dripper.settings import DeviceSettings, Settings
from dripper.spark.ledger.plan import Plan
from dripper.spark.reports.sample import PagesRead, take_sample
from dripper.spark.run.outcome import Outcome, Totals
from dripper.spark.tables.store import Tables
from dripper.spark.wording import say_count

_SHOWN_CHARACTERS = 70
_GIVEN_UP = {"set_aside": "set aside", "dismissed": "dismissed"}


def summary(outcome: Outcome, output: str, devices: Mapping[str, DeviceSettings] | None = None) -> str:
    """Return the final counts of a run as lines of text.

    Args:
        devices: GPUs and their rent, for the cost of the `label` stage.
    """
    totals, ledger = outcome.totals, outcome.ledger
    lines = [""]
    if not (totals.files or totals.rows or totals.label.pages or outcome.complaints or totals.set_aside):
        lines.append(_nothing(outcome))
    else:
        lines += ["this run"]
        if not outcome.stages or "preprocess" in outcome.stages:
            lines += _reading(totals)
        lines += _stages(outcome, devices or {})
        if not outcome.stages or "extract" in outcome.stages:
            lines += _rows(totals, output)
    between = "".join(f", {ledger[state]} {state}" for state in ("preprocessed", "labelled") if ledger.get(state))
    given_up = "".join(f", {ledger[state]} {words}" for state, words in _GIVEN_UP.items() if ledger.get(state))
    lines += [
        f"all runs into {output}",
        f"  files     {ledger['done']} done, {ledger['failed']} failed{between}, {ledger['planned']} planned{given_up}",
        f"  records   {ledger['records']} = {ledger['pages']} pages + {ledger['skipped']} skipped",
    ]
    if outcome.plan.n_left:
        lines.append(f"--limit left {say_count(outcome.plan.n_left, 'file')} for the next run")
    lines += [f"NOT DONE: {complaint}" for complaint in outcome.complaints]
    lines += [f"BAD INPUT: {sentence}" for sentence in outcome.bad_inputs]
    lines += [f"WARNING: {sentence}" for sentence in totals.label.warnings]
    return "".join(printable(line) + "\n" for line in lines)


def _nothing(outcome: Outcome) -> str:
    if not outcome.stages or "preprocess" in outcome.stages:
        return f"nothing to do: all {outcome.plan.n_done} files were done before"
    return f"nothing to do: no batch is ready for the stage {outcome.stages[0]}"


def _reading(totals: Totals) -> list[str]:
    skipped = ", ".join(
        f"{count} {reason}" for reason, count in sorted(totals.skipped.items(), key=lambda item: -item[1])
    )
    return [
        f"  files     {totals.files} read, {totals.broken_files} with faults, "
        f"{sum(map(len, totals.failed_files.values()))} failed",
        f"  records   {totals.records} = {totals.pages} pages + {sum(totals.skipped.values())} skipped",
        f"  skipped   {skipped or 'none'}",
    ]


def _stages(outcome: Outcome, devices: Mapping[str, DeviceSettings]) -> list[str]:
    totals, label = outcome.totals, outcome.totals.label
    lines = []
    if "preprocess" in outcome.stages:
        failed = totals.pages - totals.blocks
        lines.append(f"  blocks    {totals.pages} pages = {totals.blocks} split into blocks + {failed} error rows")
        if totals.escalated is not None:
            sure = totals.blocks - totals.escalated
            share = f" ({totals.escalated / totals.blocks:.1%})" if totals.blocks else ""
            lines.append(
                f"  chain     {sure} pages stay with the first labeler + {totals.escalated}{share} go on to the next"
            )
    if "asked" in totals.layouts:
        lines.append(_choice(totals))
    if "label" in outcome.stages and (label.pages or not totals.layouts):
        lines.append(
            f"  labels    {label.pages} pages = {label.pages - label.failed} labelled ({label.windowed} in windows) + "
            f"{label.failed} without usable labels"
        )
        if label.passes:
            lines += describe_actual(label.pages, label.tokens, label.passes, label.seconds * label.engines, devices)
    if "by_template" in totals.layouts:
        lines.append(
            f"  templates {totals.layouts['by_template']} of {totals.layouts['pages']} other pages are labelled by them"
        )
    return lines


def _choice(totals: Totals) -> str:
    of = totals.layouts
    share = f" ({of['asked'] / of['split']:.1%})" if of["split"] else ""
    return (
        f"  layouts   {of['asked']} of {of['split']} pages{share} go on to the next labeler, {of['layouts']} layouts have "
        "representatives"
    )


def _rows(totals: Totals, output: str) -> list[str]:
    good = totals.rows - totals.failed_pages
    by_fallback = f" ({totals.fallback_pages} by the fallback)" if totals.fallback_pages else ""
    lines = [f"  rows      {totals.rows} = {good} extractions{by_fallback} + {totals.failed_pages} error rows"]
    if len([method for method in totals.methods if not method.startswith("fallback:")]) > 1:
        lines.append(f"  decided   {', '.join(f'{n} by {method}' for method, n in totals.methods.most_common())}")
    if totals.grades and good:
        sure, doubtful = (totals.grades[name] for name in GRADES)
        lines.append(
            f"  quality   {sure} sure ({sure / good:.0%}, confidence {SURE:g} and more), {doubtful} doubtful (under {DOUBTFUL:g}); "
            f'look: dripper inspect --table {shlex.quote(output)} --where "confidence < {DOUBTFUL:g}" > doubtful.html'
        )
    return lines


def plan_summary(plan: Plan) -> str:
    """Return a run's plan as text, with a line for each batch."""
    lines = [
        f"{say_count(plan.n_done, 'file', 'is')} done; {len(plan.moved)} that failed or have changed are read again"
    ]
    for kind, batches in (("goes on", plan.resumed), ("new", plan.fresh)):
        for batch in batches:
            n_bytes = sum(file.size_bytes or 0 for file in batch.files)
            unknown = sum(file.size_bytes is None for file in batch.files)
            sizes = f"{n_bytes / 1e6:.1f} MB" + (
                f" and {say_count(unknown, 'file')} of unknown size" if unknown else ""
            )
            if places := [place for file in batch.files for place in file.places]:
                sizes = f"{say_count(len(places), 'record')}, {sum(place.length for place in places) / 1e6:.1f} MB"
            lines.append(f"batch {batch.number} ({kind}): {say_count(len(batch.files), 'file')}, {sizes}")
    if plan.n_left:
        lines.append(f"--limit leaves {say_count(plan.n_left, 'file')}")
    return "\n".join(lines) + "\n"


def cost_summary(pages: PagesRead, settings: Settings) -> str:
    """Estimate the cost of a separate `label` stage, from some of the pages in a plan.

    For a chain, the text also has the fraction of pages that the next labeler gets. Return "" if
    there is nothing to do.
    """
    if not pages.files:
        return ""
    sample = take_sample(pages, settings)
    decoder = labeler_settings("lm", settings.labels).decoder
    total = estimate(sample, pages.weight, decoder)
    lines = _chain_words(sample, settings)
    if (runs_staged(settings.labeler) or settings.layouts.enabled) and (sample.tokens or not sample.split):
        decodes = chain_of(settings.labeler.name)[-1] == "lm"
        lines += describe_estimate(sample, total, settings.cost.devices, decoder if decodes else None)
    return "".join(line + "\n" for line in lines)


def _chain_words(sample: Sample, settings: Settings) -> list[str]:
    labeler = settings.labeler
    names = chain_of(labeler.name)
    if len(names) == 1:
        return []
    if not sample.split:
        return ["chain     no estimate: the sample has no page with text"]
    went = len(sample.tokens)
    chosen = (
        f"the least sure {labeler.escalate_share:g} of them"
        if labeler.escalate_share
        else f"a confidence below {bound_of(labeler):g}"
    )
    if settings.layouts.enabled:
        chosen = (
            f"{REPRESENTATIVES} of a layout, of pages in none {chosen}; with more pages of a host read, a smaller share"
        )
    return [
        f"chain     {went / sample.split:.1%} of {sample.split} pages go on from {names[0]} to {names[1]} ({chosen})"
    ]


def show(spark: SparkSession, output: str, n_rows: int) -> str:
    """Return a few rows of the `extractions` table, and the SQL query that reads them."""
    name = Tables(spark, output).sql_name("extractions")
    order = "ORDER BY markdown_chars DESC, page_id"
    query = f"SELECT url, n_main, markdown FROM {name} WHERE error_code IS NULL {order} LIMIT {n_rows}"
    lines = ["", query]
    for row in spark.sql(query).collect():
        text = " ".join(row["markdown"].split())
        excerpt = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
        lines.append(printable(f"  {row['url']} | {row['n_main']} | {excerpt}"))
    return "\n".join(lines) + "\n"

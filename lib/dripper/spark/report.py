"""The words at the end of a run: counts that close, and a few rows."""

from pyspark.sql import SparkSession

from dripper.spark.plan import Plan
from dripper.spark.run import Outcome
from dripper.spark.tables import Tables

_SHOWN_CHARACTERS = 70


def summary(outcome: Outcome, output: str) -> str:
    """Return the closing counts of a run, as lines of text."""
    totals, ledger = outcome.totals, outcome.ledger
    lines = [""]
    if totals.files == 0 and not outcome.complaints:
        lines.append(f"nothing to do: all {outcome.plan.n_done} files were done before")
    else:
        skipped = ", ".join(
            f"{count} {reason}" for reason, count in sorted(totals.skipped.items(), key=lambda item: -item[1])
        )
        lines += [
            "this run",
            f"  files     {totals.files} read, {totals.broken_files} with faults, {totals.failed_files} failed",
            f"  records   {totals.records} = {totals.pages} pages + {sum(totals.skipped.values())} skipped",
            f"  skipped   {skipped or 'none'}",
            f"  rows      {totals.rows} = {totals.pages - totals.failed_pages} extractions + {totals.failed_pages} error rows",
        ]
    lines += [
        f"all runs into {output}",
        f"  files     {ledger['done']} done, {ledger['failed']} failed, {ledger['planned']} planned",
        f"  records   {ledger['records']} = {ledger['pages']} pages + {ledger['skipped']} skipped",
    ]
    if outcome.plan.n_left:
        lines.append(f"--limit left {outcome.plan.n_left} files for the next run")
    lines += [f"NOT DONE: {complaint}" for complaint in outcome.complaints]
    return "\n".join(lines) + "\n"


def plan_summary(plan: Plan) -> str:
    """Return what a run would do, a line a batch."""
    lines = [f"{plan.n_done} files are done; {len(plan.retried)} that could not be read are tried again"]
    for kind, batches in (("goes on", plan.resumed), ("new", plan.fresh)):
        for batch in batches:
            known = sum(file.size_bytes or 0 for file in batch.files)
            unknown = sum(file.size_bytes is None for file in batch.files)
            sizes = f"{known / 1e6:.1f} MB" + (f" and {unknown} files of unknown size" if unknown else "")
            lines.append(f"batch {batch.number} ({kind}): {len(batch.files)} files, {sizes}")
    if plan.n_left:
        lines.append(f"--limit leaves {plan.n_left} files")
    return "\n".join(lines) + "\n"


def show(spark: SparkSession, output: str, n_rows: int) -> str:
    """Return a few rows of the table, with the SQL that reads them."""
    name = Tables(spark, output).sql_name("extractions")
    order = "ORDER BY markdown_chars DESC, page_id"
    query = f"SELECT url, n_main, markdown FROM {name} WHERE error_code IS NULL {order} LIMIT {n_rows}"
    lines = ["", query]
    for row in spark.sql(query).collect():
        text = " ".join(row["markdown"].split())
        shown = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
        lines.append(f"  {row['url']} | {row['n_main']} | {shown}")
    return "\n".join(lines) + "\n"

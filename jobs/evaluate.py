"""Score extractors on labelled pages, with Spark. Write the Delta table `evaluations` and a report.

spark-submit jobs/evaluate.py --data DATA --output O [--report FOLDER] [--sets A,B]
    [--extractors A,B] [--labelers A] [--metrics A,B] [--sample N | --all-pages]
    [--webmainbench FILE] [--conf FILE] [--set key=value ...]

DATA is a folder that the driver and the executors can read under the same path. On one machine,
`python -m dripper_lab.evaluation` does the same without Spark. It measures CPU time more
accurately, because it runs one extractor at a time. If it is interrupted, the next call continues
its work.

Exit code 0: the pages are scored; 2: wrong usage or settings.
"""

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from dripper.parse_place import local_place
from dripper.spark import cli
from dripper_lab.evaluation.command import add_arguments, run_settings
from dripper_lab.evaluation.report.writer import write_report
from dripper_lab.evaluation.run import RunSettings, scoring_of
from dripper_lab.evaluation.share import Share, keep_lines, metric_rows, share_lines, shares
from dripper_lab.metrics.scoring import check_metrics


def main(argv: list[str]) -> int:
    """Parse the flags, evaluate, write the report, and return the exit code."""
    parser = cli.parser("evaluate.py", __doc__, reads_archives=False)
    parser.add_argument("--report", default="report", help="folder of the report (default: report)")
    add_arguments(parser)
    return cli.run_guarded(lambda: _evaluate(parser.parse_args(argv)))


def _evaluate(arguments: argparse.Namespace) -> int:
    settings = cli.settings(arguments, {})
    report = local_place("--report", arguments.report, writes=True)
    asked = run_settings(arguments, report, settings.labels)
    check_metrics(asked.metrics)
    work = [(share.data_set, share.number, share.of) for share in shares(asked)]
    with cli.session(settings) as spark:
        from dripper.spark.tables.log_store import require_log_store
        from dripper.spark.tables.store import Tables
        from dripper_lab.spark.evaluate import evaluate

        tables = Tables(spark, arguments.output)
        require_log_store(spark, tables, settings.output.single_writer)
        tables.create("evaluations")
        keep_lines(asked, evaluate(spark, tables, work, partial(_lines, asked), partial(_rows, asked)))
    path = write_report(asked, [scoring_of(asked, name) for name in asked.sets], report)
    sys.stdout.write(f"{path}\n")
    return 0


def _lines(asked: RunSettings, share: tuple[str, int, int]) -> Iterator[str]:
    return share_lines(asked, Share(*share))


def _rows(asked: RunSettings, line: str) -> Iterator[tuple[Any, ...]]:
    return metric_rows(asked, line)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Extract the main content of all pages of WARC files into a Delta table.

spark-submit jobs/run.py --warcs W --output O [--labeler cpu] [--conf FILE] [--set key=value ...] [--limit N] [--show N]
    [--dry-run]

A labeler that wants GPUs (lm) runs in three stages that meet in tables; jobs/preprocess.py, jobs/label.py and jobs/extract.py run
them one by one, each on a cluster of its own kind.
Exit code 0: every record is accounted for; 2: wrong usage or settings; 3: the work ended short, and what to do next.
"""

import argparse
import sys

from dripper.spark import cli


def main(argv: list[str]) -> int:
    """Parse, run, print the closing counts, return the exit code."""
    parser = cli.parser("run.py", __doc__)
    parser.add_argument("--labeler", help="who decides what is main content (setting labeler.name; default cpu)")
    parser.add_argument("--limit", type=cli.positive, metavar="N", help="do at most N files that are not done yet")
    parser.add_argument("--show", type=cli.positive, metavar="N", help="print N rows of the table at the end")
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done, and what it would cost; write nothing"
    )
    return cli.guarded(lambda: _run(parser.parse_args(argv)))


def _run(arguments: argparse.Namespace) -> int:
    if arguments.dry_run:
        return cli.dry_run(arguments)
    settings = cli.settings(arguments, {"labeler.name": arguments.labeler})
    with cli.session(settings) as spark:
        from dripper.spark.report import show, summary
        from dripper.spark.run import run

        outcome = run(spark, arguments.warcs, arguments.output, settings, arguments.limit)
        sys.stdout.write(summary(outcome, arguments.output, settings.cost.devices))
        if arguments.show:
            sys.stdout.write(show(spark, arguments.output, arguments.show))
    return 3 if outcome.complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

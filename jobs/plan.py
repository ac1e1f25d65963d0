"""Say what jobs/run.py would do, without doing it: batches, files, bytes; nothing is written.

spark-submit jobs/plan.py --warcs W --output O [--conf FILE] [--set key=value ...] [--limit N]

Exit code 0: planned; 2: wrong usage or settings.
"""

import argparse
import sys

from dripper.spark import cli


def main(argv: list[str]) -> int:
    """Parse, plan, print, return the exit code."""
    parser = cli.parser("plan.py", __doc__)
    parser.add_argument("--limit", type=cli.positive, metavar="N", help="plan at most N files that are not done yet")
    return cli.guarded(lambda: _plan(parser.parse_args(argv)))


def _plan(arguments: argparse.Namespace) -> int:
    settings = cli.settings(arguments, {})
    with cli.session(settings) as spark:
        from dripper.spark.report import plan_summary
        from dripper.spark.run import dry_plan

        plan = dry_plan(spark, arguments.warcs, arguments.output, settings, arguments.limit)
        sys.stdout.write(plan_summary(plan))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

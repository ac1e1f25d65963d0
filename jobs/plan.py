"""Print the plan of a run without writing anything, like jobs/run.py --dry-run.

spark-submit jobs/plan.py (--warcs W | --select S) --output O [--labeler lm] [--conf FILE]
    [--set key=value ...] [--limit N]

The plan shows the batches, files and bytes, and the cost, estimated from a sample of the pages.

Exit code 0: planned; 2: wrong usage or settings.
"""

import sys

from dripper.spark import cli


def main(argv: list[str]) -> int:
    """Parse the flags, plan, print the plan, and return the exit code."""
    parser = cli.parser("plan.py", __doc__)
    parser.add_argument("--labeler", help="the labeler that would run (setting labeler.name; default cpu)")
    parser.add_argument("--limit", type=cli.positive, metavar="N", help="plan at most N files that are not done yet")
    return cli.run_guarded(lambda: cli.dry_run(cli.with_input(parser, argv)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Stage 3 of a staged run: `pages` and `labels` meet; the main content goes into the table
`extractions`. CPUs only.

spark-submit jobs/extract.py --output O [--conf FILE] [--set key=value ...] [--limit N] [--tries N]

It takes the batches that jobs/label.py has left. Exit code 0: every page is accounted for; 2: wrong
usage or settings; 3: the work ended short, and what to do next.
"""

import sys

from dripper.spark import cli


def main(argv: list[str]) -> int:
    """Parse, run the stage, print the closing counts, return the exit code."""
    parser = cli.parser("extract.py", __doc__, reads_archives=False)
    parser.add_argument("--limit", type=cli.positive, metavar="N", help="do at most N batches")
    cli.add_tries(parser)
    return cli.run_guarded(lambda: cli.stage("extract", parser.parse_args(argv)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

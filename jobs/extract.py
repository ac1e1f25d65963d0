"""Run stage 3 of a staged run: read the tables `pages` and `labels`, and write the main content
into the table `extractions`. This stage needs no GPUs.

spark-submit jobs/extract.py --output O [--conf FILE] [--set key=value ...] [--limit N] [--tries N]

The stage takes the batches that jobs/label.py has finished.

Exit code 0: every page is accounted for; 2: wrong usage or settings; 3: work is left, and the last
lines say what to do.
"""

import sys

from dripper.spark import cli


def main(argv: list[str]) -> int:
    """Parse the flags, run the stage, print the final counts, and return the exit code."""
    parser = cli.parser("extract.py", __doc__, reads_archives=False)
    parser.add_argument("--limit", type=cli.positive, metavar="N", help="extract at most N batches")
    cli.add_tries(parser)
    return cli.run_guarded(lambda: cli.stage("extract", parser.parse_args(argv)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

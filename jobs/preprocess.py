"""Run stage 1 of a staged run: read WARC files, split every page into blocks, and write the tables
`pages` and `blocks`. This stage needs no GPUs.

spark-submit jobs/preprocess.py (--warcs W | --select S) --output O [--labeler lm] [--conf FILE]
    [--crawl NAME] [--set key=value ...] [--limit N] [--tries N]

Afterwards, run jobs/label.py and jobs/extract.py with the same --output, each on the kind of
cluster that it needs.

Exit code 0: every record is accounted for; 2: wrong usage or settings; 3: work is left, and the
last lines say what to do.
"""

import sys

from dripper.spark import cli


def main(argv: list[str]) -> int:
    """Parse the flags, run the stage, print the final counts, and return the exit code."""
    parser = cli.parser("preprocess.py", __doc__, redoes=True)
    cli.add_staged_labeler(parser)
    parser.add_argument("--limit", type=cli.positive, metavar="N", help="process at most N files that are not done yet")
    cli.add_tries(parser)
    return cli.run_guarded(lambda: cli.stage("preprocess", cli.with_input(parser, argv)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

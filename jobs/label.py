"""Run stage 2 of a staged run: a labeler reads the table `blocks` and writes the table `labels`.
This is the stage that needs GPUs.

spark-submit jobs/label.py --output O [--labeler lm] [--conf FILE] [--set key=value ...] [--limit N]
    [--tries N]

The stage takes the batches that jobs/preprocess.py has finished. On a cluster with GPUs, add --conf
spark.executor.resource.gpu.amount=1 and --conf spark.task.resource.gpu.amount=1. Spark then runs
one task, with one engine, per GPU.

Exit code 0: every page is accounted for; 2: wrong usage or settings; 3: work is left, and the last
lines say what to do.
"""

import sys

from dripper.spark import cli


def main(argv: list[str]) -> int:
    """Parse the flags, run the stage, print the final counts, and return the exit code."""
    parser = cli.parser("label.py", __doc__, reads_archives=False)
    cli.add_staged_labeler(parser)
    parser.add_argument("--limit", type=cli.positive, metavar="N", help="label at most N batches")
    cli.add_tries(parser)
    return cli.run_guarded(lambda: cli.stage("label", parser.parse_args(argv)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

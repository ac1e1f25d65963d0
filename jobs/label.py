"""Stage 2 of a staged run: a labeler reads the table `blocks` and writes the table `labels`. The
stage that wants GPUs.

spark-submit jobs/label.py --output O [--labeler lm] [--conf FILE] [--set key=value ...] [--limit N]
    [--tries N]

It takes the batches that jobs/preprocess.py has left. For a cluster with GPUs add --conf
spark.executor.resource.gpu.amount=1 and --conf spark.task.resource.gpu.amount=1: then there is one
task, hence one engine, a GPU. Exit code 0: every page is accounted for; 2: wrong usage or settings;
3: the work ended short, and what to do next.
"""

import sys

from dripper.spark import cli


def main(argv: list[str]) -> int:
    """Parse, run the stage, print the closing counts, return the exit code."""
    parser = cli.parser("label.py", __doc__, reads_archives=False)
    cli.add_staged_labeler(parser)
    parser.add_argument("--limit", type=cli.positive, metavar="N", help="do at most N batches")
    cli.add_tries(parser)
    return cli.run_guarded(lambda: cli.stage("label", parser.parse_args(argv)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

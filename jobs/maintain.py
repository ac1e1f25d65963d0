"""Keep the tables fast and small: join small files (OPTIMIZE) and delete those that no version needs any more (VACUUM).

spark-submit jobs/maintain.py --output O [--retain-hours 168] [--conf FILE] [--set key=value ...]

Exit code 0: done; 2: wrong usage or settings.
"""

import argparse
import sys

from dripper.spark import cli


def main(argv: list[str]) -> int:
    """Parse, maintain, print, return the exit code."""
    parser = cli.parser("maintain.py", __doc__, reads_archives=False)
    hours = "keep the files of versions younger than this; at least 168, Delta's own bound, so that running readers are safe"
    parser.add_argument("--retain-hours", type=cli.positive, default=168, metavar="N", help=hours)
    return cli.guarded(lambda: _maintain(parser.parse_args(argv)))


def _maintain(arguments: argparse.Namespace) -> int:
    settings = cli.settings(arguments, {})
    with cli.session(settings) as spark:
        from dripper.spark.maintain import maintain

        single = settings.output.single_writer
        for line in maintain(spark, arguments.output, arguments.retain_hours, single_writer=single):
            sys.stdout.write(line + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

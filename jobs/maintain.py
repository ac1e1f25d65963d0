"""Keep the tables fast and small: join small files (OPTIMIZE) and delete those that no version
needs any more (VACUUM).

spark-submit jobs/maintain.py --output O [--publish [--without-main-html]] [--verify] [--repair]
    [--retain-hours N] [--conf FILE] [--set key=value ...]

With --publish, it first updates the table `published`: the rows of `extractions`, clustered by host
and time of fetching, for people who query them.

With --verify, it does none of this. Instead it compares every row of `extractions` with the pages
that were read, by their keys. A run compares numbers, and keys of batches that were rewritten.

With --repair, it does none of this. Instead it plans files again for the next run if their rows in
`extractions` are not those that the ledger counts, because somebody deleted rows, or restored or
dropped a table. If the ledger is lost, it is rebuilt from the rows.

Exit code 0: done; 2: wrong usage or settings; 3: another run is at work, or the rows are not those
that the ledger counts.
"""

import argparse
import sys

from dripper.spark import cli


def main(argv: list[str]) -> int:
    """Parse the flags, maintain the tables, print the result, and return the exit code."""
    parser = cli.parser("maintain.py", __doc__, reads_archives=False)
    hours = (
        "keep the files of versions younger than this: at least 168, so that running readers are safe "
        "(default: the table's delta.deletedFileRetentionDuration, or 168)"
    )
    parser.add_argument("--retain-hours", type=cli.positive, metavar="N", help=hours)
    parser.add_argument(
        "--repair",
        action="store_true",
        help="where rows are not as the ledger counts them: plan their files again, or rebuild the ledger; join and clear nothing",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="compare every row of `extractions` with the pages that were read, by their keys; join and clear nothing",
    )
    parser.add_argument("--publish", action="store_true", help="bring the table `published` up to date")
    parser.add_argument(
        "--without-main-html",
        action="store_true",
        help="make that table without the column main_html, most of its bytes",
    )
    return cli.run_guarded(lambda: _maintain(parser.parse_args(argv)))


def _maintain(arguments: argparse.Namespace) -> int:
    settings = cli.settings(arguments, {})
    with cli.session(settings) as spark:
        from dripper.spark.upkeep.maintain import maintain

        for line in maintain(
            spark,
            arguments.output,
            arguments.retain_hours,
            verifies=arguments.verify,
            repairs=arguments.repair,
            publishes=arguments.publish,
            with_main_html=not arguments.without_main_html,
            single_writer=settings.output.single_writer,
        ):
            sys.stdout.write(line + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

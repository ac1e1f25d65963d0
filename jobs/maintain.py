"""Keep the tables fast and small: join small files (OPTIMIZE), and delete files that only old
versions need (VACUUM).

spark-submit jobs/maintain.py --output O [--publish [--without-main-html]] [--verify] [--repair]
    [--retain-hours N] [--conf FILE] [--set key=value ...]

--publish first updates the table `published`. It has the rows of `extractions`, clustered by host
and fetch time for queries.

--verify joins and deletes no files. It checks that `extractions` has exactly the pages that were
read, by comparing the keys of all rows. A normal run compares only the number of rows per batch,
and the keys in batches that were rewritten.

--repair joins and deletes no files. It repairs an output after somebody has deleted rows, or has
restored or dropped a table. If a file's rows in `extractions` do not match the ledger, the next run
reads the file again. If the ledger is lost, it is rebuilt from the rows.

Exit code 0: done; 2: wrong usage or settings; 3: another run is active, or the rows do not match
the ledger.
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

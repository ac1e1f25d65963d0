"""Write an HTML report of a run: its input, output, cost, speed and errors.

spark-submit jobs/report.py --output O [--run RUN_ID] [--report FILE] [--conf FILE] [--set key=value
    ...]

RUN_ID is the ID of a row in the table `runs`; by default, the last run is reported. The report is
made from the tables. `jobs/run.py --report` writes the same report when the run ends.

Exit code 0: written; 2: wrong usage or settings.
"""

import argparse
import sys

from dripper.spark import cli


def main(argv: list[str]) -> int:
    """Parse the flags, write the report, print its location, and return the exit code."""
    parser = cli.parser("report.py", __doc__, reads_archives=False)
    parser.add_argument("--run", metavar="RUN_ID", help="the id of the run (default: the last run)")
    place = "a file or a folder, also s3a://…; by default next to the tables"
    parser.add_argument("--report", default="", metavar="FILE", help=place)
    return cli.run_guarded(lambda: _report(parser.parse_args(argv)))


def _report(arguments: argparse.Namespace) -> int:
    settings = cli.settings(arguments, {})
    with cli.session(settings) as spark:
        from dripper.spark.reports.account_tables import write_account

        place = write_account(spark, arguments.output, arguments.report, settings.cost, arguments.run)
    sys.stdout.write(f"{place}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

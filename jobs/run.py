"""Extract the main content of all pages of WARC files into a Delta table.

spark-submit jobs/run.py --warcs W --output O [--labeler cpu] [--conf FILE] [--set key=value ...]
    [--limit N] [--show N] [--crawl NAME] [--tries N] [--dry-run] [--redo FILES] [--dismiss FILES]
    [--report [FILE]] [--relocated OLD=NEW | --really-new]
spark-submit jobs/run.py --select index=INDEX[,host=…][,language=…][,status=…] --output O …

The second form reads only the records that an index lists. The index is a CDXJ file or a columnar
index (Parquet).

A run with a labeler that needs GPUs (lm) has three stages, which exchange data through tables. To
run each stage on the kind of cluster that it needs, use jobs/preprocess.py, jobs/label.py and
jobs/extract.py.

Exit code 0: every record is accounted for; 2: wrong usage or settings; 3: work is left, and the
same command continues it; 4: all work is done, but some inputs are bad. The last lines say what to
do.
"""

import argparse
import sys

from dripper.spark import cli


def main(argv: list[str]) -> int:
    """Parse the flags, run, print the final counts, and return the exit code."""
    parser = cli.parser("run.py", __doc__, redoes=True)
    parser.add_argument(
        "--labeler", help="the labeler, which decides what is main content (setting labeler.name; default cpu)"
    )
    cli.add_tries(parser)
    parser.add_argument("--limit", type=cli.positive, metavar="N", help="process at most N files that are not done yet")
    parser.add_argument("--show", type=cli.positive, metavar="N", help="print N rows of the table at the end")
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done, and what it would cost; write nothing"
    )
    parser.add_argument("--dismiss", default="", metavar="FILES", help="give up files that could not be read")
    report = "at the end, report the run as an HTML page: in a file or folder, also s3a://…; without FILE, next to the tables"
    parser.add_argument("--report", nargs="?", const="", metavar="FILE", help=report)
    return cli.run_guarded(lambda: _run(cli.with_input(parser, argv)))


def _run(arguments: argparse.Namespace) -> int:
    if arguments.dry_run:
        return cli.dry_run(arguments)
    settings = cli.settings(arguments, {"labeler.name": arguments.labeler, "reading.crawl": arguments.crawl})
    with cli.session(settings) as spark:
        from dripper.spark.reports.account_tables import check_place, try_account
        from dripper.spark.reports.report import show, summary
        from dripper.spark.run.run import dismiss, run
        from dripper.spark.tables.store import Tables

        if arguments.report is not None:
            check_place(spark, Tables(spark, arguments.output), arguments.report)
        if arguments.dismiss:
            n_files = dismiss(spark, arguments.dismiss, arguments.output, settings)
            sys.stdout.write(f"{n_files} files are dismissed\n")
            if not (arguments.warcs or arguments.redo or arguments.select):
                return 0
        warcs, redo, select = arguments.warcs or "", arguments.redo, arguments.select
        cli.note_relocated(spark, arguments, settings)

        def once() -> int:
            outcome = run(
                spark,
                warcs,
                arguments.output,
                settings,
                arguments.limit,
                redo=redo,
                select=select,
                really_new=arguments.really_new,
            )
            sys.stdout.write(summary(outcome, arguments.output, settings.cost.devices))
            if arguments.report is not None:
                sys.stdout.write(try_account(spark, arguments.output, arguments.report, settings.cost, outcome.run_id))
            return outcome.exit_code

        code = cli.run_again(once, arguments.tries)
        if arguments.show:
            sys.stdout.write(show(spark, arguments.output, arguments.show))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

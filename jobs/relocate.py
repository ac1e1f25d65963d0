"""Record that archives have moved: files below the new prefix are the files that were read below
the old prefix.

spark-submit jobs/relocate.py OLD_PREFIX NEW_PREFIX --output O [--dry-run] [--conf FILE]
    [--set key=value ...]

A prefix is a folder, a bucket, or the beginning of an address up to the name of a folder. Pages
keep their IDs, because the column warc_file keeps the address under which a file was first read.
Runs open the files at their new addresses.

Exit code 0: done; 2: wrong usage or settings; 3: another run is active.
"""

import argparse
import sys

from dripper.spark import cli


def main(argv: list[str]) -> int:
    """Parse the flags, note the move, print the result, and return the exit code."""
    parser = cli.parser("relocate.py", __doc__, reads_archives=False)
    parser.add_argument("old", metavar="OLD_PREFIX", help="where the archives were, as in the column warc_file")
    parser.add_argument("new", metavar="NEW_PREFIX", help="where they are now")
    parser.add_argument("--dry-run", action="store_true", help="say how many files that is; change nothing")
    return cli.run_guarded(lambda: _relocate(parser.parse_args(argv)))


def _relocate(arguments: argparse.Namespace) -> int:
    settings = cli.settings(arguments, {})
    with cli.session(settings) as spark:
        from dripper.spark.ledger.relocated import move, relocate

        moved, single_writer = move(arguments.old, arguments.new), settings.output.single_writer
        told = relocate(spark, arguments.output, moved, dry_run=arguments.dry_run, single_writer=single_writer)
        sys.stdout.write(told + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

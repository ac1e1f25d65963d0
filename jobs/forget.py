"""Forget pages: delete them from every table, and keep later runs from writing them again.

spark-submit jobs/forget.py --output O --reason R [--host H] [--domain D] [--url U] [--page-id P]
    [--dry-run] [--conf FILE] [--set key=value ...]

--host, --domain, --url and --page-id may be repeated. Each also accepts @FILE, a file with one
value per line. A domain includes all its hosts. The table `forgotten` records the rules and the
number of pages. From then on, runs count matching pages as skipped. If a call is interrupted, run
it again, or run this job with --output alone. Old versions of the tables keep the rows until
jobs/maintain.py deletes these versions. The last line says from when on it can do so.

Exit code 0: done; 2: wrong usage or settings; 3: another run is active, or the tables do not match
the ledger.
"""

import argparse
import sys

from dripper.errors import InputError
from dripper.settings import Settings
from dripper.spark import cli
from dripper.warc.open.expand import read_text

KINDS = {
    "host": "a host, such as www.example.org",
    "domain": "a registered domain with all its hosts, such as example.org",
    "url": "an address of a page, as in the column url",
    "page_id": "a page, as in the column page_id",
}


def main(argv: list[str]) -> int:
    """Parse the flags, forget the pages, print the result, and return the exit code."""
    parser = cli.parser("forget.py", __doc__, reads_archives=False)
    parser.add_argument("--reason", default="", metavar="R", help="the reason, which is kept in the table `forgotten`")
    for kind, words in KINDS.items():
        flag = f"--{kind.replace('_', '-')}"
        parser.add_argument(flag, action="append", default=[], metavar="X", help=f"{words}; @FILE: a list of them")
    parser.add_argument("--dry-run", action="store_true", help="say how many pages would go; change nothing")
    return cli.run_guarded(lambda: _forget(parser.parse_args(argv)))


def _forget(arguments: argparse.Namespace) -> int:
    settings = cli.settings(arguments, {})
    typed = [(kind, each) for kind in KINDS for value in getattr(arguments, kind) for each in _listed(value, settings)]
    if typed and not (arguments.reason.strip() or arguments.dry_run):
        raise InputError("--reason is missing: say why, for people who ask later")
    with cli.session(settings) as spark:
        from dripper.spark.ledger.forgotten import rule
        from dripper.spark.upkeep.forget import forget

        rules = {rule(kind, text) for kind, text in typed}
        single_writer = settings.output.single_writer
        for line in forget(
            spark, arguments.output, rules, arguments.reason, dry_run=arguments.dry_run, single_writer=single_writer
        ):
            sys.stdout.write(line + "\n")
    return 0


def _listed(value: str, settings: Settings) -> list[str]:
    if not value.startswith("@"):
        return [value]
    lines = [line.strip() for line in read_text(value[1:], settings.reading).splitlines()]
    named = [line for line in lines if line and not line.startswith("#")]
    if not named:
        raise InputError(f"{value}: the list is empty")
    return named


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

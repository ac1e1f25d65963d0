"""Draw pages with different layouts from the table `pages`, for annotation. Write them to a folder
that `python -m dripper_lab.annotate export` reads.

spark-submit jobs/sample.py --output O --to FOLDER [--size 1000] [--of-host 3]
    [--quota language=en:0.5,de:0.2] [--quota page_kind=article:0.4] [--seed 0] [--conf FILE]
    [--set key=value ...]

For each layout of a host, one page is a candidate. Each host contributes the candidates of its most
frequent layouts. A quota limits the fraction of pages with a language or kind; `other` means all
values that the quota does not list. The job reads the pages themselves from the archives.

Exit code 0: written; 2: wrong usage or settings; 4: written, except pages in archives that could
not be read.
"""

import argparse
import sys

from dripper.parse_place import local_place
from dripper.spark import cli
from dripper.spark.wording import say_count
from dripper_lab.annotation.folders import require_new
from dripper_lab.annotation.sampled import write_pages


def main(argv: list[str]) -> int:
    """Parse the flags, draw and write the pages, and return the exit code."""
    parser = cli.parser("sample.py", __doc__, reads_archives=False)
    parser.add_argument("--to", required=True, metavar="FOLDER", help="folder to make, on the driver")
    parser.add_argument(
        "--size", type=cli.positive, default=1000, metavar="N", help="take at most N pages (default: 1000)"
    )
    parser.add_argument(
        "--of-host", type=cli.positive, default=3, metavar="N", help="take at most N pages of a host (default: 3)"
    )
    share = "the most that each may have of the size: language=en:0.5,de:0.2,other:0.3, or page_kind=…"
    parser.add_argument("--quota", action="append", default=[], metavar="OF=VALUE:SHARE,…", help=share)
    parser.add_argument("--seed", type=int, default=0, help="another seed draws other pages (default: 0)")
    return cli.run_guarded(lambda: _sample(parser.parse_args(argv)))


def _sample(arguments: argparse.Namespace) -> int:
    from dripper.spark.ledger.relocated import read_paths
    from dripper.spark.tables.spark_books import SparkBooks
    from dripper.spark.tables.store import Tables
    from dripper_lab.spark.layout_sample import Sampling, draw_pages, parse_quotas

    settings = cli.settings(arguments, {})
    folder = local_place("--to", arguments.to, writes=True)
    require_new(folder)
    sampling = Sampling(arguments.size, arguments.of_host, parse_quotas(arguments.quota), arguments.seed)
    with cli.session(settings) as spark:
        tables = Tables(spark, arguments.output)
        pages = draw_pages(tables, sampling)
        paths = read_paths(SparkBooks(spark, tables), {page["warc_file"] for page in pages})
    written, unread = write_pages(pages, paths, folder, settings.reading)
    hosts = say_count(len({page["host"] for page in pages}), "host")
    sys.stdout.write(f"{say_count(len(pages), 'page')} of {hosts} drawn, {written} in {folder}\n")
    for reason, count in unread.items():
        sys.stdout.write(f"BAD INPUT: {reason} ({say_count(count, 'page')})\n")
    return 4 if unread else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

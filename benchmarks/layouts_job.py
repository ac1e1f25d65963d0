"""The figures of benchmarks/layouts.py once more, by the whole job (docs/research/layouts.md).

python benchmarks/layouts_job.py --data ../shared/data [--set dragnet] [--most 250] [--least 8]

The pages of the sites are written into archives, ten to a file, site after site, and
jobs/run.py's code runs the chain of `cpu` and a labeler that knows the truth over them, by site. So
layouts are joined, representatives chosen and templates filled as in any run, over several batches.
Pages in layouts of one and two pages stay with `cpu` (`labeler.escalate_below=0`).
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from _layouts import sites_of
from _warcs import write_pages
from dripper.labels import Labels, SimplifiedPage
from dripper.labels import load as load_labeler
from dripper.labels.config import load
from dripper.settings import Settings
from dripper.spark.layouts.choice import NO_LAYOUT, TOO_FEW_PAGES
from dripper.spark.layouts.labels import BY_TEMPLATE
from dripper.spark.run.run import run
from dripper.spark.session.session import open_session
from dripper.spark.tables.store import Tables
from dripper_lab.datasets import LabelledPage
from dripper_lab.truth import Truth

PAGES_A_FILE = 10


class Knowing:
    """A labeler that knows the truth of pages by their simplified HTML."""

    name = "truth"
    version = "1"

    def __init__(self, truths: dict[str, list[bool]]) -> None:
        self._truths = truths

    def label(self, pages: Sequence[object]) -> list[Labels]:
        """Whole pages are not asked for."""
        raise NotImplementedError

    def label_simplified(self, pages: Sequence[SimplifiedPage]) -> list[Labels]:
        """Return the truth of each page; of one it does not know, that nothing is main."""
        return [
            Labels.certain(np.array(self._truths.get(page.simplified_html, [False] * page.n_blocks), bool))
            for page in pages
        ]


def knowing(truths: dict[str, list[bool]], settings: Settings) -> Knowing:
    """Return the labeler, for a worker."""
    return Knowing(truths)


def scores_of(spark: SparkSession, output: str, found: dict[str, Truth]) -> str:
    """Return the line of the table. found: truths by address."""
    tables = Tables(spark, output)
    layouts = tables.read("layouts").where(~F.col("state").isin(NO_LAYOUT, TOO_FEW_PAGES))
    asked = layouts.select(F.explode("representatives").alias("page_id")).distinct()
    pages = tables.read("pages").select("page_id", "url", "host", F.col("first_labels.main").alias("own"))
    labels = tables.read("labels").select("page_id", "layout_id", "main", "method")
    others = pages.join(labels, "page_id").join(layouts.select("host", "layout_id").distinct(), ["host", "layout_id"])
    rows = others.join(asked, "page_id", "left_anti").collect()
    scores = [
        [found[row["url"]].f1(np.array(row[name], bool)) for name in ("own", "main")]
        + [row["method"].endswith(BY_TEMPLATE)]
        for row in rows
    ]
    before, after, taken = (np.array(column) for column in zip(*scores, strict=True))
    there = taken.astype(bool)
    # As the other benchmark: pages that no template takes stay with `cpu`.
    with_templates = np.where(there, after, before)
    return (
        f"| {len(found)} | {len(rows)} | {before.mean():.4f} | {with_templates.mean():.4f} | {after.mean():.4f} | "
        f"{there.mean():.2f} | {after[there].mean():.4f} ({before[there].mean():.4f}) | {asked.count() / len(found):.2f} |"
    )


def main(argv: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", default="dragnet")
    parser.add_argument("--most", type=int, default=250, help="pages of the set, about")
    parser.add_argument("--least", type=int, default=8, help="pages of a site")
    arguments = parser.parse_args(argv)
    found: dict[str, Truth] = {}
    known: dict[str, list[bool]] = {}
    pages: list[tuple[str, LabelledPage]] = []
    sites = sites_of(arguments.data, arguments.set, arguments.most, arguments.least, load_labeler("cpu"))
    for number, site in enumerate(sites):
        for i, page in enumerate(site):
            url = f"http://site{number}.example/{i}"
            pages.append((url, page.labelled))
            found[url], known[page.simplified_html] = page.truth, page.truth.main.tolist()
    told = ["labeler.name=cpu,all", "labeler.escalate_below=0", "layouts.enabled=true", "spark.master=local[2]"]
    settings = load([Path(__file__).parents[1] / "conf/local.yml"], told)
    spark = open_session(settings.spark, "layouts_job")
    print("| pages | others | cpu | with templates | as the job wrote them | taken | F1 there (cpu) | calls |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        write_pages(Path(name), pages, PAGES_A_FILE)
        outcome = run(spark, name, f"{name}/out", settings, loader=partial(knowing, known))
        if outcome.exit_code:
            print(outcome.complaints)
            return 1
        print(scores_of(spark, f"{name}/out", found))
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

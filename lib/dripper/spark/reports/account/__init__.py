"""The account of a run: one HTML page with its input, its output, its cost, its speed, and its
errors.

`facts` holds the facts of a run, `charts` draws bars, and `page` writes;
`dripper.spark.reports.account_tables` reads the tables.
"""

from dripper.spark.reports.account.facts import SHORT, FileFacts, PageFacts, RunFacts
from dripper.spark.reports.account.page import page

__all__ = ["SHORT", "FileFacts", "PageFacts", "RunFacts", "page"]

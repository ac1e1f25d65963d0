"""The account of a run: an HTML page about the run's input, output, cost, speed and errors.

`facts` defines the facts of a run, `charts` draws bars, and `page` writes the HTML.
`dripper.spark.reports.account_tables` reads the tables.
"""

from dripper.spark.reports.account.facts import SHORT, FileFacts, PageFacts, RunFacts
from dripper.spark.reports.account.page import page

__all__ = ["SHORT", "FileFacts", "PageFacts", "RunFacts", "page"]

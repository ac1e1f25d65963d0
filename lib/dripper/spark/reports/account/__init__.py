"""The account of a run: one HTML page that says what it read, wrote and cost, how fast it was, and
what went wrong.

`facts` is what is known of a run, `charts` draws, `page` writes; the tables are read by
`dripper.spark.reports.account_tables`.
"""

from dripper.spark.reports.account.facts import SHORT, FileFacts, PageFacts, RunFacts
from dripper.spark.reports.account.page import page

__all__ = ["SHORT", "FileFacts", "PageFacts", "RunFacts", "page"]

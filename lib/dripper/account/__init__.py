"""The account of a run: one HTML page that says what it read, wrote and cost, how fast it was, and
what went wrong.

`facts` is what is known of a run, `charts` draws, `page` writes; the tables are read by
`dripper.spark.account`.
"""

from dripper.account.facts import FileFacts, PageFacts, RunFacts
from dripper.account.page import page

__all__ = ["FileFacts", "PageFacts", "RunFacts", "page"]

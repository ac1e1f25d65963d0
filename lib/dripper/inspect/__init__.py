"""Looking at decisions: pages as one HTML file, block by block, where labels can be corrected and
exported as truth.

The way: `sources` and `table` find pages, `looking` and `views` say what is to be seen of each,
`document` writes the file.
"""

from dripper.inspect.document import document
from dripper.inspect.looking import views_of_pages, views_of_rows
from dripper.inspect.sources import pages_of, rows_of
from dripper.inspect.views import BlockView, PageInput, PageView

__all__ = [
    "BlockView",
    "PageInput",
    "PageView",
    "document",
    "pages_of",
    "rows_of",
    "views_of_pages",
    "views_of_rows",
]

"""Shows pages and their labels as one HTML file, block by block, in which labels can be corrected
and exported as truth.

`sources` finds pages and rows, `looking` and `views` build the view of each, and `document` builds
the file.
"""

from dripper.inspect.document import build_document
from dripper.inspect.looking import view_pages, view_rows
from dripper.inspect.sources import find_pages, read_rows
from dripper.inspect.views import BlockView, PageInput, PageView

__all__ = [
    "BlockView",
    "PageInput",
    "PageView",
    "build_document",
    "find_pages",
    "read_rows",
    "view_pages",
    "view_rows",
]

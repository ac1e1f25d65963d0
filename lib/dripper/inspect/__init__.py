"""Looking at decisions: pages as one HTML file, block by block, where labels can be corrected and
exported as truth.

The way: `sources` and `table` find pages, `looking` and `views` say what is to be seen of each,
`build_document` writes the file.
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

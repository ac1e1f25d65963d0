"""Shows pages and their labels block by block, in one HTML file for correcting labels and exporting
them as truth.

`sources` finds pages and rows, `looking` and `views` build a view of each, and `document` builds
the file.
"""

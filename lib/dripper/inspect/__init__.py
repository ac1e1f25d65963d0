"""Shows pages and their labels as one HTML file, block by block, in which labels can be corrected
and exported as truth.

`sources` finds pages and rows, `looking` and `views` build the view of each, and `document` builds
the file.
"""

"""Shows pages and their labels block by block, in one HTML file. Users can correct the labels in
this file, and export them as ground truth.

`sources` finds pages and rows, `looking` and `views` build a view of each page or row, and
`document` builds the file.
"""

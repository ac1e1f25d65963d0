"""Shows pages and their labels block by block, in one HTML file. In this file, labels can be
corrected and exported as ground truth.

`sources` finds pages and rows, `looking` and `views` build a view of each page or row, and
`document` builds the file.
"""

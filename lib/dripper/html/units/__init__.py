"""Finds the parts of a page that belong together: lines, notes and their marks, headings and the
blocks that they announce, boxes, records, declared ingredients. Pure functions over `Tree` and
blocks."""

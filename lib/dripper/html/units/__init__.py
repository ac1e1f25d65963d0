"""Finds the parts of a page that belong together: lines, notes and their marks, headings and the
blocks below them, boxes, records, and declared ingredients."""

"""Knows what belongs together on a page: lines, notes and their marks, headings and what they
announce, boxes, records, declared ingredients. Pure functions over `Tree` and blocks."""

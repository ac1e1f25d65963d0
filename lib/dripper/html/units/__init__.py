"""Knows what belongs together on a page: lines, notes and their marks, headings and what they
announce, quoted posts, records, posts of a thread. Pure functions over `Tree`."""

"""Parses a page and holds its markup as flat arrays (`Tree`). All later steps read this tree."""

"""Parses a page and holds its markup as flat arrays, from which blocks, main HTML and Markdown are
made."""

"""Parses a page into flat arrays. Blocks, main HTML and Markdown are all made from these arrays."""

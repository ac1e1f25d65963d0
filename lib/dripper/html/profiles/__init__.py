"""Profiles. Each is a set of rules for splitting a page into blocks and for writing its main
HTML."""

"""Profiles: sets of rules that split a page into blocks, and cut it to its main blocks."""

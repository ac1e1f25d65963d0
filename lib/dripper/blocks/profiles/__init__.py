"""Profiles: sets of rules that split a page into blocks."""

"""Profiles: sets of rules by which a page is split into blocks, and cut to its main ones."""

"""Indexes of archives: single records are selected and read without the rest of the file."""

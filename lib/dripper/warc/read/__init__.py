"""Reads archives: turns stored bytes into members, members into records, and records into pages."""

"""Reads archives in three steps: from stored bytes to members, to records, and to pages."""

"""Reads archives in three steps: stored bytes to members, members to records, records to pages."""

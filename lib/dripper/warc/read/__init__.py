"""Reads archives: from stored bytes to members, from members to records, from records to pages."""

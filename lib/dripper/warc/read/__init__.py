"""Reading archives: stored bytes to members, members to records, records to pages."""

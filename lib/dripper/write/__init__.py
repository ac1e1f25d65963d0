"""Writes main content as Markdown, plain text or TEI."""

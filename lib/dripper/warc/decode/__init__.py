"""Decodes the bytes of a page to text, as browsers do."""

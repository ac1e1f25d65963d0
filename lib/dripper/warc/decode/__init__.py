"""Decoding a page: from its bytes to text, as browsers do it."""

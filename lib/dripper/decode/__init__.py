"""Turns the bytes of a page into text, as browsers do: content codings, saved pages, charsets."""

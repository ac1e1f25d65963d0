"""Turns a page's bytes into text as browsers do: content codings, saved pages and charsets."""

"""Converts main HTML to Markdown or to plain text."""

from dripper.html.markdown.convert import load_html2text, to_markdown, write_markdown
from dripper.html.markdown.text import to_text, write_text

__all__ = ["load_html2text", "to_markdown", "to_text", "write_markdown", "write_text"]

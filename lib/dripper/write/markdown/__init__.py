"""Converts main HTML to Markdown."""

from dripper.write.markdown.convert import load_html2text, to_markdown, write_markdown

__all__ = ["load_html2text", "to_markdown", "write_markdown"]

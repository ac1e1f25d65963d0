"""From main HTML to what people read: Markdown, or plain text."""

from dripper.html.markdown.convert import html2text, markdown_of, to_markdown
from dripper.html.markdown.text import text_of, to_text

__all__ = ["html2text", "markdown_of", "text_of", "to_markdown", "to_text"]

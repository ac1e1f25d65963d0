"""From main HTML to what people read: Markdown, or plain text."""

from dripper.markdown.convert import markdown_of, to_markdown
from dripper.markdown.paper import html2text
from dripper.markdown.text import text_of, to_text

__all__ = ["html2text", "markdown_of", "text_of", "to_markdown", "to_text"]

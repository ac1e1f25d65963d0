"""From main HTML to what people read: Markdown, or plain text for scores."""

from dripper.markdown.convert import to_markdown, to_text

__all__ = ["to_markdown", "to_text"]

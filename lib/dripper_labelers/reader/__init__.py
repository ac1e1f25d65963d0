"""The labeler `reader`: a multilingual encoder that reads the blocks that the labeler before it is
unsure about."""

"""The labeler `reader`: a multilingual encoder that reads the blocks of which the labeler before it
is unsure."""

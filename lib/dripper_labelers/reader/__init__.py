"""The labeler `reader`: a multilingual encoder that reads the blocks that the previous labeler is
unsure of."""

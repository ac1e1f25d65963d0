"""The `reader` labeler: a multilingual encoder that reads only the blocks about which the previous
labeler is unsure."""

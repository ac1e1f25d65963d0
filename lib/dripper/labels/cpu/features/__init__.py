"""What the network sees of a page: one row of numbers a block."""

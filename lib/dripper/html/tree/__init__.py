"""A page's markup as flat arrays, and the parser behind it; what blocks, main HTML and Markdown are
all made from."""

"""The labeler `cpu`: numbers about each block (`features`), a small network, and the labels that
follow from it."""

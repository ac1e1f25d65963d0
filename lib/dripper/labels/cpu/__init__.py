"""The `cpu` labeler. It computes features of each block (`features`), applies a small network, and
decides the labels."""

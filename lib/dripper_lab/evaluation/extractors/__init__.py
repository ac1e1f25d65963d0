"""The extractors to score: this project's labelers, other extractors, and votes among these."""

"""The extractors that are scored: this project's labelers, the peers, and votes among them."""

"""What is scored: this project's labelers, the peers, and votes among them."""

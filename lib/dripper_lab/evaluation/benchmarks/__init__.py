"""Public benchmarks: their pages, protocols and published results."""

"""Public benchmarks: their pages, their protocols, their published figures."""

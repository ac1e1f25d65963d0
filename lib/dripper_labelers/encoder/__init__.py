"""The `encoder` labeler (Minhas, Nigam 2026, "Pulpie: Pareto-Optimal Models for Cleaning the Web").
A bidirectional language model reads all blocks of a page as one sequence, and labels each block at
the separator after it."""

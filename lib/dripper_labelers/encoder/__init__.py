"""The labeler `encoder` (Minhas, Nigam 2026, "Pulpie: Pareto-Optimal Models for Cleaning the Web"):
a bidirectional language model reads all blocks of a page in one sequence, and labels each block at
its separator."""

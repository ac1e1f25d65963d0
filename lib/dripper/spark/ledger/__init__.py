"""The books of an output: its plan and results, its one writer, and the check of its rows."""

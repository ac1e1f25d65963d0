"""The books of an output: its plan and results, the lock for its single writer, and the check of
its rows."""

"""Bookkeeping for an output: its plan and results, the lease of its single writer, and checks of
its rows."""

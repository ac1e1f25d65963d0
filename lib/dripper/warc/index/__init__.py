"""Selects single records through an index, and reads them without the rest of their archives."""

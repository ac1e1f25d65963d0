"""Selects single records by an index, and reads them without the rest of their archive."""

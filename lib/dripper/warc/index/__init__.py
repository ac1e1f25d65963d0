"""Selects single records through an index, and reads only these records from their archives."""

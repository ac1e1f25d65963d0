"""Holds the steps that all profiles share: finding where blocks begin and end, writing simplified
and mapping HTML, and pruning (Dripper paper 3.2, A.10)."""

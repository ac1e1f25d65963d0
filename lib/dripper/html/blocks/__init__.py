"""Holds what all profiles share: where blocks begin and end, simplified and mapping HTML, and prune
(Dripper paper 3.2, A.10)."""

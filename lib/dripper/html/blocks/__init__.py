"""What every profile shares: where blocks begin and end, simplified and mapping HTML, prune
(Dripper paper 3.2, A.10)."""

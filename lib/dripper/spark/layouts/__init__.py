"""Labels pages by layout, in staged runs of a chain of labelers."""

"""Turns labels into main content (`Content`). Completes main blocks with the parts that belong to
them (`complete`), cuts main HTML from the page (`cut`), and makes it inert (`rewrite`)."""

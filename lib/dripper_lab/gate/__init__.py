"""The gate: quality, the price of a page and the size of the product must not get worse."""

"""The gate. It checks that quality, the cost of a page and the size of the product do not get
worse."""

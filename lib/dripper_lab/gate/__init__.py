"""The gate. It fails if a change lowers extraction quality, makes pages more expensive to extract,
or adds lines of code to the product."""

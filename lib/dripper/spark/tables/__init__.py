"""The Delta tables: schemas, reading and writing, and batches, their units of commit."""

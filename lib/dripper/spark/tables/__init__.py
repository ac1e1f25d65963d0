"""The Delta tables: their schemas, reading and writing, and batches, the units of commit."""

"""The Delta tables: schemas, reading and writing, publishing, maintenance."""

"""The laboratory on Spark: pages drawn for annotation, and evaluations spread over a cluster."""

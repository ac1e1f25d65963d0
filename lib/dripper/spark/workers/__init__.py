"""What runs inside Spark tasks: reading, labelling, extracting."""

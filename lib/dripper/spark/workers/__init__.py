"""Code that runs inside Spark tasks: reading, labelling, extracting."""

"""The laboratory: data sets, training, annotation, evaluation. Extracting needs none of it."""

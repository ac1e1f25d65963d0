"""The books of an output: what is planned and done, who may write, and whether the rows agree."""

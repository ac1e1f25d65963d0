"""The Spark side: planning, the tables, the stages. The only package that imports pyspark."""

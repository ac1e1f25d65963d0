"""Implements the profiles `mineru-1.0` and `mineru-1.1`: the output of MinerU-HTML 1.0.0 and 1.1.2
byte for byte, losses included, because their weights were trained on nothing else."""

"""Implements the profile `mineru-1.1`: the output of MinerU-HTML 1.1.2 byte for byte, losses
included, because its weights were trained on nothing else."""

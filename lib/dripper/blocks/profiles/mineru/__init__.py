"""Implements the profiles `mineru-1.0` and `mineru-1.1`: MinerU-HTML 1.0.0 and 1.1.2 output, byte
for byte, losses included, because MinerU-HTML's weights were trained only on this output."""

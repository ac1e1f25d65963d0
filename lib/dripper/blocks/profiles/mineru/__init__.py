"""Implements the profiles `mineru-1.0` and `mineru-1.1`. They reproduce the output of MinerU-HTML
1.0.0 and 1.1.2 byte for byte, including lost text, because MinerU-HTML's weights were trained only
on this output."""

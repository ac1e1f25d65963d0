"""Profile `mineru-1.1`: what MinerU-HTML 1.1.2 does, byte for byte, losses included; its weights
saw nothing else."""

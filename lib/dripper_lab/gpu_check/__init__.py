"""Checks public checkpoints on a machine with a GPU: `python -m dripper_lab.gpu_check`."""

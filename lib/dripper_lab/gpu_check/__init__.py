"""What a machine with a GPU makes of public checkpoints: `python -m dripper_lab.gpu_check`."""

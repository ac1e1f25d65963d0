"""What the command `dripper` can do, a module each: `add` declares its flags, `run` does it."""

"""Shared fixtures of training tests: a compiler without optimisation, because compiling takes
longer than running."""

import os

# Before JAX is imported, which reads it once.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")

"""What tests of training share: a compiler that does not optimise, as they wait for it and hardly
for what it makes."""

import os

# Before JAX is imported, which reads it once.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true")

"""What holds for every test: JAX computes in 32 bits until a test, or a module that it loads, says otherwise."""

import os
import sys

import pytest

# thousands of small functions are compiled, each is run a few times: half of the time was LLVM's.
# At this level (and no other) tangents of `jnp.max(expression)` may be wrong: see tests/fuzz/run.py
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false")


@pytest.fixture(autouse=True)
def _in_32_bits():
    """Modules with 64-bit numbers turn these on for the whole process when they are imported."""
    yield
    jax = sys.modules.get("jax")
    if jax is not None and jax.config.jax_enable_x64:
        jax.config.update("jax_enable_x64", False)

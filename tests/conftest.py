"""What holds for every test: JAX computes in 32 bits until a test, or a module that it loads, says otherwise."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _in_32_bits():
    """Modules with 64-bit numbers turn these on for the whole process when they are imported."""
    yield
    jax = sys.modules.get("jax")
    if jax is not None and jax.config.jax_enable_x64:
        jax.config.update("jax_enable_x64", False)

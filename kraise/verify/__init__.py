"""Is what was emitted what the source says? The reference interpreter, its inputs, and the comparison.

Kernel IR and emitted text come in, never facts, rules or equations: their mistakes must not be inherited here. Only
``load``, ``gradients`` and ``compare`` import jax.
"""

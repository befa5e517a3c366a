"""Equations to the text of a JAX module."""

from kraise.emit.module import emit_module

__all__ = ["emit_module"]

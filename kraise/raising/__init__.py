"""Kernel IR to equations: see :func:`kraise.raising.function.raise_function`."""

from kraise.raising.function import raise_function

__all__ = ["raise_function"]

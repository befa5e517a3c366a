"""Python to Kernel IR, through libcst. The user's module is read, never imported or run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from kraise.diagnostics import Diagnostic
from kraise.frontends.python.module import read_module
from kraise.ir.kernel import Function, Module


def read(
    source: str,
    file: str,
    *,
    kernel_decorators: tuple[str, ...] = (),
    only: tuple[str, ...] = (),
    foreign: Mapping[str, Function] = MappingProxyType({}),
    folder: Path | None = None,
) -> tuple[Module, tuple[Diagnostic, ...]]:
    """The kernels, plain functions and helpers of a Python source.

    ``kernel_decorators`` are names (dotted, or the last component) that mark kernels as ``cuda.jit`` does. ``only``
    restricts the result to these functions and what they call; a name in it is read even if it looks like host code.
    ``foreign`` are kernels in strings of the file, which its host functions may launch. ``folder`` is where the file
    lies: functions and constants that it imports from files there, or of its package, are read with it.
    Functions with problems are left out, and have diagnostics that name them. Refused: KR100 (syntax error), KR105
    (unreadable).
    """
    return read_module(source, file, kernel_decorators, only, foreign, folder)


__all__ = ["read"]

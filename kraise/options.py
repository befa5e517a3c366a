"""What a user can ask of a translation; every stage sees the same frozen options."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """The choices of one translation, from the command line and from ``[tool.kraise]`` in pyproject.toml.

    ``kernel_decorators``: further decorators that make a Python function a kernel (last component or dotted name).
    ``only``: the functions to translate, all if empty. ``assume``: sentences such as ``idx is injective``.
    ``grad``: what to differentiate, in the sentences of ``ir.activity``.
    ``defines``, ``include_dirs`` and ``instantiate`` concern CUDA C. ``language`` "" means: by the file's suffix.
    """

    kernel_decorators: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    assume: tuple[str, ...] = ()
    grad: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    instantiate: tuple[str, ...] = ()
    language: str = ""

"""What a user can ask of a translation; every stage sees the same frozen options."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """The choices of one translation, from the command line and from ``[tool.kraise]`` in pyproject.toml.

    ``kernel_decorators``: further decorators that make a Python function a kernel (last component or dotted name).
    ``only``: the functions to translate, all if empty. ``assume``: sentences such as ``idx is injective``. ``grad``:
    what to differentiate, in the sentences of ``ir.activity``. ``remat`` (auto, none, full; "" is auto) and
    ``max_intermediate`` (a size such as 256MB) bound what is kept. ``defines``, ``include_dirs`` and ``instantiate``
    concern CUDA C. ``language`` "" means: by the file's suffix. ``checked`` functions check what the contents of their
    arguments must be.
    """

    kernel_decorators: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    assume: tuple[str, ...] = ()
    grad: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    instantiate: tuple[str, ...] = ()
    language: str = ""
    remat: str = ""
    max_intermediate: str = ""
    checked: bool = False

    @property
    def limit(self) -> int:
        """``max_intermediate`` in bytes, 0 where there is none."""
        return size_of(self.max_intermediate) if self.max_intermediate else 0


REMAT = ("auto", "none", "full")
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def size_of(text: str) -> int:
    """``256MB``, ``1.5 GB``, ``4096`` in bytes (a MB is 2**20 of them). Raises ValueError."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    size = int(float(found[1]) * 2 ** _UNITS[found[2].upper()]) if found else 0
    if size <= 0:
        raise ValueError(f"`{text}` is no size; write 256MB or 1GB")
    return size

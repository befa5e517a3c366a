"""What a user can ask of a verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Request:
    """What to verify with: a case.toml ("" for none) and choices that win over it; what is open is inferred."""

    case: str = ""
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    suggested: Mapping[str, Any] = field(default_factory=dict)  # values where neither says one
    dtype: str = ""
    grid: tuple[int, ...] | None = None
    block: tuple[int, ...] | None = None
    seed: int = 0
    gradients: bool = True
    original: bool = False
    thorough: bool = True  # derivatives of second order, an outer jit and vmap, too

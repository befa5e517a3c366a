"""What a call of a function of the module does, as a host function needs to know it."""

from __future__ import annotations

from dataclasses import dataclass

from kraise.ir import equations as eq
from kraise.ir import kernel as k


@dataclass(frozen=True)
class Function:
    """What a call of a function of the module does: its parameters, the arrays among them that it writes (in order),
    how many scalars it returns, and whether its result depends on the launch."""

    params: tuple[k.Param, ...]
    written: tuple[str, ...]
    scalars: int = 0
    launch: str = ""


def effects(kernel: eq.Kernel) -> Function:
    """What a call of a raised kernel does."""
    arrays = [v.array.partition(".")[0] for v in kernel.returns if isinstance(v, eq.Version)]
    scalars = sum(not isinstance(v, eq.Version) for v in kernel.returns)
    return Function(kernel.params, tuple(dict.fromkeys(arrays)), scalars, kernel.launch)  # type: ignore[arg-type]

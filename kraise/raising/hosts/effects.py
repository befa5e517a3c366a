"""What a call of a function of the module does, as a host function needs to know it."""

from __future__ import annotations

from dataclasses import dataclass

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.dynamic_shared import asks_for_size, element_bytes


@dataclass(frozen=True)
class Function:
    """What a call of a function of the module does: its parameters, the arrays among them that it writes (in order),
    how many scalars it returns, whether its result depends on the launch, and the bytes of an element of its dynamic
    shared memory where its result depends on the size of that (else 0)."""

    params: tuple[k.Param, ...]
    written: tuple[str, ...]
    scalars: int = 0
    launch: str = ""
    shared: int = 0


def effects(kernel: eq.Kernel, source: k.Function) -> Function:
    """What a call of a raised kernel does."""
    shared = element_bytes(source) if asks_for_size(kernel) else 0
    arrays = [v.array.partition(".")[0] for v in kernel.returns if isinstance(v, eq.Version)]
    scalars = sum(not isinstance(v, eq.Version) for v in kernel.returns)
    return Function(kernel.params, tuple(dict.fromkeys(arrays)), scalars, kernel.launch, shared)  # type: ignore[arg-type]

"""What a call of a function of the module does, as a host function needs to know it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kraise.ir import equations as eq
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.dynamic_shared import asks_for_size, element_bytes
from kraise.ir.types import StructType


@dataclass(frozen=True)
class Function:
    """What a call of a function of the module does: its parameters, the arrays among them that it writes (in order),
    how many scalars it returns, whether its result depends on the launch, and the bytes of an element of its dynamic
    shared memory where its result depends on the size of that (else 0). ``members``: of the arrays of structs and the
    structs with arrays, the names of their members and which of these it writes; ``fields`` are those of its only
    result, where this is a struct with integers, and ``whole`` are such structs of which more is written.
    ``equations`` are the kernel's own."""

    params: tuple[k.Param, ...]
    written: tuple[str, ...]
    scalars: int = 0
    launch: str = ""
    shared: int = 0
    members: tuple[tuple[str, tuple[tuple[str, bool], ...]], ...] = ()
    fields: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    equations: eq.Kernel | None = None

    def results(self) -> list[list[tuple[str, bool]]]:
        """By returned array: its name and that it is written; of an array of structs, each member's, and whether."""
        of = dict(self.members)
        return [[(f"{p}.{m}", w) for m, w in of[p]] if p in of else [(p, True)] for p in self.written]


def effects(kernel: eq.Kernel, source: k.Function) -> Function:
    """What a call of a raised kernel does."""
    shared = element_bytes(source) if asks_for_size(kernel) else 0
    arrays = [v.array.partition(".")[0] for v in kernel.returns if isinstance(v, eq.Version)]
    scalars = sum(not isinstance(v, eq.Version) for v in kernel.returns)
    changed = {v.array for v in kernel.returns if isinstance(v, eq.Version) and v.number}
    written = tuple(dict.fromkeys(arrays))
    members: list[tuple[str, tuple[tuple[str, bool], ...]]] = []
    field: tuple[str, ...] = ()
    whole: list[str] = []
    for p in source.params:
        if isinstance(p.type, StructType) and (p.type.is_array or p.type.holds_arrays):
            each = tuple((m, f"{p.name}.{m}" in changed) for m, _ in p.type.members)
            if p.type.is_record and p.name in written:
                each = tuple(x for x in each if x[1])
                if written == (p.name,) and not scalars:
                    field = tuple(m for m, _ in each)
                else:
                    whole.append(p.name)
            members.append((p.name, each))
    return Function(
        kernel.params, written, scalars, kernel.launch, shared, tuple(members), field, tuple(whole), kernel  # type: ignore[arg-type]
    )  # fmt: skip


def stores(functions: Mapping[str, Function | o.Host], name: str) -> tuple[bool, ...] | None:
    """Which of its parameters a function or a host function may change; None for one that is not raised."""
    found = functions.get(name)
    return None if found is None else tuple(p.name in found.written for p in found.params)

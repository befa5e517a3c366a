"""The hardware indices in Kernel IR, and the source's names for them."""

from __future__ import annotations

from kraise.ir import kernel as k
from kraise.ir.rewrite import walked


def hardware(stmts: object) -> set[tuple[str, int]]:
    """The hardware indices that occur in Kernel IR."""
    return {(x.kind, x.axis) for x in walked(stmts) if isinstance(x, k.Hw)}


def names_of(function: k.Function) -> dict[int, str]:
    """The source's names of the global thread indices: the first local that is assigned one, by axis."""
    out: dict[int, str] = {}

    def visit(stmts: tuple[k.Stmt, ...]) -> None:
        for s in stmts:
            match s:
                case k.Assign(name=name, value=v):
                    axes = {h[1] for h in hardware(v) if h[0] in ("thread", "block")}
                    if len(axes) == 1 and not name.startswith("$"):
                        (axis,) = axes
                        kinds = {h[0] for h in hardware(v)}
                        if axis not in out or ({"thread", "block"} <= kinds and name not in out.values()):
                            out[axis] = name
                case k.If(body=a, orelse=b):
                    visit(a)
                    visit(b)

    visit(function.body)
    return out


def own_names(function: k.Function) -> dict[tuple[str, int], str]:
    """The source's names of the thread's and the block's own index: locals that are assigned one and nothing else."""
    out: dict[tuple[str, int], str] = {}

    def visit(stmts: tuple[k.Stmt, ...]) -> None:
        for s in stmts:
            match s:
                case k.Assign(name=name, value=v):
                    while isinstance(v, k.Cast):
                        v = v.arg
                    if isinstance(v, k.Hw) and not name.startswith("$") and name not in out.values():
                        out.setdefault((v.kind, v.axis), name)
                case k.If(body=a, orelse=b):
                    visit(a)
                    visit(b)

    visit(function.body)
    return out

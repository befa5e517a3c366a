"""What stands for a carried scalar while the body of a loop is run."""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import ScalarType
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import assigned
from kraise.raising.run.state import State


def placeholders(
    cx: Context, st: State, body: tuple[k.Stmt, ...], fold: str, extra: tuple[str, ...], var: str
) -> tuple[dict[str, eq.CarryIn], dict[str, eq.Expr]]:
    """A placeholder for each local that ``body`` assigns and that has a value before; and those values."""
    name = cx.fold(fold)
    carries: dict[str, eq.CarryIn] = {}
    inits: dict[str, eq.Expr] = {}
    for n in (*assigned(body), *extra):
        if n == var or n not in st.env:
            continue
        init = st.env[n]
        kind = cx.types.get(n, init.type)
        carries[n] = eq.CarryIn(name, n, (), kind)
        inits[n] = init if init.type == kind or not isinstance(init, eq.Const) else _typed(init, kind)
    return carries, inits


def _typed(c: eq.Const, kind: ScalarType) -> eq.Const:
    """A constant in the type of the variable that it starts: ``acc = 0`` that is summed into floats is 0.0."""
    if kind.kind in ("float", "bfloat") and isinstance(c.value, int):
        return eq.Const(float(c.value), kind)
    return eq.Const(c.value, c.type, c.name)

"""Places in a thread's own row, counted from the row's start: ``k = r * n; for …: if (x) out[k++] = x``.

A number that begins with a row and that a loop only counts up, where data say so, is the row's start and a count that
begins with what is left: ``out[r * n + k]`` with k = 0. So the places of two threads are seen to be in different rows.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.raising.loops.counted import step_of
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.liveness import assigned, reads
from kraise.raising.run.state import State


def own_rows(st: State, s: k.For) -> tuple[k.For, dict[str, Poly]] | None:
    """The loop over counts in place of places, which ``st`` now has, and where the rows of these start; None where
    there are no such places."""
    rows: dict[str, Poly] = {}
    bounds = reads(s.start) | reads(s.stop) | reads(s.step)
    for n in () if s.orelse else dict.fromkeys(assigned(s.body)):
        first = st.env.get(n)
        if first is None or n == s.var or n in bounds or not index_like(first) or not _counted(s.body, n):
            continue
        place = to_poly(first)
        row = Poly({m: c for m, c in place.terms.items() if len(m) > 1 and any(isinstance(a, eq.Index) for a in m)})
        if row.terms:
            rows[n] = row
            st.env[n] = to_expr(place - row, first.type)
            st.env[_row(n)] = to_expr(row, first.type)
    if not rows:
        return None

    def at_place(node: object) -> object | None:
        match node:
            case k.Assign(name=name) if name in rows:
                return node
            case k.Var(name=name, type=t) if name in rows:
                return k.Op("add", (k.Var(_row(name), t), node), t)
        return None

    return replace(s, body=rewritten(s.body, at_place)), rows


def back_in_rows(st: State, rows: dict[str, Poly]) -> None:
    """The numbers as places again, behind the loop."""
    for n, row in rows.items():
        st.env.pop(_row(n), None)
        if n in st.env:
            st.env[n] = to_expr(to_poly(st.env[n]) + row, st.env[n].type)


def _row(name: str) -> str:
    return f"${name}.row"


def _counted(body: tuple[k.Stmt, ...], name: str) -> bool:
    """Whether a loop only adds numbers to a local, and not in every round."""
    for x in walked(body):
        match x:
            case k.Assign(name=n, value=value, type=t) if n == name:
                signed = t.kind == "int" and (t.bits or 32) >= 32
                if not signed or not isinstance(by := step_of(value, name), k.Const) or type(by.value) is not int:
                    return False
            case k.Atomic(result=n) | k.For(var=n) if n == name:
                return False
            case k.CallStmt(results=names) if name in names:
                return False
    return not any(isinstance(x, k.Assign) and x.name == name for x in body)


__all__ = ["back_in_rows", "own_rows"]

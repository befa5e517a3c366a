"""Statements that a thread repeats some threads further on, as a loop (Kernel IR to Kernel IR).

``if (i < n) y[i] = f(i); if (i + blockDim.x < n) y[i + blockDim.x] = f(i + blockDim.x);`` is ``for u in 0 .. 2: j = i +
u * blockDim.x; if (j < n) y[j] = f(j)``: what each thread does with several elements is then dealt out to elements. The
loop does what the statements do, in their order; so the one side condition is that each is the first one with the
index moved on, by as many times what the launch counts as there are statements between. Steps by numbers are left as
they are: such elements are next to each other, or windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kraise.analysis.poly import Poly, to_poly
from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.types import INT32
from kraise.raising.loops.rerolled import ONE, once_in, positive
from kraise.raising.loops.spelling import Form, form_of, local, poly_of
from kraise.raising.run.liveness import behind

Stmts = tuple[k.Stmt, ...]
PART = "part$round"


def as_loops(stmts: Stmts) -> Stmts:
    """The body of a kernel with such statements as loops."""
    once, at, out = once_in(stmts), 0, list[k.Stmt]()
    after = behind(stmts, frozenset())
    while at < len(stmts):
        found = _repeated(stmts, at, once, after) if isinstance(stmts[at], k.If | k.Store) else None
        if found is None:
            out.append(stmts[at])
            at += 1
        else:
            out.append(found[0])
            at += found[1]
    return stmts if len(out) == len(stmts) else tuple(out)


def _repeated(
    stmts: Stmts, at: int, once: Mapping[str, k.Expr], after: list[frozenset[str]]
) -> tuple[k.For, int] | None:
    """The loop that does what some statements from one on do, and how many these are."""
    if at + 1 == len(stmts) or type(stmts[at]) is not type(stmts[at + 1]):
        return None
    first = stmts[at]
    for var, by in _steps(stmts[at + 1], once):
        step, count = poly_of(by, once), 1
        known = {n: e for n, e in once.items() if n != var}
        if step.value is not None or not positive(step) or any(_made_of(n, var, known) for n in _names(first) - {var}):
            continue
        while at + count < len(stmts):
            there = known | {var: ("int", to_poly(local(var)) + step * count)}
            form = _form(stmts[at + count], dict(known))
            if form is None or form != _form(first, there):
                break
            count += 1
        if count > 1 and not after[at + count - 1] & _set(stmts[at : at + count]):
            return _loop(first, var, by, count), count
    return None


def _steps(s: k.Stmt, once: Mapping[str, k.Expr]) -> Iterator[tuple[str, k.Expr]]:
    """The locals that stand for an index of a thread, and what is added to them."""
    seen: set[tuple[str, Poly]] = set()
    for x in walked((s,)):
        if not isinstance(x, k.Op) or x.name != "add" or not x.type.is_integer:
            continue
        for i, by in (x.args, x.args[::-1]):
            bare = i.arg if isinstance(i, k.Cast) else i
            if not isinstance(bare, k.Var) or bare.name not in once or (bare.name, poly_of(by, once)) in seen:
                continue
            seen.add((bare.name, poly_of(by, once)))
            if any(isinstance(h, k.Hw) and h.kind == "thread" for h in walked((once[bare.name],))):
                yield bare.name, by


def _names(e: object) -> set[str]:
    return {x.name for x in walked((e,)) if isinstance(x, k.Var)}


def _made_of(name: str, var: str, known: Mapping[str, k.Expr]) -> bool:
    return name == var or (name in known and any(_made_of(n, var, known) for n in _names(known[name])))


def _set(stmts: Stmts) -> set[str]:
    return {x.name for x in walked(stmts) if isinstance(x, k.Assign)}


def _form(s: k.Stmt, known: dict[str, Any]) -> Form | None:
    """A store, or stores and what they are made of under a condition, but for their spelling."""
    match s:
        case k.Store(array=array, subscripts=subs, value=value):
            return ("store", array, *(form_of(x, known) for x in (*subs, value)))
        case k.If(condition=c, body=body, orelse=()):
            inner, forms = dict(known), []
            for x in body:
                if isinstance(x, k.Assign) and x.name not in known:
                    inner[x.name] = form_of(x.value, inner)
                elif isinstance(x, k.Store):
                    forms.append(_form(x, inner))
                else:
                    return None
            return ("if", form_of(c, known), *forms)
    return None


def _loop(first: k.Stmt, var: str, by: k.Expr, count: int) -> k.For:
    t = next(x.type for x in walked((first,)) if isinstance(x, k.Var) and x.name == var)
    place = k.Op("add", (k.Var(var, t), k.Op("mul", (k.Var(PART, INT32), by), INT32)), t, span=first.span)
    body = rewritten(first, lambda x: place if isinstance(x, k.Var) and x.name == var else None)
    return k.For(PART, k.Const(0, INT32), k.Const(count, INT32), ONE, (body,), type=INT32, span=first.span)


__all__ = ["as_loops"]

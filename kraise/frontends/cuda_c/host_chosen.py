"""Branches of numbers that a helper computes on its way (``if (n == 0) return g; int r = n % g; …``) as choices between
values, so that a size stays a number of Python: a branch of the host would be one of the traced program."""

from __future__ import annotations

from typing import Any

from kraise.ir import kernel as k
from kraise.ir.rename import within
from kraise.ir.rewrite import rewritten

_MOST = 1000  # nodes of one value


def straight(lines: list[Any], value: Any) -> list[k.Assign] | None:
    """Assignments to variables in the place of ``lines``, which stand before ``value``; None where these do something
    else, or grow too long."""
    out: list[k.Assign] = []
    for at, s in enumerate(lines):
        if isinstance(s, k.Assign):
            out.append(s)
            continue
        set_before = {a.name for a in out}
        values = _after((s,), {}, set_before)
        if values is None:
            return None
        later = {v.name for v in within((*lines[at + 1 :], value), k.Var)}
        values = {n: v for n, v in values.items() if n in later}
        while values:  # one that no other reads as it was before
            free = [n for n in values if not any(_reads(v, n) for m, v in values.items() if m != n)]
            if not free:
                return None
            chosen = values.pop(free[0])
            out.append(k.Assign(free[0], chosen, chosen.type, span=getattr(s, "span", None)))
    return out


def _after(body: Any, values: dict[str, k.Expr], known: set[str]) -> dict[str, k.Expr] | None:
    """The variables that statements set, with their values in terms of what stood before."""
    found = dict(values)
    for s in body:
        if isinstance(s, k.Assign):
            found[s.name] = _with(s.value, found)
        elif isinstance(s, k.If):
            test = _with(s.condition, found)
            one, two = _after(s.body, found, known), _after(s.orelse, found, known)
            if one is None or two is None:
                return None
            for name in [*one, *(n for n in two if n not in one)]:
                had = found.get(name) or (k.Var(name, (one.get(name) or two[name]).type) if name in known else None)
                a, b = one.get(name, had), two.get(name, had)
                if a is None or b is None:  # a local of one branch: nobody reads it after
                    found[name] = a or b  # type: ignore[assignment]
                elif a != b:
                    found[name] = k.Op("select", (test, a, b), a.type, span=getattr(s, "span", None))
                else:
                    found[name] = a
        else:
            return None
        if any(len(within(v, object)) > _MOST for v in found.values()):
            return None
    return {n: v for n, v in found.items() if values.get(n) is not v}


def _with(e: Any, values: dict[str, k.Expr]) -> Any:
    return rewritten(e, lambda x: values.get(x.name) if isinstance(x, k.Var) else None)


def _reads(e: k.Expr, name: str) -> bool:
    return any(v.name == name for v in within(e, k.Var))

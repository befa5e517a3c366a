"""Locals that each case of a dispatch sets: ``switch (op) { case ADD: r = a + b; break; case MUL: r = a * b; }``.

Behind it the local has a value where the expression is one of the cases. Where nothing else can be (``k & 3`` has four
values) that is everywhere; else a source that reads the local says that it is one of them: any other has no meaning.
"""

from __future__ import annotations

from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.walk import free_indices, topological
from kraise.raising.run.context import Context
from kraise.raising.run.state import State

_FEW = 2


def _cases(given: eq.Expr) -> tuple[eq.Expr, tuple[int, ...]] | None:
    """The integer and the numbers, if ``given`` says that the one is one of the others."""
    match given:
        case eq.Op(name="eq", args=(x, eq.Const(value=int(c)))) if not isinstance(x, eq.Const):
            return x, (int(c),)
        case eq.Op(name="or", args=(a, b)):
            one, other = _cases(a), _cases(b)
            if one is not None and other is not None and one[0] is other[0]:
                return one[0], tuple(dict.fromkeys((*one[1], *other[1])))
        case eq.Op(name="and", args=(a, b)):
            for more, rest in ((a, b), (b, a)):
                found, without = _cases(more), _other_than(rest)
                if found is not None and without is not None and found[0] is without[0]:
                    return found[0], tuple(c for c in found[1] if c not in without[1])
    return None


def _other_than(e: eq.Expr) -> tuple[eq.Expr, tuple[int, ...]] | None:
    """The integer and the numbers, if ``e`` says that the one is none of the others."""
    match e:
        case eq.Op(name="ne", args=(x, eq.Const(value=int(c)))):
            return x, (int(c),)
        case eq.Op(name="not", args=(eq.Op(name="eq", args=(x, eq.Const(value=int(c)))),)):
            return x, (int(c),)
        case eq.Op(name="and", args=(a, b)):
            one, other = _other_than(a), _other_than(b)
            if one is not None and other is not None and one[0] is other[0]:
                return one[0], (*one[1], *other[1])
        case eq.Op(name="not", args=(inner,)):
            return _cases(inner)
    return None


def complete(cx: Context, st: State, given: eq.Expr) -> bool:
    """Whether a local that has a value where ``given`` has one wherever a source that reads it means something; what
    that says of the arguments is assumed. In a loop the round before may have set it, unless all rounds ask the same.
    """
    found = _cases(given)
    if found is None or len(found[1]) < _FEW:
        return False
    own = frozenset[str]().union(*map(free_indices, cx.threads.values()))
    once = not st.folds and own.issuperset(st.open)
    if any(isinstance(n, eq.CarryIn | eq.FoldResult) for n in topological((found[0],))):
        return False
    if not once and any(isinstance(n, eq.Read | eq.Index) for n in topological((found[0],))):
        return False
    x, numbers = found
    match x:
        case eq.Op(name="and_", args=(_, eq.Const(value=int(mask)))) if set(numbers) == set(range(mask + 1)):
            return True
        case eq.Op(name="tmod" | "mod" as name, args=(a, eq.Const(value=int(n)))) if set(numbers) >= set(range(n)):
            if a.type.is_integer and (name == "mod" or a.type.kind == "uint"):
                return True
    *some, last = map(str, sorted(numbers))
    text = f"{render_expr(x)} is {', '.join(some)} or {last}"
    if text not in cx.assumptions:
        cx.assumptions.append(text)
    return True


__all__ = ["complete"]

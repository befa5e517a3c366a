"""What expressions of the source are, as written: numbers, sums, multiples, the index of a thread."""

from __future__ import annotations

from kraise.ir import kernel as k
from kraise.raising.loops.unrolled import maybe


def stride(e: k.Expr) -> int | None:
    """The c of ``i * c``: as in s[threadIdx.x + i * c], where each thread has every c-th cell."""
    match bare(e):
        case k.Op(name="mul", args=(a, b)):
            return next((n for x, n in ((a, number(b)), (b, number(a))) if n is not None and number(x) is None), None)
    return None


def axis_of_product(e: k.Op, names: dict[str, int]) -> int | None:
    """The axis whose thread index a product holds."""
    return next((axis for a in e.args if (axis := thread_axis(bare(a), names)) is not None), None)


def bare(e: k.Expr) -> k.Expr:
    return bare(e.arg) if isinstance(e, k.Cast) else e


def number(e: k.Expr) -> int | None:
    """The value of an expression of integers."""
    return maybe(bare(e), {})


def addends(e: k.Expr) -> list[k.Expr]:
    match e:
        case k.Op(name="add" | "sub", args=(a, b)):
            return [*addends(a), *addends(b)]
        case k.Cast(arg=a):
            return addends(a)
    return [e]


def thread_axis(e: k.Expr, names: dict[str, int]) -> int | None:
    """The axis whose thread index ``e`` is."""
    match e:
        case k.Hw(kind="thread", axis=axis):
            return axis
        case k.Cast(arg=arg):
            return thread_axis(arg, names)
        case k.Var(name=name):
            return names.get(name)
    return None

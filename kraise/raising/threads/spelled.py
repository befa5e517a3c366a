"""What expressions of the source are, as written: numbers, sums, multiples, the index of a thread."""

from __future__ import annotations

from collections.abc import Iterable

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


def integer(e: k.Expr) -> k.Expr:
    """``e`` without its conversions to integers."""
    return integer(e.arg) if isinstance(e, k.Cast) and e.type.is_integer else e


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


def thread_part(e: k.Expr, names: dict[str, int], values: dict[str, k.Expr]) -> tuple[int, int] | None:
    """The axis and the number of ``threadIdx.x / 32`` (or ``>> 5``); ``values`` of locals that are assigned once."""
    match bare(e):
        case k.Var(name=name) if name in values:
            return thread_part(values[name], names, {n: v for n, v in values.items() if n != name})
        case k.Op(name="floordiv" | "tdiv" | "shr" as op, args=(a, b)):
            axis, by = thread_axis(bare(a), names), number(b)
            if axis is not None and by is not None and 0 < by <= 32:
                return axis, 1 << by if op == "shr" and by < 10 else by
    return None


def block_axis(e: k.Expr, values: dict[str, k.Expr]) -> int | None:
    """The axis of blocks whose index ``e`` is, or a digit of it (``blockIdx.x / n``, ``blockIdx.x % n``, ``blockIdx.x -
    row * n``); ``values`` of locals that are assigned once."""
    match bare(e):
        case k.Hw(kind="block", axis=axis):
            return axis
        case k.Var(name=name) if name in values:
            return block_axis(values[name], {n: v for n, v in values.items() if n != name})
        case k.Op(name="floordiv" | "tdiv" | "mod" | "tmod" | "shr" | "and_" | "sub", args=(a, _)):
            return block_axis(a, values)
    return None


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


def a_block_on(e: k.Expr, names: dict[str, int]) -> int | None:
    """The axis of ``threadIdx.x + blockDim.x``."""
    match bare(e):
        case k.Op(name="add", args=args):
            for a, b in (args, args[::-1]):
                far, axis = bare(a), thread_axis(b, names)
                if isinstance(far, k.Hw) and far.kind == "blockDim" and far.axis == axis:
                    return axis
    return None


def once(nodes: Iterable[object]) -> dict[str, k.Expr]:
    """The locals that are assigned once, and what they are."""
    values: dict[str, list[k.Expr]] = {}
    for s in nodes:
        if isinstance(s, k.Assign):
            values.setdefault(s.name, []).append(s.value)
    return {name: held[0] for name, held in values.items() if len(held) == 1}

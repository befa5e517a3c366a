"""The families of block sizes that a joint computation is tried for, and what the emitted form demands of a block."""

from __future__ import annotations

from dataclasses import dataclass

from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation
from kraise.raising.run.context import Context

ZERO, ONE = eq.Const(0, INT), eq.Const(1, INT)


@dataclass(frozen=True)
class Case:
    """A family of block sizes: those to simulate, and what the emitted function demands ("" nothing)."""

    sizes: tuple[int, ...]
    demand: str = ""


POWERS = Case(tuple(1 << n for n in range(11)), "power")
WARPS = Case(tuple(range(32, 1025, 32)), "warps")
POWERS_OF_WARPS = Case(tuple(1 << n for n in range(5, 11)), "power of warps")
TWO = Case(tuple(1 << n for n in range(1, 11)), "two")
TWO_WARPS = Case(tuple(1 << n for n in range(6, 11)), "two warps")
# a ladder of halves takes no more threads than its first step is for
LADDERS = [Case(tuple(1 << n for n in range(6, most)), "two warps") for most in (10, 9)]


def demand(cx: Context, case: Case) -> None:
    """What a block must be for the emitted form."""
    size = cx.block_size()
    if case.demand in ("power", "power of warps", "two", "two warps"):
        less = operation("sub", (size, ONE), INT)
        test = eq.Op("eq", (simplify.op("and_", (size, less), INT), ZERO), BOOL)
        _check(cx, test, "block must be a power of two", "block is a power of two (so the source's tree takes all)")
    if few := {"two": 2, "two warps": 64}.get(case.demand):
        least = eq.Op("ge", (size, eq.Const(few, INT)), BOOL)
        _check(cx, least, f"block must have {few} threads or more", f"block has {few} threads or more")
    if case.demand in ("warps", "power of warps"):
        cx.whole_warps()
    if case in LADDERS:
        most = eq.Const(case.sizes[-1], INT)
        _check(cx, eq.Op("le", (size, most), BOOL), f"block has {most.value} threads at most", "")


def _check(cx: Context, test: eq.Expr, message: str, assumption: str) -> None:
    if (test, message) not in cx.checks:
        cx.checks.append((test, message))
        cx.assumptions.append(assumption or message)

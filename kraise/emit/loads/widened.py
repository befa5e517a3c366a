"""Integers of 8 and 16 bits, which numba computes with in full width and JAX in their own.

``img[i - 1] + img[i + 1]`` of an image of bytes wraps in JAX. What the arrays of a Python kernel hold is open until the
call, and most hold floats: an array is widened at the head of the function where a sum, a difference or a comparison
of its elements would differ, and the kernel speaks of integers (a ``//``, a shift, the number 255).
"""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.context import Assign, Context
from kraise.emit.text import python as py
from kraise.emit.text.python import Atom
from kraise.ir import equations as eq
from kraise.ir.types import ScalarType

NAME = "widened"
TEXT = '''
def widened(a):
    """Integers of 8 and 16 bits as ones that sums do not wrap; others as they are."""
    return a.astype(int) if a.dtype.kind in "iu" and a.dtype.itemsize < 4 else a
'''
_SUMS = frozenset(("add", "sub", "mul", "neg", "shl", "pow"))
_COMPARED = frozenset(("lt", "le", "gt", "ge", "eq", "ne", "min", "max"))
OF_INTEGERS = frozenset(("floordiv", "mod", "and_", "or_", "xor", "shr", "shl", "invert"))
_PASSED = _SUMS | OF_INTEGERS | {"min", "max", "abs"}
_TELLING = (255, 256, 65535, 65536)


def widen(context: Context, kernel: eq.Kernel) -> None:
    """Emits the head's line for each array that needs it."""
    if not kernel.widens:
        return
    found = _Work(context)
    roots = [r for s in tree.statements(kernel.body) for r in tree.statement_roots(s)]
    roots += [r for r in kernel.returns if not isinstance(r, eq.Version)]
    for node in tree.walk(*roots):
        found.visit(node)
    chosen = found.asked if found.integers else {a for a in found.asked if context.element(a).is_integer}
    stored = {s.before.array for s in tree.statements(kernel.body) if isinstance(s, eq.Write)}
    for array in context.ndim:
        if array in chosen and "." not in array:
            own = context.param_text(array)
            name = context.names.fresh(f"{array}_wide") if array in stored else own
            context.needs.add(NAME)
            context.emit(Assign(name, py.call(NAME, Atom(own))), 0)
            if name != own:
                context.wide[eq.Version(array, 0)] = Atom(name)


class _Work:
    """What the expressions of a kernel ask for."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.asked: set[str] = set()
        self.integers = False
        self.memo: dict[eq.Expr, frozenset[str] | None] = {}

    def visit(self, node: eq.Expr) -> None:
        match node:
            case eq.Op(name=name, args=args):
                held = frozenset().union(*(self.held(a) or () for a in args))
                self.integers |= bool(held) and name in OF_INTEGERS
                self.integers |= any(isinstance(a, eq.Const) and a.value in _TELLING for a in args)
                if name in _SUMS and self.held(node) or name in _COMPARED and not any(_small(a) for a in args):
                    self.asked |= held
            case eq.Reduce(op="add" | "mul", body=body):
                self.asked |= self.held(body) or frozenset()

    def held(self, node: eq.Expr) -> frozenset[str] | None:
        """The arrays whose elements make an integer if they are ones; None if it is a float whatever they are."""
        if node not in self.memo:
            self.memo[node] = self._held(node)
        return self.memo[node]

    def _held(self, node: eq.Expr) -> frozenset[str] | None:
        match node:
            case eq.Read(version=version):
                return frozenset((version.array,)) if _open(self.context.element(version.array)) else frozenset()
            case eq.Op(name="select", args=(_, a, b)):
                parts = [self.held(a), self.held(b)]
            case eq.Op(name=name, args=args) if name in _PASSED:
                parts = [self.held(a) for a in args]
            case eq.Reduce(body=body):
                parts = [self.held(body)]
            case eq.Op() | eq.Cast() | eq.HelperCall():
                return frozenset() if node.type.is_integer or node.type.kind == "bool" else None
            case _:
                return None if node.type.is_inexact else frozenset()
        known = [p for p in parts if p is not None]
        return frozenset().union(*known) if len(known) == len(parts) else None


def _open(element: ScalarType) -> bool:
    narrow = element.is_integer and element.bits in (8, 16)
    return narrow or element.kind == "number"


def _small(node: eq.Expr) -> bool:
    """A number that has its value in every type."""
    return isinstance(node, eq.Const) and 0 <= node.value.real <= 255

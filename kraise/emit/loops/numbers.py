"""What numbers of an open type are as wide as: the elements that reach them, and what they start as.

A scalar that Python source leaves without a type is a number: of the type of the arrays' elements that reach it through
the rounds, and of the numbers beside them (1.5 beside integers, an index).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kraise.emit import tree
from kraise.emit.context import Context
from kraise.emit.loads.widened import OF_INTEGERS
from kraise.emit.loops.sources import made_from, sources
from kraise.emit.text.python import Atom
from kraise.emit.text.spelling import dtype_text, wide
from kraise.ir import equations as eq
from kraise.ir.operations import WIDENING
from kraise.ir.types import INT, INT64

_FLOATING = ("div", "pow", "sqrt", "exp", "log", "sin", "cos", "tanh")


def cell_of(context: Context, name: str) -> str | None:
    """The argument of which a carried scalar is a cell (``$y``, ``$y.before``), or None."""
    array = name[1:].partition(".before")[0]
    is_argument = name.startswith("$") and array in context.ndim and array not in context.extents
    return array if is_argument else None


def parts(ctx: Context, s: eq.ScalarCarry) -> tuple[tuple[Atom, ...], list[str]]:
    """What the type of a number of an open type is the widest of: types, and arrays and numbers."""
    arrays = sorted(arrays_of(ctx, s.init) | arrays_of(ctx, s.update))
    if arrays and s.type.kind == "number":
        arrays += _open_numbers(ctx, s)
        said = {
            f"jnp.{WIDENING[n.name]}" for n in sources(ctx, s.update) if isinstance(n, eq.Op) and n.name in WIDENING
        }
        arrays += sorted(said)
    if not arrays:
        return (), []
    numbers = [n for e in (s.init, s.update) for n in sources(ctx, e) if isinstance(n, eq.Const)]
    far = any(n.type in (INT, INT64) and wide(n) for n in numbers)
    if len(arrays) == 1 and s.type.kind == "number" and far:  # a number that has 64 bits makes the others have them
        return (), [arrays[0], "jnp.int64"]
    arrays += ["jnp.int64"] if far and s.type.kind == "number" else []
    base: tuple[Atom, ...] = () if s.type.kind == "number" else (Atom(dtype_text(s.type)),)
    if any(settles(ctx, n) and not n.type.is_integer for e in (s.init, s.update) for n in sources(ctx, e)):
        base = (*base, Atom("jnp.float_"))  # a sum of numbers is as wide as JAX makes floats
    elif not base and any(_counts(ctx, n) for n in sources(ctx, s.update)):
        base = (Atom("jnp.int_"),)  # indices are as wide as JAX makes integers
    return base, arrays


def _open_numbers(ctx: Context, s: eq.ScalarCarry) -> list[str]:
    """What makes a number of an open type more than the arrays' elements are: a parameter or a fraction that it starts
    as (1.5 beside integers), and an integer to which truth values are added. Another carried number that reaches it
    counts as its own start: the two may change places."""
    nodes = dict.fromkeys(n for e in (s.init, s.update) for n in sources(ctx, e))
    carried = [n for n in nodes if isinstance(n, eq.CarryIn | eq.FoldResult) and cell_of(ctx, n.name) is None]
    starts = [s.init, *(m[0] for n in carried if len(m := made_from(ctx).get((n.fold, n.name), ())) > 1)]
    given = any(isinstance(n, eq.Param) and n.type.kind == "number" for e in starts for n in sources(ctx, e))
    signed = any(map(negative, starts)) and not _inexact_number(nodes)
    # (where all start from an array's elements, the rounds must keep its type)
    made = given or any(isinstance(e, eq.Const) for e in starts)
    made = made or any(isinstance(n, eq.Op) and n.name in OF_INTEGERS for n in nodes)
    fraction = made and any(map(is_fraction, nodes))
    counts = any(isinstance(e, eq.Const) and isinstance(e.value, int) for e in starts)
    counts = counts and any(isinstance(n, eq.Op) and n.name in ("add", "sub") for n in nodes)
    if not (given or signed or fraction or counts):
        return []
    # the type has a line of its own: what else reaches the number stands in it
    params = {ctx.param_text(n.name) for n in nodes if isinstance(n, eq.Param) and n.type.kind == "number"}
    return [*sorted(params), *["jnp.int_"] * signed, *(["1.0"] if fraction else ["0"] * counts)]


def signed(ctx: Context, s: eq.ScalarCarry) -> bool:
    """Whether a number that starts below zero, as an integer, takes elements as they are: they may be unsigned."""
    return negative(s.init) and not _inexact_number(sources(ctx, s.update))


def negative(init: eq.Expr) -> bool:
    return isinstance(init, eq.Const) and isinstance(init.value, int) and init.value < 0


def _inexact_number(nodes: Iterable[eq.Expr]) -> bool:
    return any(n.type.is_inexact for n in nodes if isinstance(n, eq.Const | eq.Cast))


def _counts(ctx: Context, node: eq.Expr) -> bool:
    """Whether a value is an index, of a range or of the rounds that a loop with a condition counts, or ``int(x)``."""
    rounds = isinstance(node, eq.CarryIn | eq.FoldResult) and node.type == INT and cell_of(ctx, node.name) is None
    made = isinstance(node, eq.Cast) and node.type == INT and node.arg.type.kind in ("number", "float")
    return rounds or made or isinstance(node, eq.Index)


def loads(ctx: Context, *roots: eq.Expr) -> Iterator[eq.Read]:
    """The loads of arguments whose dtype reaches ``roots``, through the arrays that the kernel makes, too."""
    todo, made = list(roots), set[str]()
    while todo:
        for node in sources(ctx, todo.pop(0)):
            if not isinstance(node, eq.Read):
                continue
            array = node.version.array
            if array in ctx.ndim.keys() - ctx.extents:
                yield node
            elif array not in made:  # made by the kernel, perhaps in the rounds to come
                made.add(array)
                stmts = tree.statements(ctx.kernel.body)
                todo += [w.value for w in stmts if isinstance(w, eq.Write) and w.after.array == array]


def arrays_of(ctx: Context, root: eq.Expr) -> dict[str, None]:
    """The arguments whose dtype a value of no fixed type takes part of, as they are spelled."""
    found = (node for node in loads(ctx, root) if not node.type.is_integer)
    return dict.fromkeys(ctx.param_text(node.version.array) for node in found)


def settles(ctx: Context, node: eq.Expr) -> bool:
    """Whether a sum is one of numbers that take any width: they give way to the others' width, their sum does not."""
    if not isinstance(node, eq.Reduce | eq.Scan) or node.op not in ("add", "mul", "linear"):
        return False
    return not any(has_width(n) for n in sources(ctx, node) if n is not node and not n.type.is_integer)


def has_width(node: eq.Expr) -> bool:
    return isinstance(node, eq.Read | eq.CarryIn | eq.FoldResult | eq.HelperCall) or (
        isinstance(node, eq.Cast) and node.type.bits is not None
    )


def is_fraction(node: eq.Expr) -> bool:
    """Whether a node makes a fraction of whatever it is given."""
    if isinstance(node, eq.Const | eq.Op | eq.Cast) and node.type.is_inexact:
        return True
    return isinstance(node, eq.Op) and node.name in _FLOATING

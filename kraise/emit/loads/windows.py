"""Short sums over windows (``x[i + k]``, k of a few constants) as sums of slices (raising.md, step 6)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from kraise.emit import tree
from kraise.emit.context import Assign, Block, Context, Def, Frame, Val
from kraise.emit.loads.tables import Tables, entry
from kraise.emit.text import python as py
from kraise.emit.text.linear import linear
from kraise.emit.text.python import Atom
from kraise.ir import equations as eq
from kraise.ir.open_types import floats, in_floats
from kraise.ir.operations import COMPARISONS
from kraise.ir.walk import transform

if TYPE_CHECKING:
    from kraise.emit.lower import Lowering

SHORT = 9  # terms; measured on 3 x 3 stencils: slices beat a gather and a convolution
LONGEST = 128  # terms that a sum of slices may have: each is traced and compiled
MANY = 64  # terms that are functions of several lines
LIGHT = 4  # operations of a term that is written out again and again
_FOLDED: dict[str, Callable[..., int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "abs": abs,
    "min": min,
    "max": max,
    "mod": lambda a, b: a % b,
    "floordiv": lambda a, b: a // b,
    "and_": operator.and_,
    "or_": operator.or_,
    "xor": operator.xor,
}


def unrolled(low: Lowering, node: eq.Reduce) -> eq.Expr | None:
    """The reduction over a window of constant size, term by term, or None where that is no good form.

    A mask must be decided at each point of the window: what it excludes is no term. Where data say the places (the
    four pixels around a point), a mask that is not decided stays over its term. (Measured on 300 x 300 points in eight
    images: a fifth of the time of axes of two.)
    """
    chain = terms(node, low.ctx.free, low.ctx.tables)
    if chain is None or not chain or _held(low, node):
        return None
    if any(mask is not None for _, mask in chain):
        if node.op != "add" or not _at_data(low.ctx.free, node):
            return None
        from kraise.emit.sums.zeroed import guarded

        nought = eq.Const(0.0 if node.body.type.is_inexact else 0, node.body.type)
        chain = [
            (b if m is None else eq.Op("select", (m, guarded(low, b, m), nought), node.body.type), None)
            for b, m in chain
        ]
    if _heavy(low, node):
        return None
    total = floats(chain[0][0]) if in_floats(node) else chain[0][0]
    for body, _ in chain[1:]:
        total = eq.Op(node.op, (total, body), node.type)
    return total


def generated(low: Lowering, node: eq.Reduce, frame: Frame, own: Frame) -> Val | None:
    """A sum over a window of constant size as a sum of slices that Python runs when the function is traced.

    ``sum(w[k] * x[k : k + n] for k in range(7))``; measured on 5 x 5 filters of 1024 x 1024 pixels on a CPU: 30 times
    as fast as index arrays or a convolution. None where the terms need variables of their own, or there are too many.
    """
    ctx = low.ctx
    sizes = [linear(a.hi) - linear(a.lo) for a in node.axes]
    points = 1
    for axis, size in zip(node.axes, sizes, strict=True):
        if size.terms or linear(axis.lo).terms or size.constant <= 0 or axis.step != 1:
            return None
        points *= size.constant
    plain = node.op == "add" and node.where is None and node.body.type.kind != "bool"
    heavy = points <= SHORT and _heavy(low, node)
    if not plain or not (SHORT < points <= LONGEST or heavy) or not _is_window(ctx.free, node):
        return None
    if {a.name for a in node.axes} & {a.name for n in tree.walk(node.body) for a in tree.axes_of(n)}:
        return None  # of two indices with one name the text has one
    if not ctx.names.builtin("sum") or _go_round(ctx, node, own):
        return None
    blocks = [Block("", a.name, ctx.names.fresh(a.name), a, unrolled=True) for a in node.axes]
    for block in blocks:
        ctx.enter(block)
    ctx.generators += 1
    try:
        value = low.lower(node.body, own)
    finally:
        ctx.generators -= 1
        for block in blocks:
            ctx.leave()
            ctx.names.release(block.index_text)
    lines = [line for b in blocks for line in b.lines]
    made = [line.target for line in lines if isinstance(line, Assign) and line.target]
    for name in made:
        ctx.names.release(name)
    if value.axes != own or value.rank != len(own) or len(made) < len(lines):
        return None
    term = value.py
    last = lines[-1] if lines else None
    if isinstance(last, Assign) and Atom(last.target or "") == term:
        lines, term = lines[:-1], last.value
    if lines and not (points <= MANY and _in_slices(ctx.free, node)):
        return None
    if lines:
        name = ctx.names.fresh("term")
        given = tuple(b.index_text for b in blocks)
        ctx.emit(Def(name, given, [*lines, Assign(None, term)]))
        term = py.call(name, *map(Atom, given))
    ranges = [py.Call(Atom("range"), ctx.range_arguments(a)) for a in node.axes]
    clauses = tuple((b.index_text, r) for b, r in zip(blocks, ranges, strict=True))
    return low.extend(py.call("sum", py.Generator(term, clauses)), own, frame)


def _go_round(ctx: Context, node: eq.Reduce, own: Frame) -> bool:
    """Whether a load is of rows, one for each index, that go round by their own number of places: one array of them."""
    from kraise.emit.loads.rolls import rolls

    for n in tree.walk(node.body):
        if isinstance(n, eq.Read) and not n.safe and len(n.subscripts) > 1:
            frame = tuple(a for a in (*node.axes, *own) if a.name in ctx.free(n))
            found = rolls(ctx, n.subscripts, ctx.array_extents(n.version, n.view), frame)
            if found is not None and found.rows in node.axes and not any(found.parts):
                return True
    return False


def _in_slices(free: tree.Free, node: eq.Reduce) -> bool:
    """Whether each term's loads are slices: their subscripts are sums, and none is kept inside its array by hand."""
    names = {a.name for a in node.axes}
    loads = [n for n in tree.walk(node.body) if isinstance(n, eq.Read) and free(n) & names]
    atoms = [a for n in loads for s in n.subscripts for a, _ in linear(s).terms]
    sums = all(isinstance(a, eq.Index | eq.Param | eq.Shape | eq.Const) for a in atoms)
    return sums and not any(n.safe and not n.outside for n in loads)


def terms(node: eq.Reduce, free: tree.Free, tables: Tables) -> list[tuple[eq.Expr, eq.Expr | None]] | None:
    """The terms of a reduction over a short window with the masks that are left over them (None: always), or None."""
    points = 1
    for axis in node.axes:
        size = linear(axis.hi) - linear(axis.lo)
        if size.terms or linear(axis.lo).terms or size.constant <= 0 or axis.step != 1:
            return None
        points *= size.constant
    if node.op not in ("add", "mul", "min", "max") or points > SHORT or not _is_window(free, node):
        return None
    bodies = [node.body]
    masks: list[eq.Expr | None] = [node.where]
    for axis in node.axes:
        lo = linear(axis.lo).constant
        steps = range(lo, linear(axis.hi).constant)
        bodies = [at(b, axis.name, k, tables) for b in bodies for k in steps]
        masks = [None if m is None else at(m, axis.name, k, tables) for m in masks for k in steps]
    verdicts = [True if m is None else truth(m) for m in masks]
    return [
        (b, None if verdict else m)
        for b, m, verdict in zip(bodies, masks, verdicts, strict=True)
        if verdict is not False
    ]


def _heavy(low: Lowering, node: eq.Reduce) -> bool:
    """Whether a term of a sum of slices is better written once."""
    free, names = low.ctx.free, {a.name for a in node.axes}
    work = [n for n in tree.walk(node.body) if isinstance(n, eq.Op | eq.HelperCall) and free(n) & names]
    of_values = sum(n.type.is_inexact and bool(free(n) - names) for n in work)
    return node.op == "add" and node.where is None and of_values > LIGHT and _in_slices(free, node)


def _is_window(free: tree.Free, node: eq.Reduce) -> bool:
    """Whether a load moves with the reduced indices and others in one subscript, and nothing costly is repeated."""
    names = {a.name for a in node.axes}
    windows = [
        s
        for n in tree.walk(node.body)
        if isinstance(n, eq.Read)
        for s in n.subscripts
        if free(s) & names and free(s) - names
    ]
    costly = (n for n in tree.walk(node.body) if isinstance(n, eq.Reduce | eq.Scan | eq.ArgReduce))
    return bool(windows) and not any(free(n) & names for n in costly) and not _contracted(free, node.body, names)


def _at_data(free: tree.Free, node: eq.Reduce) -> bool:
    """Whether data say the places of all loads that move with the reduced indices."""
    names = {a.name for a in node.axes}
    loads = [n for n in tree.walk(node.body) if isinstance(n, eq.Read) and free(n) & names]
    return all(any(isinstance(m, eq.Read) for s in n.subscripts for m in tree.walk(s)) for n in loads)


def _contracted(free: tree.Free, body: eq.Expr, names: set[str]) -> bool:
    """Whether a product is one of a matrix with what is looked up for a vector (``ke[e, a, b] * u[elem[e, b]]``): once
    for all rows is less than again for each."""
    match body:
        case eq.Op(name="mul", args=(a, b)):
            pairs = ((a, b), (b, a))
            return any(
                isinstance(v, eq.Read)
                and any(free(s) & names and any(isinstance(n, eq.Read) for n in tree.walk(s)) for s in v.subscripts)
                and bool(free(m) - free(v))
                and not free(v) - free(m)
                for v, m in pairs
            )
    return False


def _held(low: Lowering, node: eq.Reduce) -> bool:
    """Whether what the terms would load is at hand for the whole window: some variable holds it with all its axes."""
    free, names = low.ctx.free, {a.name for a in node.axes}
    variables = {
        (key[0], frozenset(a.name for a in own))
        for b in low.ctx.blocks
        for key, (_, own) in b.variables.items()
        if isinstance(key, tuple)
    }

    return at_hand(node.body, names, free, lambda n: (n, free(n)) in variables)


def at_hand(body: eq.Expr, names: set[str], free: tree.Free, made: Callable[[eq.Expr], bool]) -> bool:
    """Whether all that a body has of a window's indices ``names`` and of others at once is ``made`` of what is."""

    def held(n: eq.Expr) -> bool:
        if not free(n) & names or not free(n) - names or made(n):
            return True
        below = tree.children(n)
        return not isinstance(n, eq.Read) and bool(below) and all(map(held, below))

    return held(body)


def truth(condition: eq.Expr) -> bool | None:
    """Whether a condition without indices holds; None where that is not known here."""
    match condition:
        case eq.Const(value=value):
            return bool(value)
        case eq.Op(name="not", args=(a,)):
            known = truth(a)
            return None if known is None else not known
        case eq.Op(name="and" | "or" as name, args=args):
            parts = [truth(a) for a in args]
            if (name == "or") in parts:
                return name == "or"
            return None if None in parts else name == "and"
        case eq.Op(name=name, args=(a, b)) if name in COMPARISONS and a.type.is_integer and b.type.is_integer:
            difference = linear(a) - linear(b)
            return None if difference.terms else COMPARISONS[name](difference.constant, 0)
    return None


def at(node: eq.Expr, index: str, value: int, tables: Tables) -> eq.Expr:
    """An expression at one value of an index, the choices that this value makes made."""
    into: dict[eq.Expr, eq.Expr] = {}
    for n in tree.walk(node):
        match n:
            case eq.Index(name=name) if name == index:
                into[n] = eq.Const(value, n.type)
            case eq.Cast(type=kind, arg=eq.Index(name=name)) if name == index and kind.is_integer:
                into[n] = eq.Const(value, kind)
    if value == 0:  # nothing is added
        for n in tree.walk(node):
            match n:
                case eq.Op(name="add", args=(a, b)) if b in into and not into.keys() & set(tree.walk(a)):
                    into[n] = a
    return transform(tree.substitute(node, into, {}, bound=index), lambda n: _decided(n, tables))


def _decided(node: eq.Expr, tables: Tables) -> eq.Expr:
    """A choice that the index's value makes as what it chooses, an integer of a table as its value, numbers as what
    they come to."""
    match node:
        case eq.Op(name="pick", args=(eq.Const(value=int() as number), *values)) if 0 <= number < len(values):
            return values[number] if values[number].type == node.type else node
        case eq.Read(type=kind) if kind.is_integer:
            return entry(tables, node) or node
        case eq.Op(name="select", args=(c, a, b)) if (known := truth(c)) is not None:
            arm = a if known else b
            if isinstance(arm, eq.Const) and arm.type.is_integer and node.type.is_integer:
                return eq.Const(node.type.wrapped(int(arm.value.real)), node.type)
            return arm if arm.type == node.type else node
        case eq.Cast(type=kind, arg=eq.Const(value=int() as value)) if kind.kind == "float" and abs(value) < 1 << 8:
            return eq.Const(float(value), kind)  # which every float holds
        case eq.Op(name="mul", args=(a, eq.Const(value=1)), type=kind) if a.type == kind:
            return a
        case eq.Op(name=name, args=args, type=kind) if kind.kind == "int" and name in _FOLDED:
            plain = [a for a in args if isinstance(a, eq.Const) and not a.name and a.type.is_integer]
            numbers = [a.value for a in plain if type(a.value) is int]
            if len(numbers) == len(args) and (name not in ("mod", "floordiv") or numbers[1]):
                value, reach = _FOLDED[name](*numbers), 1 << ((kind.bits or 32) - 1)
                return eq.Const(value, kind) if -reach <= value < reach else node
    return node

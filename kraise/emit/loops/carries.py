"""Carried scalars: what each starts from, and the dtype that its rounds keep, which is its own.

A cell of an array that a loop holds in a register (``$y``) has the array's dtype: every store converts to it. Any
other scalar has the dtype that the values which reach it have; what only decides (a condition, a subscript) has no say.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit import tree
from kraise.emit.context import Assign, Context
from kraise.emit.loops.numbers import (
    arrays_of,
    cell_of,
    has_width,
    is_fraction,
    loads,
    parts,
    settles,
    signed,
)
from kraise.emit.loops.sources import sources
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.python import Atom, Py
from kraise.emit.text.spelling import dtype_text
from kraise.ir import equations as eq
from kraise.ir.types import INT, INT32, ScalarType

Dtypes = dict[tuple[str, ...], Py]


def start(low: Lowering, s: eq.ScalarCarry, dtypes: Dtypes) -> Py:
    """A carried scalar on entry: a full array of the dtype that the rounds keep."""
    ctx = low.ctx
    if s.type.kind == "uint" and s.type.bits and s.init.type == INT and not isinstance(s.init, eq.Const | eq.Param):
        s = replace(s, init=eq.Cast(s.type, s.init))  # a difference of sizes wraps as its rounds do
    narrow = _follows(ctx, s) is not None and _loses_width(ctx, s, s.init)
    # an integer takes the width of the rounds at once
    whole = narrow and isinstance(s.init, eq.Cast) and s.init.arg.type.is_integer and bool(s.axes)
    value = low.lower(s.init.arg if whole and isinstance(s.init, eq.Cast) else s.init, s.axes)
    if not s.axes:
        given = isinstance(s.init, eq.Param) and s.type.is_integer and s.type != INT32  # maybe as a number of Python's
        if s.type.bits is not None and (given or isinstance(s.init, eq.Const)) and s.type.kind != "bool":
            wanted = Atom("int") if _as_index(ctx, s) else _follows(ctx, s) or Atom(dtype_text(s.type))
            return py.call("jnp.asarray", value.py, wanted)
        array = cell_of(ctx, s.name)
        if array is not None and s.type.bits is None and not _keeps(ctx, array, s.init):
            return py.call("jnp.asarray", value.py, py.Attr(Atom(ctx.param_text(array)), "dtype"))
        if s.type.is_integer and _is_wide_index(ctx, s.type, s.init):
            return py.call("jnp.asarray", value.py, Atom(dtype_text(s.type)))
        if _becomes_wide(ctx, s, s.init):
            return py.call("jnp.asarray", value.py, Atom("int"))
        if _starts_wide(ctx, s) or (_is_fraction_of_integer(s, s.init) and not isinstance(s.init, eq.Const)):
            return py.call("jnp.asarray", value.py, _dtype(ctx, s, dtypes))
        follows = _follows(ctx, s) if narrow else None
        return value.py if follows is None else py.call("jnp.asarray", value.py, follows)
    shape = ctx.shape_of(s.axes)
    dtype = _dtype(ctx, s, dtypes)
    if not value.axes:
        return _full(ctx, s, value.py, dtype)
    text = value.py
    if value.axes != s.axes:
        text = py.call("jnp.broadcast_to", text, shape)
    known = s.init.type == s.type and s.type.bits is not None and not narrow
    if set(arrays_of(ctx, s.init)) == {_text(dtype)} and isinstance(s.init, eq.Read | eq.CarryIn | eq.FoldResult):
        known = True
    if s.type.is_integer and _is_wide_index(ctx, s.type, s.init):
        known = False
    elif _cell_from_index(ctx, s, s.init):
        known, dtype = False, py.Attr(Atom(ctx.param_text(cell_of(ctx, s.name))), "dtype")  # type: ignore[arg-type]
    return text if known else py.method(text, "astype", dtype)


def update(low: Lowering, s: eq.ScalarCarry, dtypes: Dtypes) -> Py:
    """A carried scalar after a round, in the shape and dtype that it had before."""
    ctx = low.ctx
    value = low.lower(s.update, s.axes)
    text = value.py
    if not value.axes and s.type.bits is not None and s.type.kind != "bool" and ctx.is_static(s.update):
        own = _follows(ctx, s) or Atom(dtype_text(s.type))  # a number has JAX's own width
        return _full(ctx, s, text, own) if s.axes else py.call("jnp.asarray", text, own)
    if s.axes and value.axes != s.axes:
        text = py.call("jnp.broadcast_to", text, ctx.shape_of(s.axes))
    kind = s.update.type
    array = cell_of(ctx, s.name)
    dtype: Py | None = None
    if kind != s.type and _may_widen(kind, s.type):
        if _as_index(ctx, s):
            return text
        dtype = _follows(ctx, s) or Atom(dtype_text(s.type))
    elif isinstance(s.update, eq.CarryIn) and cell_of(ctx, s.update.name) == array:
        return text  # another round's cell of the same array
    elif array is not None and (
        (s.type.bits is None and not _keeps(ctx, array, s.update)) or _cell_from_index(ctx, s, s.update)
    ):
        dtype = py.Attr(Atom(ctx.param_text(array)), "dtype")
    elif s.type.kind == "float" and s.type.bits is not None and _loses_width(ctx, s, s.update):
        dtype = _follows(ctx, s) or Atom(dtype_text(s.type))
    elif s.type.is_integer and (_is_wide_index(ctx, s.type, s.update) or _of_literals(s, s.update)):
        dtype = Atom(dtype_text(s.type))
    elif not s.axes and _becomes_wide(ctx, s, s.update):
        dtype = Atom("int")
    elif _is_fraction_of_integer(s, s.update) or _narrower(ctx, s):
        dtype = _dtype(ctx, s, dtypes)
    if dtype is None:
        return text
    return py.call("jnp.asarray", text, dtype) if not value.axes else py.method(text, "astype", dtype)


def _becomes_wide(ctx: Context, s: eq.ScalarCarry, value: eq.Expr) -> bool:
    """Whether an element, as wide as its array, reaches an integer that is as wide as JAX makes them elsewhere: where
    it starts, or where a round leaves it (an index, ``int(x)``)."""
    if s.type != INT or s.axes or cell_of(ctx, s.name) is not None:
        return False
    here, everywhere = list(sources(ctx, value)), [*sources(ctx, s.init), *sources(ctx, s.update)]
    own = [n for n in here if not isinstance(n, eq.CarryIn | eq.FoldResult)]
    elements = any(isinstance(n, eq.Read) for n in own)
    return elements and not any(_is_whole(ctx, n) for n in here) and any(_is_whole(ctx, n) for n in everywhere)


def _is_whole(ctx: Context, node: eq.Expr) -> bool:
    """Whether a value is an integer as wide as JAX makes them, or an element of an array of such ones."""
    if isinstance(node, eq.Cast) and node.type == INT or isinstance(node, eq.Index | eq.ArgReduce) or _is_total(node):
        return True
    own = isinstance(node, eq.Read) and node.type == INT and node.version.array in ctx.extents
    return own and _is_wide(ctx, node)


def _starts_wide(ctx: Context, s: eq.ScalarCarry) -> bool:
    """Whether a number of an open type, of no axis, starts with the type that its rounds give it."""
    if s.type.bits is not None or cell_of(ctx, s.name) is not None:
        return False
    further = arrays_of(ctx, s.update)
    if (own := arrays_of(ctx, s.init)) and further.keys() - own:
        return True
    if s.type.kind != "number" or not further:
        return False
    # beside indices, which are wide, a number that is more than elements of 8 bits hold is no number of theirs
    large = isinstance(s.init, eq.Const) and isinstance(s.init.value, int) and s.init.value > 127
    return signed(ctx, s) or _only_carried(ctx, s) or _handed_in(ctx, s) or (large and bool(parts(ctx, s)[0]))


def _is_fraction_of_integer(s: eq.ScalarCarry, value: eq.Expr) -> bool:
    """Whether an integer becomes a float of open width: a cell has the type of its array, whatever is stored."""
    return s.type.kind == "float" and s.type.bits is None and value.type.is_integer


def _narrower(ctx: Context, s: eq.ScalarCarry) -> bool:
    """Whether rounds make a number of an open type anew, and of less than what gives the number its type: of elements
    alone, where it started as a number that may be wider than they."""
    if s.type.kind != "number" or cell_of(ctx, s.name) is not None or not (s.axes or _starts_wide(ctx, s)):
        return False
    if _takes(s.update, s.name):
        return False
    base, arrays = parts(ctx, s)
    here, of_round = parts(ctx, replace(s, init=s.update))
    return bool(arrays) and (base, set(arrays) - {"0"}) != (here, set(of_round) - {"0"})


def _takes(value: eq.Expr, name: str) -> bool:
    """Whether a value is as wide as the carried scalar ``name`` at least: that is a part of it."""
    match value:
        case eq.CarryIn(name=other):
            return other == name
        case eq.Op(name="select", args=(_, *args)):
            return any(_takes(a, name) for a in args)
        case eq.Op(args=args, type=kind) if kind.kind != "bool":
            return any(_takes(a, name) for a in args)
    return False


def _full(ctx: Context, s: eq.ScalarCarry, number: Py, dtype: Py) -> Py:
    if py.flat(number) in ("0", "0.0", "False"):
        return py.call("jnp.zeros", ctx.shape_of(s.axes), dtype)
    return py.call("jnp.full", ctx.shape_of(s.axes), number, dtype)


def _cell_from_index(ctx: Context, s: eq.ScalarCarry, value: eq.Expr) -> bool:
    """Whether an index, which is as wide as JAX makes integers, reaches a cell of an array of integers."""
    whole = s.type.is_integer and cell_of(ctx, s.name) is not None
    return whole and any(isinstance(n, eq.Index) for n in sources(ctx, value))


def _dtype(ctx: Context, s: eq.ScalarCarry, dtypes: Dtypes) -> Py:
    array = cell_of(ctx, s.name)
    if s.type.bits is None and array is not None:
        return py.Attr(Atom(ctx.param_text(array)), "dtype")
    if _as_index(ctx, s):
        return Atom("int")
    if s.type.bits is not None or s.type.kind in ("int", "bool"):
        return _follows(ctx, s) or Atom(dtype_text(s.type))
    base, arrays = parts(ctx, s)
    if not arrays:
        return Atom(dtype_text(s.type))
    if len(arrays) == 1 and not base:
        return Atom(arrays[0] + ".dtype")
    if arrays[1:] == ["jnp.int64"]:
        return py.call("jnp.result_type", *map(Atom, arrays))
    key = (s.type.kind, *map(py.flat, base), *arrays)
    if key not in dtypes:
        name = ctx.names.fresh("dtype")
        ctx.emit(Assign(name, py.call("jnp.result_type", *base, *(Atom(a) for a in arrays))))
        dtypes[key] = Atom(name)
    return dtypes[key]


def _handed_in(ctx: Context, s: eq.ScalarCarry) -> bool:
    """Whether a loop with a condition begins with a scalar, and leaves it with elements: what such a loop carries is of
    one type, which a number is not by itself."""
    loops = {f.name: f for f in tree.statements(ctx.kernel.body) if isinstance(f, eq.Fold) and f.condition is not None}
    left = [n for n in sources(ctx, s.update) if isinstance(n, eq.FoldResult) and n.fold in loops]
    inner = [c for n in left for c in loops[n.fold].scalars if c.name == n.name]
    return any(isinstance(c.init, eq.CarryIn) and c.init.name == s.name for c in inner)


def _only_carried(ctx: Context, s: eq.ScalarCarry) -> bool:
    """Whether what a round gives a scalar are other scalars and numbers, which may be any type's: no element."""
    todo, others = [s.update], False
    while todo:
        match todo.pop():
            case eq.Op(name="select", args=(_, *args)):
                todo += args
            case eq.CarryIn(name=name):
                others |= name != s.name
            case eq.Const():
                pass
            case _:
                return False
    return others


def _as_index(ctx: Context, s: eq.ScalarCarry) -> bool:
    """Whether a scalar is as wide as the indices that reach it, whatever that is. A cell is as wide as its array."""
    if s.type != INT32 or ctx.x64 or cell_of(ctx, s.name) is not None:
        return False
    return any(isinstance(n, eq.Index) for n in sources(ctx, s.update))


def _follows(ctx: Context, s: eq.ScalarCarry) -> Py | None:
    """The dtype of an argument of the scalar's own type that reaches it: the function works in wider floats, too. An
    argument whose type the source leaves open (through a tile of the scalar's type) may be wider than the scalar."""
    if s.type.kind != "float":
        return None
    open_ones: dict[str, None] = {}
    for node in loads(ctx, s.update, s.init):
        if node.type == s.type:
            return py.Attr(Atom(ctx.param_text(node.version.array)), "dtype")
        if node.type.kind == "number":
            open_ones[ctx.param_text(node.version.array)] = None
    if not open_ones:
        return None
    return py.call("jnp.result_type", Atom(dtype_text(s.type)), *map(Atom, open_ones))


def _of_literals(s: eq.ScalarCarry, value: eq.Expr) -> bool:
    """Whether an integer of the source's own width is chosen among literals alone (``2 if v > 5 else 1``): JAX gives
    that its own width, and a sign, while what starts as a literal has the source's."""
    match value:
        case eq.Op(name="select", args=(_, *args), type=kind) if kind == s.type and kind.bits and kind.kind != "bool":
            return all(isinstance(a, eq.Const) or _of_literals(s, a) for a in args)
    return False


def _is_wide_index(ctx: Context, kind: ScalarType, value: eq.Expr) -> bool:
    """Whether an index or a sum of 64 bits, as JAX has them then, reaches an integer of fewer, or one without a sign. A
    caller may have JAX's 64-bit mode on where the module does not ask for it; an index is signed, however wide."""
    narrow = kind.bits is not None and (kind.bits < 64 or kind.kind == "uint")
    wide = _is_wide if ctx.x64 or kind.kind == "uint" else _is_sum
    return narrow and any(wide(ctx, n) for n in sources(ctx, value))


def _is_wide(ctx: Context, node: eq.Expr) -> bool:
    if isinstance(node, eq.Read) and node.version.array in ctx.extents:  # rows' totals, or where they lie
        stmts = tree.statements(ctx.kernel.body)
        made = [s for s in stmts if isinstance(s, eq.Write) and s.after.array == node.version.array]
        nodes = (n for s in made for n in sources(ctx, s.value))
        return any(s.accumulate for s in made) or any(_is_total(n) or isinstance(n, eq.Index) for n in nodes)
    return isinstance(node, eq.Index) or _is_total(node) or (isinstance(node, eq.Read) and node.type == INT)


def _is_sum(ctx: Context, node: eq.Expr) -> bool:
    return isinstance(node, eq.Reduce) and _is_total(node)


def _is_total(node: eq.Expr) -> bool:
    return isinstance(node, eq.Reduce | eq.Scan) and node.op in ("add", "mul") and node.type.is_integer


def _loses_width(ctx: Context, s: eq.ScalarCarry, value: eq.Expr) -> bool:
    """Whether a scalar's value is as wide as JAX makes floats, whatever the source's are: where nothing but numbers
    makes it, or a sum of them; or as wide as the source says, where the scalar is as wide as an argument."""
    nodes = list(sources(ctx, value))
    if any(settles(ctx, n) for n in nodes):
        return True
    own = [n for n in nodes if has_width(n) and not _of_numbers(ctx, s, n)]
    return all(isinstance(n, eq.Cast) for n in own) and (not own or _follows(ctx, s) is not None)


def _of_numbers(ctx: Context, s: eq.ScalarCarry, node: eq.Expr) -> bool:
    """Whether another carried scalar holds what numbers make: as wide as the source says, not as the arguments are."""
    if not isinstance(node, eq.CarryIn | eq.FoldResult) or node.name == s.name or cell_of(ctx, node.name) is not None:
        return False
    return not any(isinstance(n, eq.Read | eq.HelperCall) for n in sources(ctx, node))


def of_made(ctx: Context, array: str, element: ScalarType) -> Py | None:
    """The dtype of an array of floats that the kernel makes and a loop carries: that of what is stored in it, too, so
    that the rounds keep it where the function works in wider floats; None for any other array."""
    statements = list(tree.statements(ctx.kernel.body))
    folds = [s for s in statements if isinstance(s, eq.Fold)]
    if (
        element.kind != "float"
        or element.bits is None
        or not any(c.outside.array == array for f in folds for c in f.arrays)
    ):
        return None
    stored = [s.value for s in statements if isinstance(s, eq.Write) and s.after.array == array]
    arguments = ctx.ndim.keys() - ctx.extents
    found = dict.fromkeys(
        (n.version.array, n.type)
        for value in stored
        for n in sources(ctx, value)
        if isinstance(n, eq.Read) and n.version.array in arguments and (n.type == element or n.type.kind == "number")
    )
    if len({kind for _, kind in found}) != 1:
        return None
    names = [Atom(ctx.param_text(a)) for a, _ in found]
    if all(kind == element for _, kind in found):
        return py.Attr(names[0], "dtype")
    return py.call("jnp.result_type", *names, Atom(dtype_text(element)))


def _text(dtype: Py) -> str:
    return py.flat(dtype).removesuffix(".dtype")


def _keeps(ctx: Context, array: str, root: eq.Expr) -> bool:
    """Whether a cell's new value has the dtype of its array: nothing but its own cells and weak numbers made it.

    An integer beside a fraction is as weak as that.
    """
    nodes = list(sources(ctx, root))
    if arrays_of(ctx, root).keys() != {ctx.param_text(array)}:
        return False
    carried = (n for n in nodes if isinstance(n, eq.CarryIn | eq.FoldResult) and cell_of(ctx, n.name) is None)
    if any(not arrays_of(ctx, n) for n in carried):  # numbers made it: it is as wide as JAX makes them
        return False
    if any(isinstance(n, eq.Read) and n.type.is_integer for n in nodes):
        integer = True
    else:
        integer = any(
            isinstance(n, eq.Index | eq.ArgReduce) or (isinstance(n, eq.Cast) and n.type.is_integer) for n in nodes
        )
    return any(map(is_fraction, nodes)) or not integer


def _may_widen(kind: ScalarType, carry: ScalarType) -> bool:
    if carry.kind in ("number", "float", "complex") and carry.bits is None:
        return False
    return not (carry.bits is None and kind.kind == carry.kind)

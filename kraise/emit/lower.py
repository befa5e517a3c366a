"""Values: an expression over named indices becomes an array expression whose axes are aligned with a frame.

:class:`Lowering` dispatches on the node and decides what becomes a variable; loads, reductions and folds have modules
of their own. A value is written for the axes it has and extended with ``None`` where it is used.
"""

from __future__ import annotations

import struct

from kraise.diagnostics import refuse
from kraise.emit import division, operands, tree
from kraise.emit.context import Assign, Context, Frame, Val
from kraise.emit.loads.tables import entry, weak
from kraise.emit.naming import name_for
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.names import identifier
from kraise.emit.text.python import ALL, NONE, Atom, Py
from kraise.emit.text.spelling import dtype_text, fill, of_numbers, plain, repeats, template, transposed
from kraise.ir import equations as eq
from kraise.ir.operations import OPERATIONS, counts_bits
from kraise.ir.types import FLOAT, FLOAT32, FLOAT64, INT32, UINT32

CHEAP = (eq.Const, eq.Param, eq.Shape, eq.Index, eq.CarryIn, eq.FoldResult)
_THERE_AND_BACK = (INT32, UINT32, INT32)  # no bit changes: it says that what is done with the number may wrap


class Lowering:
    """Lowers the expressions of one function."""

    def __init__(self, context: Context):
        self.ctx = context

    # --- entry -------------------------------------------------------------------------------

    def lower(self, node: eq.Expr, frame: Frame) -> Val:
        """The value of ``node`` aligned with ``frame``, through a variable where one is worth it."""
        free = self.ctx.free(node)
        own = tuple(a for a in frame if a.name in free)
        known = self.variable(node, own)
        if known is not None:
            return self.extend(Atom(known[0]), known[1], frame)
        if self.worth_a_variable(node, own):
            return self.extend(Atom(self.define(node, own)), own, frame)
        key = (node, frame)
        found = self.ctx.inline.get(key)
        if found is None:
            found = self.ctx.inline[key] = self.raw(node, frame, own)
        return found

    def stored(self, node: eq.Expr, frame: Frame) -> Val:
        """Like :meth:`lower`, for all of what an array becomes: the array's name will do."""
        free = self.ctx.free(node)
        if self.ctx.uses[node] > 1 or node not in self.ctx.wishes or {a.name for a in frame} != free:
            return self.lower(node, frame)
        return self.raw(node, frame, frame)

    def variable(self, node: eq.Expr, own: Frame) -> tuple[str, Frame] | None:
        """The name and the axes of the variable that holds a value over its own axes."""
        key = (node, frozenset(own))
        for block in self.ctx.blocks:
            known = block.variables.get(key)
            if known is not None:
                return known
        return None

    def define(self, node: eq.Expr, own: Frame, wish: str = "") -> str:
        """Makes a variable for a value over its own axes, in the outermost block that can hold it."""
        named = self.ctx.wishes.get(node)
        depth = self.ctx.depth(node)
        value = self.raw(node, own, own)
        if isinstance(value.py, Atom) and value.axes == own and isinstance(node, eq.Read):
            # a whole array, or what came into a round: it has a name already
            self.ctx.aliases.add(node)
            self.ctx.blocks[depth].variables[(node, frozenset(own))] = (value.py.text, own)
            return value.py.text
        name = self.ctx.names.fresh(named.name if named else wish or name_for(self.ctx, node))
        self.ctx.emit(Assign(name, value.py, named.span if named else None, True), depth)
        self.ctx.blocks[depth].variables[(node, frozenset(own))] = (name, own)
        return name

    def as_name(self, node: eq.Expr, frame: Frame, wish: str = "") -> Val:
        """Like :meth:`lower`, but never a compound expression."""
        value = self.lower(node, frame)
        if isinstance(value.py, Atom | py.Sub) or isinstance(node, CHEAP):
            return value
        own = tuple(a for a in frame if a.name in self.ctx.free(node))
        return self.extend(Atom(self.define(node, own, wish)), own, frame)

    def extend(self, array: Py, own: Frame, frame: Frame) -> Val:
        """An array over ``own`` (in that order) aligned with ``frame``: transposed, then ``None`` for axes it lacks."""
        order = tuple(a for a in frame if a in own)
        if order != own:
            array = transposed(array, tuple(own.index(a) for a in order))
        if not order:
            return Val(array, (), 0)
        start = frame.index(order[0])
        items = tuple(ALL if a in order else NONE for a in frame[start:])
        if NONE in items:
            array = py.Sub(array, items)
        return Val(array, order, len(items))

    # --- what becomes a variable ---------------------------------------------------------------

    def worth_a_variable(self, node: eq.Expr, own: Frame) -> bool:
        """Used more than once and not trivial, or named by the source and more than one operation."""
        from kraise.emit import lazy
        from kraise.emit.loads import parts

        if self.is_trivial(node, own) or (self.ctx.lazy_arms and lazy.fragile(node)):
            return False
        if self.ctx.uses[node] > 1:
            short = self._short_form(node) and not self._outer(node, own) and not parts.of_slices(self, node, own)
            return node in self.ctx.wishes or not short
        return node in self.ctx.wishes and self.weight(node) > 1

    def _short_form(self, node: eq.Expr) -> bool:
        """One operation on what is at hand: as easy to read where it is used as a name that says nothing."""
        match node:
            case eq.Op(name="not", args=(arg,)):
                return not isinstance(arg, eq.Op) or arg in self.ctx.wishes or self.ctx.uses[arg] > 1
            case eq.Op(name="add" | "sub" | "mul" | "neg", args=args):
                return all(self._at_hand(a) for a in args)
        return False

    def _outer(self, node: eq.Expr, own: Frame) -> bool:
        """Of more axes than a computed operand, or than any: each use would sum a gradient of its own over the axes
        added."""
        names = {a.name for a in own}
        fewer = [c for c in tree.children(node) if len(self.ctx.free(c) & names) < len(own)]
        floats = [c for c in fewer if not c.type.is_integer and c.type.kind != "bool" and not isinstance(c, CHEAP)]
        return len(fewer) == len(tree.children(node)) > 0 or any(self.weight(c) for c in floats)

    def _at_hand(self, node: eq.Expr) -> bool:
        if isinstance(node, CHEAP):
            return True
        if isinstance(node, eq.Read):
            return not (node.safe or node.outside) and all(self._plain(s) for s in node.subscripts)
        named = node in self.ctx.wishes and (self.ctx.uses[node] > 1 or self.weight(node) > 1)
        return named or (self.ctx.uses[node] > 1 and self.weight(node) > 1 and not self._short_form(node))

    def is_trivial(self, node: eq.Expr, own: Frame) -> bool:
        """A load by slices, a constant, an index: written where it is used."""
        from kraise.emit.loads import parts

        match node:
            case eq.Op(name="neg", args=(arg,)) | eq.Cast(arg=arg):
                return self.is_trivial(arg, own)
            case eq.Read(subscripts=subscripts, safe=safe):
                if self.ctx.uses[node] > 1:
                    rounds = {a.name for a in self.ctx.kernel.rounds}  # of the host that launches it
                    moves = any(name in rounds or self.ctx.is_moving(name) for name in self.ctx.free(node))
                    if node in self.ctx.wishes or (own and (moves or parts.often(self, node, own))):
                        return False
                return not safe and all(self._plain(s) for s in subscripts)
            case eq.Op(name="add" | "sub", type=kind) if kind.is_integer and node not in self.ctx.wishes:
                form = linear(node)
                return len(form.terms) <= 1 and all(isinstance(a, CHEAP) for a, _ in form.terms)
            case eq.Op() if not own and self.ctx.is_static(node) and node not in self.ctx.wishes:
                return True
        return isinstance(node, CHEAP)

    def _plain(self, subscript: eq.Expr) -> bool:
        return all(isinstance(a, CHEAP) for a, _ in linear(subscript).terms)

    def weight(self, node: eq.Expr) -> int:
        """How many operations a node holds (up to a few), not counting those within what has a name."""
        total, stack = 0, [node]
        while stack and total < 4:
            top = stack.pop()
            if top is not node and top in self.ctx.wishes and self.ctx.uses[top] > 1:
                continue
            match top:
                case eq.Op(args=args) | eq.HelperCall(args=args):
                    total += 1
                    stack.extend(args)
                case eq.Cast(arg=arg):
                    stack.append(arg)
                case eq.Reduce() | eq.Scan() | eq.ArgReduce():
                    total += 1
        return total

    # --- nodes -------------------------------------------------------------------------------

    def raw(self, node: eq.Expr, frame: Frame, own: Frame) -> Val:
        """The value of ``node`` itself, its operands through :meth:`lower`."""
        from kraise.emit.loads import subscripts
        from kraise.emit.loops import held, stacked
        from kraise.emit.sums import neighbours, places, reductions, scans

        match node:
            case eq.Const():
                return operands.literal(self, node)
            case eq.Param(name=name):
                return Val(Atom(self.ctx.param_text(name)), (), 0)
            case eq.Shape():
                return Val(self.ctx.shape(node), (), 0)
            case eq.Index(name=name):
                return self.index(node, frame, own)
            case eq.Op():
                return self.operation(node, frame)
            case eq.Cast():
                return operands.as_floats(self, node, frame) or self.cast(node, frame)
            case eq.Read():
                return stacked.input_of(self, node, frame, own) or subscripts.read(self, node, frame)
            case eq.Reduce():
                return reductions.reduce(self, node, frame, own)
            case eq.ArgReduce():
                return (places.place if node.op == "bisect" else places.arg_reduce)(self, node, frame, own)
            case eq.Scan():
                return scans.scan(self, node, frame, own)
            case eq.CarryIn() | eq.FoldResult():
                return held.carried(self, node, frame, own)
            case eq.HelperCall(function=function, args=args):
                if (known := neighbours.sliced(self, node, frame)) is not None:
                    return known
                self.ctx.used_helpers.add(function)
                values = [self.lower(a, frame) for a in args]
                return self._broadcast(py.call(function, *(v.py for v in values)), values, frame)
        raise refuse("KR303", f"no array form for {type(node).__name__}")

    def constant(self, node: eq.Const) -> Py:
        """A literal, or the module constant's name."""
        if node.name:
            self.ctx.used_constants.add(node.name)
            return operands.named(self.ctx, node)
        if node.type.is_inexact and isinstance(node.value, int) and not isinstance(node.value, bool):
            return py.number(float(node.value))
        return py.number(node.value)

    def index(self, node: eq.Index, frame: Frame, own: Frame) -> Val:
        """An index as data: ``jnp.arange`` over its range, made once; a fold's index is its variable."""
        if not own:
            return Val(Atom(self.fold_index(node.name)), (), 0)
        axis = own[0]
        key = (eq.Index(node.name, node.type), frozenset(own))
        known = self.ctx.blocks[0].variables.get(key)
        if known is None:
            name = self.ctx.names.fresh(node.name)
            dtype: dict[str, Py] = {}
            if node.type.kind == "uint" or (self.ctx.x64 and node.type.bits == 32):
                dtype = {"dtype": Atom(f"jnp.{node.type}")}
            value = py.call("jnp.arange", *self.ctx.range_arguments(axis), **dtype)
            self.ctx.emit(Assign(name, value), 0)
            known = self.ctx.blocks[0].variables[key] = (name, own)
        return self.extend(Atom(known[0]), own, frame)

    def fold_index(self, name: str) -> str:
        """The variable of an index that no frame holds."""
        for block in reversed(self.ctx.blocks):
            if block.index == name:
                block.index_used = True
                return block.index_text
        if any(a.name == name for a in self.ctx.kernel.rounds):
            return identifier(name)
        raise refuse("KR304", f"index {name} has no range here")

    def _broadcast(self, text: Py, values: list[Val], frame: Frame) -> Val:
        wide = max(values, key=lambda v: v.rank, default=None)
        if wide is None:
            return Val(text, (), 0)
        axes = {a for v in values for a in v.axes}
        return Val(text, tuple(a for a in frame if a in axes), wide.rank)

    # --- operations ----------------------------------------------------------------------------

    def operation(self, node: eq.Op, frame: Frame) -> Val:
        """An operation of the table, lane by lane."""
        from kraise.emit import lazy, special
        from kraise.emit.loads import filled_products
        from kraise.emit.sums import cells, conditions, extrema, neighbours, stencils

        if (own := special.lowered(self, node, frame)) is not None:
            return own
        for form in (neighbours.sliced, stencils.shared, cells.summed, conditions.triangle, filled_products.product):
            if (known := form(self, node, frame)) is not None:
                return known
        name, args = node.name, node.args
        if name == "select" and isinstance(args[2], eq.Const) and args[2].value == 0 and node.type.kind != "bool":
            part = conditions.triangular_part(self, args[0], args[1], frame)
            if part is not None:
                return Val(part, frame, len(frame))
        if name == "select":
            chosen = lazy.choice(self, node, frame) or extrema.from_other(self, node, frame)
            if chosen is not None:
                return chosen
        args = plain(name, args)
        if name in ("min", "max") and (found := extrema.extremum(self, node, frame)) is not None:
            return found
        if name == "stop_gradient" or node.type.kind == "bool":
            self.ctx.constant.update(args)
        if name == "tdiv" and self.is_nonnegative(args[0], frame) and self.is_nonnegative(args[1], frame):
            name = "floordiv"
        if name == "tmod":
            both = self.is_nonnegative(args[0], frame) and self.is_nonnegative(args[1], frame)
            name = "mod" if both else "tmod"
        row = OPERATIONS[name]
        pattern = template(row.jnp) if row.jnp and not row.infix and not row.prefix else None
        repeated = pattern is not None and repeats(row.jnp)
        operands.in_order(self, args if name in ("lt", "le", "gt", "ge") else (), frame)
        values = [self.as_name(a, frame, "value") if repeated else operands.operand(self, a, node, frame) for a in args]
        texts = [v.py for v in values]
        if name in ("bits", "clz") and args[0].type.bits and isinstance(args[0], eq.Const | eq.Param):
            texts = [py.call(f"jnp.{args[0].type}", *texts)]  # of a number of Python's the width is not known
        if row.prefix:
            if name == "not" and not any(v.axes for v in values):
                text: Py = py.call("jnp.logical_not", *texts)
            else:
                text = py.Un(row.prefix, texts[0])
        elif name == "tmod":
            text = division.remainder(texts, values, args, self.ctx.x64)
        elif name == "tdiv":
            text = division.truncated(self, texts, values, args, node.type, frame)
        elif name == "complex" and (values[0].axes != values[1].axes or not values[0].axes):
            text = py.Bin("+", texts[0], py.Bin("*", py.number(1j), texts[1]))
        elif (whole := of_numbers(name, args, texts)) is not None:
            text = whole
        elif row.infix:
            text = py.infix(row.infix, texts[0], texts[1])
        elif name == "bits":
            text = py.call("jax.lax.bitcast_convert_type", texts[0], Atom(dtype_text(node.type)))
        elif pattern is not None:
            text = fill(pattern, texts)
        else:
            raise refuse("KR303", f"operation {name} has no spelling")
        if counts_bits(name, args[0].type, node.type):
            text = py.method(text, "astype", Atom(dtype_text(node.type) if node.type.bits else "int"))
        return self._broadcast(text, values, frame)

    def is_nonnegative(self, node: eq.Expr, frame: Frame) -> bool:
        """Whether an integer value is provably at least 0."""
        from kraise.emit.text.signs import is_nonnegative

        return is_nonnegative(self.ctx, node, frame)

    def cast(self, node: eq.Cast, frame: Frame) -> Val:
        """``.astype`` for arrays; Python's own conversion where a scalar is known at trace time."""
        match node:
            case eq.Cast(type=t, arg=eq.Cast(type=u, arg=arg)) if (t, u, arg.type) == _THERE_AND_BACK:
                return self.lower(arg, frame)
        value = self.lower(node.arg, frame)
        if node.type == node.arg.type:
            return value
        if isinstance(node.arg, eq.Const) and node.type.is_inexact and node.type.kind != "complex":
            number = float(node.arg.value.real)
            if node.arg.type.is_integer and node.type.bits == 32:  # as the type has it, where Python compares it, too
                (number,) = struct.unpack("f", struct.pack("f", number))
            return Val(py.number(number), (), 0)
        if node.type == FLOAT and isinstance(node.arg, eq.Shape):
            return Val(py.call("float", value.py), (), 0)  # as weak as the source's
        kind = dtype_text(node.type)
        match node.arg:
            case eq.Const(value=int(number)) if number < 0 and node.type.kind == "uint" and node.type.bits:
                wrapped = int(node.type.wrapped(number))  # Python's own is none of the type
                return Val(py.call(kind, py.number(wrapped)), (), 0)
        if not value.axes and node.type == FLOAT64 and node.arg.type == FLOAT32 and weak(self.ctx.tables, node.arg):
            return Val(py.call(kind, py.call("jnp.float32", value.py)), (), 0)  # Python's numbers have 64 bits
        if isinstance(node.arg, eq.Read) and entry(self.ctx.tables, node.arg) is not None:
            return Val(py.call(kind, value.py), (), 0)  # one of Python's numbers
        if value.axes or isinstance(node.arg, eq.Read):
            text = value.py
            if isinstance(text, py.Call) and isinstance(text.func, py.Attr):
                # two methods in a chain read badly, and break over lines in another way
                return Val(py.call("jnp.asarray", text, Atom(kind)), value.axes, value.rank)
            return Val(py.method(text, "astype", Atom(kind)), value.axes, value.rank)
        signed = node.arg.type.kind == "int" and node.type.kind == "uint" and node.type.bits in (32, 64)
        if signed and isinstance(node.arg, eq.Op) and not self.is_nonnegative(node.arg, frame):
            known = py.call(f"jnp.int{node.type.bits}", value.py)  # Python's integers below zero are none of the type
            return Val(py.method(known, "astype", Atom(kind)), value.axes, value.rank)
        return Val(py.call("jnp.asarray", value.py, Atom(kind)), value.axes, value.rank)


__all__ = ["Linear", "Lowering", "dtype_text", "transposed"]

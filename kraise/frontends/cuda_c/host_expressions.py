"""Expressions of CUDA C host functions: numbers, conditions, places in memory; none has effects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c import host_effects, library_table
from kraise.frontends.cuda_c.c_types import Array, CType
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_chosen import straight
from kraise.frontends.cuda_c.host_names import callee, normal, product, rows_of
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.trees import Node, kind, strip, tokens
from kraise.frontends.cuda_c.values import PointerValue
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names
from kraise.ir.types import INT32

ZERO, ONE = k.Const(0, INT32), k.Const(1, INT32)


class HostExpressions:
    """The part of the reader that reads expressions."""

    low: Any
    program: Program
    arrays: dict[str, CType]
    dims: dict[str, tuple[k.Expr, ...]]
    ignored: set[str]
    pending: list[h.Stmt]
    owner: Any
    definitions: dict[str, k.Expr]
    own_name: Any
    array: Any
    is_dropped: Any
    single: set[str]  # pointers to one array of arrays

    def number(self, node: Node) -> k.Expr:
        """The value of a scalar expression, which must have no effects."""
        self.known(node)
        found = self.low.scalar(node)
        self.before(node, found)
        return self.extents_in(found)

    def before(self, node: Node, found: Any) -> None:
        """What an expression assigns on its way (the parameters of helpers that it calls) stands before it."""
        lines, after = list(self.low.out), bool(self.low.after)
        self.low.out.clear()
        self.low.after.clear()
        plain = None if after else straight(lines, found)
        if plain is None:
            raise self.low.refuse("KR211", "an assignment inside an expression", node, "give it a line of its own")
        for s in plain:
            self.pending.append(h.Assign(s.name, self.extents_in(s.value), s.value.type, span=s.span))

    def known(self, node: Node) -> None:
        """Refuses a value that comes from what was dropped."""
        lost = sorted(str(t) for t in tokens(node) if t.type == "NAME" and str(t) in self.ignored)
        if lost and self.is_ignored(node):
            reason = f"the value of {lost[0]} is not followed here (timing, a stream, input or an error code)"
            raise self.low.refuse("KR211", reason, node, "pass the number as a parameter")

    def truth(self, node: Node) -> k.Expr:
        """A condition without effects."""
        self.known(node)
        found = self.low.truth(node)
        self.before(node, found)
        return self.extents_in(found)

    def repeated(self, node: Node) -> k.Expr:
        """The condition of a loop, which is tested more than once."""
        found = self.truth(node)
        if self.flushed():
            raise self.low.refuse(
                "KR211", "a library call in the condition of a loop", node, "give it a line of its own"
            )
        return found

    def flushed(self) -> list[h.Stmt]:
        """What library calls in the expressions read so far need before them."""
        found, self.pending = self.pending, []
        return found

    def extents_in(self, e: k.Expr) -> k.Expr:
        """An expression with the extents of ``dim3`` variables (``block.x``) by their values."""
        match e:
            case k.Var(name=name) if "." in name and name.partition(".")[0] in self.dims:
                owner, _, axis = name.partition(".")
                return (*self.dims[owner], ONE, ONE)["xyz".index(axis)]
            case k.Load(array=array, subscripts=subscripts) if len(subscripts) > 1 and self.rows_in(array):
                place = self.flat_place(array, subscripts, None) or ZERO  # type: ignore[arg-type]
                return replace(e, subscripts=(self.extents_in(place),))
            case k.Op(args=args):
                return replace(e, args=tuple(self.extents_in(a) for a in args))
            case k.Cast(arg=arg):
                return replace(e, arg=self.extents_in(arg))
        return e

    def forget(self, name: str) -> None:
        """A number changes: what is known of it, and of what was computed from it, is no more."""
        self.definitions.pop(name, None)
        self.definitions = {n: d for n, d in self.definitions.items() if name not in expression_names(d)}

    def _spells_null(self, node: Node) -> bool:
        return kind(node) == "null_pointer" or self.low.text(node) in ("NULL", "0", "nullptr")

    def spells_null(self, node: Node) -> bool:
        """Is it a null pointer, under casts, too?"""
        node = strip(node)
        while isinstance(node, Tree) and node.data in ("cast_expression", "cxx_cast_expression"):
            last = node.children[-1]
            node = strip(node.children[-2] if kind(last) == "TARG_CLOSE" else last)
        return self._spells_null(node)

    def pointer(self, node: Node) -> k.ArrayRef:
        """The array that an expression points into."""
        node = strip(node)
        owner = self.owner(node)
        if owner:
            return k.ArrayRef(owner, span=self.low.span(node))
        found = self.low.value(self._of_array(node))
        if self.low.out or self.low.after:
            self.low.out.clear()
            raise self.low.refuse("KR211", "an assignment inside an expression", node, "give it a line of its own")
        if isinstance(found, PointerValue) and found.arms:
            return self.one_of(found, node)
        return self.pointed(found, node)

    def _of_array(self, node: Node) -> Node:
        """``h`` of ``&h`` where h is an array with memory of its own: the two begin at one place, which the address of
        a pointer does not."""
        match strip(node):
            case Tree(data="unary_expression", children=[Token(value="&"), inner]):
                name = self.low.text(strip(inner))
                if name in self.arrays and isinstance(self.low.extents.get(name), Array):
                    return inner
            case Tree(data="cast_expression", children=[*_, inner]) if self.low.text(node).startswith("( void * )"):
                return self._of_array(inner)
        return node

    def one_of(self, found: PointerValue, node: Node) -> k.ArrayRef:
        """``p ? a : b``: a name of its own, which a branch points to one of the arrays."""
        assert found.arms is not None
        test, span = self.extents_in(found.arms[0]), self.low.span(node)
        sides = []
        for arm in found.arms[1:]:
            before, self.pending = self.pending, []
            ref = self.one_of(arm, node) if arm.arms else self.pointed(arm, node)
            sides.append((ref, self.pending))
            self.pending = before
        (one, _), (two, _) = sides
        if one.rows or two.rows:
            raise self.low.refuse("KR211", f"`{self.low.text(node)}` is one of two arrays of arrays", node)
        own = self.own_name(f"{one.array}_or_{two.array}")
        self.array(own, self.arrays[one.array])
        blocks = [(*lines, h.Point((own,), (ref,), span=span)) for ref, lines in sides]
        self.pending.append(h.If(test, blocks[0], blocks[1], span=span))
        return k.ArrayRef(own, span=span)

    def pointed(self, found: Any, node: Node) -> k.ArrayRef:
        """The array, and the place in it, of a pointer."""
        known = isinstance(found, PointerValue) and found.array in self.arrays and not found.target
        if known and found.prefix and not rows_of(self.arrays[found.array]):
            known = False
        if not known:
            raise self.low.refuse("KR211", f"`{self.low.text(node)}` is no array that is known here", node)
        offset = self.flat_place(found.array, (*found.prefix, *([] if found.offset is None else [found.offset])), node)
        if isinstance(offset, k.Const) and offset.value == 0:
            offset = None
        return k.ArrayRef(found.array, offset, rows_of(found.to), span=self.low.span(node))

    def flat_place(self, array: str, subscripts: tuple[k.Expr, ...], node: Node) -> k.Expr | None:
        """The place in flat memory of ``array[subscripts]``, None for its start."""
        rows = rows_of(self.arrays[array])
        first = fold(subscripts[0]) if subscripts else ZERO
        if array in self.single and not (isinstance(first, k.Const) and not first.value):
            raise self.low.refuse("KR211", f"how many arrays {array} points to is not known", node)
        place: k.Expr | None = None
        for n, subscript in enumerate(subscripts):
            known = fold(subscript)
            if isinstance(known, k.Const) and not known.value:
                continue
            part = product(normal(subscript), *rows[n:])
            place = part if place is None else k.Op("add", (place, part), INT32)
        return place

    def rows_in(self, array: str) -> bool:
        """Is it an array of arrays?"""
        return array in self.arrays and bool(rows_of(self.arrays[array]))

    def is_ignored(self, node: Node) -> bool:
        """Does an expression use a name without a part in the values, or call what is dropped?"""
        called = {callee(c.children[0]) for c in node.find_data("call_expression")} if isinstance(node, Tree) else set()
        if any(self.is_dropped(n) for n in called):
            return True
        if not any(t.type == "NAME" and str(t) in self.ignored for t in tokens(node)):
            return False
        if any(n in self.program.functions and host_effects.of_function(self.program, n).works for n in called):
            return False  # it may launch on a variable of the device
        works = any(n in self.program.functions or library_table.is_known(n) for n in called)
        return not (works and any(str(t) in self.arrays for t in tokens(node)))

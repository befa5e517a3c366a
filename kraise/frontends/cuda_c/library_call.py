"""Calls of CUDA's libraries in host functions: what grammar/cuda_libraries.toml says of them, as Host IR.

Side conditions, each checked: all arrays of a cuBLAS call have one element type, the one that its name says; strides of
vectors are positive constants; a range begins and ends in one array; a plan of cuFFT keeps the sizes that it was made
with; the initial value of a Thrust reduction has the element's type, since the sum has the type of the initial value.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cache
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c import host_outline, library_table
from kraise.frontends.cuda_c.c_types import leaf
from kraise.frontends.cuda_c.host_names import callee, normal
from kraise.frontends.cuda_c.library_table import Row
from kraise.frontends.cuda_c.library_triangle import triangular_solve
from kraise.frontends.cuda_c.library_views import ZERO, Counting, Iterator, View, difference, resolved
from kraise.frontends.cuda_c.trees import Node, end, kind, position, strip, trees
from kraise.frontends.cuda_c.values import PointerValue
from kraise.frontends.host_rows import library
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32, ScalarType

_POLICIES = ("thrust::device", "thrust::host", "thrust::seq")
_FLAGS = {"CUBLAS_OP_N": False, "CUBLAS_OP_T": True, "CUBLAS_OP_C": True, "n": False, "t": True, "c": True}
_FLAGS |= {"CUBLAS_FILL_MODE_LOWER": False, "CUBLAS_FILL_MODE_UPPER": True}
_FLAGS |= {"CUBLAS_SIDE_LEFT": False, "CUBLAS_SIDE_RIGHT": True}
_FLAGS |= {"CUBLAS_DIAG_NON_UNIT": False, "CUBLAS_DIAG_UNIT": True}
_LETTERS = {"S": "float32", "D": "float64"}
_SYMBOLS = {ast.Add: "plus", ast.Sub: "minus", ast.Mult: "times", ast.MatMult: "matmul"}


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


class LibraryCall:
    """One call of a row: its arguments by the names that the row gives them."""

    def __init__(self, reader: Any, row: Row, args: list[Tree], node: Tree):
        self.reader, self.low, self.row, self.node = reader, reader.low, row, node
        self.span = self.low.span(node)
        self.args = dict(zip((a.strip("*!").partition("=")[0] for a in row.args), args, strict=False))
        self.pointed = {a.strip("*") for a in row.args if a.startswith("*")}
        self.flags = {a[1:] for a in row.args if a.startswith("!")}
        self.views: dict[str, View | Counting] = {}
        self.made: dict[str, h.Expr] = {}
        self.element: ScalarType | None = None
        self.kinds: set[ScalarType | None] = set()  # the element types of the views

    # --- arguments

    def words(self, node: Node) -> list[str]:
        """The words of the source that an expression is."""
        return source_words(self.reader, node)

    def refuse(self, reason: str, hint: str = "", code: str = "KR213") -> Exception:
        return self.low.refuse(code, reason, self.node, hint)

    def standard(self, node: Node) -> str:
        """The functor of the library that an argument is, "" for any other."""
        return standard(self.reader, node)

    def number(self, name: str) -> k.Expr:
        """A number, by value or behind a pointer."""
        node = self.args[name]
        if name not in self.pointed:
            return normal_if_integer(self.reader.number(node))
        place = self.reader.number_at(node)
        if place is not None:
            return k.Var(place.name, place.type)
        try:
            at = self.iterator(node)
        except Exception:
            return self.reader.number(node)  # the interface of before handles: alpha by value
        element = leaf(self.reader.arrays[at.array])[0]
        return k.Load(at.array, (at.offset or ZERO,), element or INT32)

    def flag(self, name: str) -> bool:
        """Whether a matrix is transposed, on the right, an upper triangle, or has a unit diagonal."""
        text = "".join(self.words(self.args[name])).strip("'").rpartition("::")[2].replace("HIPBLAS", "CUBLAS")
        found = _FLAGS.get(text, _FLAGS.get(text.lower()))
        if found is None:
            raise self.refuse(
                f"`{text}` is not known here", "write the constant (CUBLAS_OP_N or CUBLAS_OP_T, …) itself"
            )
        return found

    def iterator(self, node: Node) -> Iterator:
        """A place in memory."""
        reader = self.reader
        node = strip(node)
        if isinstance(node, Tree) and node.data in ("cast_expression", "cxx_cast_expression"):
            return self.iterator(trees(node)[-1])
        if isinstance(node, Tree) and node.data in ("call_expression", "functional_cast"):
            method = strip(node.children[0])
            if kind(method) == "member_expression":
                name = reader.member(method)
                owner = reader.pointer_name(trees(method)[0])  # type: ignore[arg-type]
                if owner and name in ("begin", "cbegin", "data"):
                    return Iterator(owner)
                if owner and name in ("end", "cend"):
                    return Iterator(owner, None, True)
                if name == "get":
                    return self.iterator(trees(method)[0])  # type: ignore[arg-type]
            text = "".join(self.words(method))
            if text.rpartition("::")[2].partition("<")[0] in ("device_pointer_cast", "raw_pointer_cast", "device_ptr"):
                return self.iterator(trees(node)[-1])
        if isinstance(node, Tree) and node.data == "additive_expression":
            left, right = trees(node)
            base = self.iterator(left)
            moved = normal(reader.number(right))
            if base.at_end:
                raise self.refuse("a place before the end of an array", "count from its beginning")
            if str(node.children[1]) == "-":
                return Iterator(base.array, difference(base.offset, moved))
            return Iterator(base.array, moved if base.offset is None else k.Op("add", (base.offset, moved), INT32))
        if isinstance(node, Tree) and node.data == "unary_expression" and str(node.children[0]) == "&":
            inner = strip(node.children[1])
            if kind(inner) == "subscript_expression":
                base = self.iterator(trees(inner)[0])  # type: ignore[arg-type]
                return self._moved(base, normal(reader.number(trees(inner)[1])))  # type: ignore[arg-type]
        name = reader.pointer_name(node)
        if name:
            return Iterator(name)
        found = self.low.value(node)
        if not isinstance(found, PointerValue) or found.array not in reader.arrays or found.prefix or found.target:
            raise self.refuse(f"`{self.low.text(node)}` is no array that is known here")
        if found.packed or found.stored is not None:
            raise self.refuse(f"`{self.low.text(node)}` sees memory as another type")
        return self._moved(Iterator(found.array), normal(found.offset) if found.offset is not None else ZERO)

    def _moved(self, base: Iterator, offset: k.Expr) -> Iterator:
        total = difference(offset, None) if base.offset is None else k.Op("add", (base.offset, offset), INT32)
        return Iterator(base.array, None if isinstance(total, k.Const) and total.value == 0 else total)

    # --- views

    def look(self, wanted: str) -> View | Counting:
        """A view by its name."""
        if wanted not in self.views:
            call = _parsed(self.row.let[wanted])
            assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
            self.views[wanted] = getattr(self, f"_{call.func.id}")(*call.args)
            view = self.views[wanted]
            if isinstance(view, View) and self.element is None:
                self.element = leaf(self.reader.arrays[view.array])[0]
        return self.views[wanted]

    def _place(self, node: ast.expr) -> Node:
        assert isinstance(node, ast.Name)
        return self.args[node.id]

    def _vector(self, p: ast.expr, n: ast.expr, inc: ast.expr) -> View:
        at, stride = self.iterator(self._place(p)), self.index(inc)
        if not isinstance(stride, k.Const) or stride.value.real <= 0:
            raise self.refuse("the stride of a vector is no positive constant", "pass a constant stride")
        if stride.value == 1:
            return View(at.array, at.offset, self.index(n), span=self.span)
        return View(at.array, at.offset, self.index(n), "every", (stride,), self.span)

    def _span(self, p: ast.expr, n: ast.expr) -> View | Counting:
        count = self.index(n)
        made = self._generated(self._place(p))
        if made is not None:
            self.made["count"] = count
            return made
        at = self.iterator(self._place(p))
        return View(at.array, at.offset, count, span=self.span)

    def _all(self, p: ast.expr) -> View:
        at = self.iterator(self._place(p))
        return View(at.array, at.offset, None, span=self.span)

    def _range(self, first: ast.expr, last: ast.expr) -> View | Counting:
        made = self._generated(self._place(first))
        if made is not None:
            end = self._generated(self._place(last))
            if end is None or made.constant:
                raise self.refuse("this range has no length")
            self.made["count"] = difference(end.start, made.start)
            return made
        one, other = self.iterator(self._place(first)), self.iterator(self._place(last))
        if one.array != other.array:
            one, other = resolved(self.reader, one), resolved(self.reader, other)
        if one.array != other.array or one.at_end:
            raise self.refuse("a range from one array into another", "begin and end it in one array")
        count = None if other.at_end else difference(other.offset, one.offset)
        self.made["count"] = count if count is not None else difference(k.Shape(one.array, 0), one.offset)
        return View(one.array, one.offset, count, span=self.span)

    def _like(self, p: ast.expr, x: ast.expr) -> View | Counting:
        assert isinstance(x, ast.Name)
        view = self.look(x.id)
        made = self._generated(self._place(p))
        if made is not None:
            return made
        at = self.iterator(self._place(p))
        if isinstance(view, View) and at == Iterator(view.array, view.offset):
            return view
        return View(at.array, at.offset, self.made.get("count"), span=self.span)  # type: ignore[arg-type]

    def _generated(self, node: Node) -> Counting | None:
        node = strip(node)
        if not isinstance(node, Tree) or node.data not in ("call_expression", "functional_cast"):
            return None
        text = "".join(self.words(strip(node.children[0]))).rpartition("::")[2].partition("<")[0]
        if text in ("make_counting_iterator", "counting_iterator"):
            return Counting(normal(self.reader.number(trees(node)[-1])))
        if text in ("make_constant_iterator", "constant_iterator"):
            return Counting(self.reader.number(trees(node)[-1]), True)
        return None

    def _rows(self, p: ast.expr, r: ast.expr, c: ast.expr, ld: ast.expr) -> View:
        at, rows, columns, pitch = self.iterator(self._place(p)), self.index(r), self.index(c), self.index(ld)
        count = normal(k.Op("mul", (rows, pitch), INT32))
        return View(at.array, at.offset, count, "rows", (rows, columns, pitch), self.span)

    def _batch(self, p: ast.expr, b: ast.expr, r: ast.expr, c: ast.expr, ld: ast.expr, stride: ast.expr) -> View:
        at = self.iterator(self._place(p))
        batch, rows, columns, pitch, apart = (self.index(x) for x in (b, r, c, ld, stride))
        size = normal(k.Op("mul", (rows, columns), INT32))
        if columns != pitch or size != apart:
            raise self.refuse("matrices of a batch that do not lie side by side", "store them without gaps")
        count = normal(k.Op("mul", (batch, size), INT32))
        return View(at.array, at.offset, count, "batch", (batch, rows, columns), self.span)

    # --- effects

    def index(self, node: ast.expr) -> k.Expr:
        """A size of the table's text."""
        match node:
            case ast.Constant(value=int(value)):
                return k.Const(value, INT32)
            case ast.Name(id=name):
                return normal(self.number(name))
            case ast.IfExp(test=ast.Name(id=flag), body=body, orelse=orelse):
                return self.index(body if self.flag(flag) else orelse)
        raise TypeError(ast.dump(node))

    def value(self, node: ast.expr) -> h.Expr:
        """An expression of the table's text."""
        match node:
            case ast.Constant(value=int(value)):
                return k.Const(value, INT32)
            case ast.Name(id=name) if name in self.made:
                return self.made[name]
            case ast.Name(id=name) if name in self.row.let:
                view = self.look(name)
                if isinstance(view, Counting):
                    raise self.refuse("an iterator without memory", "make it an array first")
                return view.value()
            case ast.Name(id=name):
                return self.number(name)
            case ast.IfExp(test=ast.Name(id=flag), body=body, orelse=orelse):
                return self.value(body if self.flag(flag) else orelse)
            case ast.BinOp(op=symbol, left=left, right=right):
                return library(_SYMBOLS[type(symbol)], (self.value(left), self.value(right)), self.span, array=True)
            case ast.Call(func=ast.Name(id="triangular_solve"), args=[a, b, *flags]):
                words = [self.flag(f.id) for f in flags if isinstance(f, ast.Name)]
                return triangular_solve(self.value(a), self.value(b), *words, self.span)  # type: ignore[call-arg]
            case ast.Call(func=ast.Name(id=row), args=args):
                return library(row, tuple(self.value(a) for a in args), self.span, array=True)
        raise TypeError(ast.dump(node))

    def scalar(self, text: str) -> h.Expr:
        """A number of the table's text, of the element's type unless the row says int."""
        found = self.value(_parsed(text))
        if isinstance(found, h.Library):
            inner = [a for a in (found, *found.args) if isinstance(a, h.Library)]
            is_int = any(a.name.startswith("arg") for a in inner)
            kind_of = INT32 if is_int else self.element or found.type
            return library(found.name, found.args, self.span, kind=kind_of, array=False)
        return found

    def place(self, base: Iterator) -> k.Expr:
        """The distance of the place that the call gives from another one."""
        found = self.scalar(self.row.place)
        view = next(iter(self.views.values()))
        if not isinstance(view, View) or base.array != view.array or base.at_end:
            raise self.refuse("a distance between places in two arrays", "count from the beginning of the range")
        moved = difference(view.offset, base.offset)
        zero = isinstance(moved, k.Const) and moved.value == 0
        return found if zero else k.Op("add", (found, moved), INT32)  # type: ignore[arg-type, return-value]

    def run(self) -> tuple[list[h.Stmt], h.Expr | None]:
        """What the call does, and its value where it has one."""
        out = self.checked()
        if self.row.place:
            raise self.refuse("a place in memory is no number", "take `*` of it, or its distance from the beginning")
        if self.row.loop:
            return host_outline.loop(self)
        for effect in self.row.do:
            if effect.startswith("return "):
                return out, self.scalar(effect.removeprefix("return "))
            target, sign, text = effect.partition(" := ") if ":=" in effect else effect.partition(" = ")
            if ":" in sign:
                name = self.reader.temporary(target.lower(), again=True)
                out.append(h.Bind(name, self.value(_parsed(text)), span=self.span))
                self.made[target] = h.Whole(name, span=self.span)
            elif target.startswith("*"):
                out += self.result(target[1:], text)
            else:
                value = self.value(_parsed(text))
                view = self.look(target)
                assert isinstance(view, View)
                out.append(self.update(view, value))
        return out, None

    def update(self, view: View, value: h.Expr) -> h.Stmt:
        """The statement that gives a view new values; they have its element type where all views have one."""
        stmt = view.update(value)
        assert isinstance(stmt, h.Update)
        element = leaf(self.reader.arrays[view.array])[0]
        if isinstance(stmt.value, h.Library) and element is not None and self.kinds == {element}:
            return replace(stmt, value=replace(stmt.value, type=element))
        return stmt

    def result(self, name: str, text: str) -> list[h.Stmt]:
        """A number behind a pointer."""
        if name not in self.args:
            raise self.refuse(f"{self.reader.low.text(self.node)}: the argument {name} is missing")
        value = self.scalar(text)
        place = self.reader.number_at(self.args[name])
        if place is not None:
            self.reader.ignored.discard(place.name)
            return [h.Assign(place.name, value, place.type, span=self.span)]
        at = self.iterator(self.args[name])
        return [h.Store(at.array, (at.offset or ZERO,), value, span=self.span)]

    def widened(self, name: str, t: ScalarType) -> h.Stmt:
        """The elements of a view in the wider type of the sum's initial value."""
        own = self.reader.temporary("widened", again=True)
        made = h.Bind(own, self.value(ast.Name(name)), t, span=self.span)
        self.made[name], self.element = h.Whole(own, span=self.span), t
        return made

    def checked(self) -> list[h.Stmt]:
        """What the call needs first. Refuses arrays of different types, and an initial value of another kind."""
        kinds = {}
        for name in self.row.let:
            view = self.look(name)
            if isinstance(view, View):
                kinds[name] = leaf(self.reader.arrays[view.array])[0]
        self.kinds = set(kinds.values())
        if self.row.name.startswith("cublas") and len(set(kinds.values())) > 1:
            raise self.refuse("arrays of different types", "convert one of them in a kernel")
        name = callee(self.node.children[0])
        letter = library_table.canonical(name)[6:7]
        if self.row.name.startswith("cublas[SD]") and {str(t) for t in kinds.values()} != {_LETTERS.get(letter)}:
            raise self.refuse(f"{name} takes arrays of {_LETTERS.get(letter)}")
        if "init" in self.args and "reduce" in self.row.name + self.row.loop or self.row.name.endswith("product"):
            first = next(iter(kinds.values()), None)
            given = self.number("init").type if "init" in self.args else first
            both = given is not None and first is not None and given.kind == first.kind
            if both and not self.row.loop and (given.bits or 0) > (first.bits or 0):  # type: ignore[union-attr]
                return [self.widened(name, given) for name in kinds]  # type: ignore[arg-type]
            if not self.row.loop and first is not None and given != first:
                raise self.refuse(
                    f"the sum has the type of its initial value, {given}, and the elements are {first}",
                    "give the initial value the elements' type",
                )
        return []


def source_words(reader: Any, node: Node) -> list[str]:
    """The words of the source that an expression is."""
    return [t.text for t in reader.program.unit.tokens[position(node) : end(node)]]


def standard(reader: Any, node: Node) -> str:
    """The functor of the library that an argument is, by itself or by the name of a variable, "" for any other."""
    found = source_words(reader, strip(node))
    declared = reader.functors.get(found[0]) if len(found) == 1 else None
    if declared is not None:
        words = source_words(reader, declared)
        found = [*words[: words.index(found[0])], "(", ")"]
    return library_table.standard_functor(found)


def normal_if_integer(e: k.Expr) -> k.Expr:
    """Sizes without widening casts; other numbers as they are."""
    return normal(e) if e.type.is_integer and not isinstance(e, k.Var) else e

"""Assignments of a Python host function: new arrays, other names for arrays, tuples, numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import libcst as cst

from kraise import dialects
from kraise.frontends.python import host_exchange, host_numpy, host_parts, host_places
from kraise.frontends.python import host_values as values
from kraise.frontends.python.annotations import scalar_type
from kraise.frontends.python.host_scope import HostScope, ignored_call, launched
from kraise.frontends.python.source import all_of, dotted
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, FLOAT, INT, NUMBER, ScalarType


class Assignments:
    """The part of the reader that assigns; :class:`kraise.frontends.python.host.Reader` supplies the rest."""

    scope: HostScope
    _moves_only: Any

    def array(self, node: cst.BaseExpression) -> str:
        """The name of an array."""
        name = dotted(node)
        if name not in self.scope.arrays:
            raise self.scope.refuse(node, f"`{self.scope.text(node)}` is no array that has a name here")
        return name

    def arguments(self, call: cst.Call) -> tuple[h.Expr | k.ArrayRef, ...]:
        """The arguments of a launch or a call: arrays by reference."""
        scope = self.scope
        host_places.check_given(scope, call)
        out: list[h.Expr | k.ArrayRef] = []
        for a in call.args:
            if a.keyword is not None or a.star:
                raise scope.refuse(a, "arguments of a launch are given by position")
            name = dotted(a.value)
            span = scope.span(a.value)
            piece = values.part(scope, a.value)
            if name in scope.arrays:
                out.append(k.ArrayRef(name, span=span))
            elif piece is not None and piece.count is None:
                out.append(k.ArrayRef(piece.array, piece.offset, span=span))
            elif scope.is_array(a.value):  # made in the call: it gets a name before
                own = scope.fresh(f"{host_parts.base(a.value).replace('.', '_') or 'operand'}_given")
                scope.arrays.add(own)
                made = self.new_array(own, a.value, a)
                scope.pending += made
                out.append(k.ArrayRef(own, span=span))
            else:
                out.append(values.value(scope, a.value))
        return tuple(out)

    def configuration(self, items: list[cst.BaseExpression], call: cst.CSTNode):
        """(grid, block, shared) of ``[grid, block, stream, shared]``."""
        raise NotImplementedError

    def is_ignored(self, node: cst.BaseExpression) -> bool:
        """Has an expression no part in the values?"""
        raise NotImplementedError

    def assign(self, target: cst.BaseExpression, value: cst.BaseExpression, node: cst.CSTNode) -> list[h.Stmt]:
        """``target = value``."""
        scope = self.scope
        span = scope.span(node)
        if isinstance(target, cst.Tuple):
            return self.unpack(target, value, node)
        if isinstance(target, cst.Subscript):
            return self.store(target, values.value(scope, value), node)
        name = dotted(target)
        if not name:
            raise scope.refuse(target, "this target of an assignment is not known")
        if isinstance(value, cst.Call) and launched(scope, value):
            raise scope.refuse(value, "a launch returns nothing")
        if isinstance(value, cst.Subscript) and dotted(value.value) in {*scope.functions, *scope.refused}:
            items = [i.slice.value for i in value.slice]  # type: ignore[attr-defined]
            scope.configured[name] = (dotted(value.value), *self.configuration(items, node))
            return []
        if name in scope.arrays:
            return self.new_array(name, value, node)
        found = values.elements(scope, value)
        if found is not None:
            return self.tuple(name, found, node)
        if isinstance(value, cst.Call):
            called = dotted(value.func)
            if called in scope.hosts:
                scope.scalars.add(name)
                return [h.CallHost(called, self.arguments(value), (name,), (False,), span=span)]
            function = scope.functions.get(called)
            if function is not None and function.kind == "plain":
                scope.scalars.add(name)
                return [h.Launch(called, self.arguments(value), None, None, None, (name,), (NUMBER,), span=span)]
        if self.is_ignored(value):
            scope.ignored.add(name)
            scope.drop(node, "timing or a stream")
            return []
        expr = values.value(scope, value)
        scope.ignored.discard(name)
        scope.scalars.add(name)
        return [h.Assign(name, expr, expr.type if isinstance(expr, k.Const) else NUMBER, span=span)]  # type: ignore[arg-type]

    def tuple(self, name: str, found: tuple[h.Expr, ...], node: cst.CSTNode) -> list[h.Stmt]:
        """A tuple of numbers: one scalar for each element."""
        scope = self.scope
        out: list[h.Stmt] = []
        parts: list[h.Expr] = []
        for axis, expr in zip("xyzabcdef", found, strict=False):
            if isinstance(expr, k.Const):
                parts.append(expr)
                continue
            own = f"{name}_{axis}"
            scope.scalars.add(own)
            out.append(h.Assign(own, expr, NUMBER, span=scope.span(node)))
            parts.append(k.Var(own, NUMBER))
        scope.tuples[name] = tuple(parts)
        return out

    def unpack(self, target: cst.Tuple, value: cst.BaseExpression, node: cst.CSTNode) -> list[h.Stmt]:
        """``a, b = …``: a swap, a shape, a call, or several assignments at once."""
        scope = self.scope
        span = scope.span(node)
        names = [dotted(e.value) for e in target.elements]
        if not all(names) and isinstance(value, cst.Tuple) and len(value.elements) == len(names):
            return host_exchange.exchanged(self, target, value, node)
        if not all(names):
            raise scope.refuse(node, "this assignment is not known in a host function")
        if isinstance(value, cst.IfExp) and all(isinstance(v, cst.Tuple) for v in (value.body, value.orelse)):
            test = values.value(scope, value.test)
            arms = [tuple(self.unpack(target, side, node)) for side in (value.body, value.orelse)]
            return [h.If(test, arms[0], arms[1], span=span)]
        if isinstance(value, cst.Call) and ignored_call(scope.imports.qualified(dotted(value.func))):
            scope.ignored.update(names)  # figure, axes = plt.subplots()
            scope.drop(node, "plotting")
            return []
        if isinstance(value, cst.Attribute) and value.attr.value == "shape" and dotted(value.value) in scope.arrays:
            scope.scalars.update(names)
            array = dotted(value.value)
            return [h.Assign(n, k.Shape(array, axis), INT, span=span) for axis, n in enumerate(names)]
        if isinstance(value, cst.Call) and dotted(value.func) in scope.hosts:
            kinds = scope.hosts[dotted(value.func)]
            scope.scalars |= {n for n, a in zip(names, kinds, strict=False) if not a}
            return [h.CallHost(dotted(value.func), self.arguments(value), tuple(names), kinds[: len(names)], span=span)]
        if isinstance(value, cst.Call) and scope.functions.get(dotted(value.func)) is not None:
            scope.scalars.update(names)
            types = (NUMBER,) * len(names)
            called = dotted(value.func)
            return [h.Launch(called, self.arguments(value), None, None, None, tuple(names), types, span=span)]
        found = value.elements if isinstance(value, cst.Tuple) else None
        inner = value
        while isinstance(inner, cst.Call) and isinstance(inner.func, cst.Attribute) and self._moves_only(inner):
            inner = inner.args[0].value if inner.args else inner.func.value
        named = dotted(inner) in scope.arrays and scope.ranks.get(dotted(inner), 1) == 1
        if named or (found is None and not dotted(inner) and scope.is_array(inner)):  # a, b = params.copy_to_host()
            made: list[h.Stmt] = []
            whose = dotted(inner)
            if whose not in scope.arrays:
                whose = scope.fresh("unpacked")
                scope.arrays.add(whose)
                made = self.new_array(whose, inner, node)
            scope.scalars.update(names)
            loads = [k.Load(whose, (k.Const(n, INT),), NUMBER, span=span) for n in range(len(names))]
            return [*made, *(h.Assign(n, e, NUMBER, span=span) for n, e in zip(names, loads, strict=True))]
        if found is None:
            parts = values.elements(scope, value)
            if parts is None or len(parts) != len(names):
                raise scope.refuse(node, "this assignment is not known in a host function")
            scope.scalars.update(names)
            return [h.Assign(n, p, NUMBER, span=span) for n, p in zip(names, parts, strict=True)]
        if len(found) != len(names):
            raise scope.refuse(node, f"{len(found)} values for {len(names)} names")
        arrays = [n in scope.arrays and dotted(e.value) in scope.arrays for n, e in zip(names, found, strict=True)]
        places = [host_places.of(scope, e.value) for e in found]
        scope.places.update((n, p) for n, p, a in zip(names, places, arrays, strict=True) if a)
        if all(arrays):
            refs = tuple(k.ArrayRef(dotted(e.value), span=scope.span(e.value)) for e in found)
            return [h.Point(tuple(names), refs, span=span)]
        sources = {n for e in found for n in (x.value for x in all_of(cst.Name, e))}
        if sources & set(names):
            if any(n in scope.arrays and not a for n, a in zip(names, arrays, strict=True)):
                raise scope.refuse(node, "this exchange mixes arrays and numbers")
            triples = list(zip(names, found, arrays, strict=True))
            single = [(n, f"{n}_next", e.value) for n, e, a in triples if not a]
            out: list[h.Stmt] = [h.Assign(t, values.scalar(scope, e), NUMBER, span=span) for _, t, e in single]
            scope.scalars.update(n for n, _, _ in single)
            if pointed := [(n, k.ArrayRef(dotted(e.value), span=span)) for n, e, a in triples if a]:
                out.append(h.Point(tuple(n for n, _ in pointed), tuple(r for _, r in pointed), span=span))
            return out + [h.Assign(n, k.Var(t, NUMBER), NUMBER, span=span) for n, t, _ in single]
        return [s for t, e in zip(target.elements, found, strict=True) for s in self.assign(t.value, e.value, node)]

    def new_array(self, name: str, value: cst.BaseExpression, node: cst.CSTNode) -> list[h.Stmt]:
        """``name = `` an array: another name for it, new memory, or a copy."""
        place = host_places.of(self.scope, value)
        made = self._new_array(name, value, node)
        self.scope.places[name] = place
        return made

    def _new_array(self, name: str, value: cst.BaseExpression, node: cst.CSTNode) -> list[h.Stmt]:
        scope = self.scope
        span = scope.span(node)
        other = dotted(value)
        if isinstance(value, cst.Subscript) and dotted(value.value) in scope.banks:
            return [self.choice(name, value, span)]
        if other in scope.arrays:
            return [h.Point((name,), (k.ArrayRef(other, span=span),), span=span)]
        piece = values.part(scope, value)
        if piece is not None and piece.count is None:
            return [h.Point((name,), (k.ArrayRef(piece.array, piece.offset, span=span),), span=span)]
        if isinstance(value, cst.Call):
            concept = dialects.table("host_library")["python"].get(scope.qualified(value.func), "")
            args = [a.value for a in value.args if a.keyword is None]
            if concept == "convert":
                assert isinstance(value.func, cst.Attribute)
                kept, other_kind = values.value(scope, value.func.value), self.element(args[0])
                seen = host_places.keeps(value) and values.is_view(kept)
                return [h.Bind(name, kept, other_kind, seen, span=span)]
            if concept == "fetch" and args and dotted(args[0]) != "None":  # into memory that is there
                assert isinstance(value.func, cst.Attribute)
                into, whole = self.array(args[0]), h.Whole(self.array(value.func.value))
                filled = h.Update(into, whole, span=span)
                return (
                    [filled, h.Point((name,), (k.ArrayRef(into, span=span),), span=span)] if into != name else [filled]
                )
            if concept == "clone" and self.keyword(value, "to") is not None:
                raise scope.refuse(node, "`to=` gives an array that is there", "make it a statement of its own")
            if concept in ("alias", "clone", "fetch"):
                source = args[0] if args and concept != "fetch" else value.func.value  # type: ignore[attr-defined]
                element = self.keyword(value, "dtype")
                concept = host_places.moved(scope, value, concept) if concept != "fetch" else concept
                if isinstance(source, cst.Call) and self.is_array_call(source) and element is None:
                    made = self.new_array(name, source, node)
                    if concept == "alias" or not self.shares(source):
                        return made
                    if isinstance(made[-1], h.Bind):  # another type, and new memory
                        return [*made[:-1], replace(made[-1], view=False)]
                if concept == "alias" and dotted(source) in scope.arrays and element is None:
                    return [h.Point((name,), (k.ArrayRef(dotted(source), span=span),), span=span)]
                rows = source.elements if isinstance(source, cst.List) else ()
                if rows and element is None and all(scope.is_array(e.value) for e in rows):  # np.array([a, b])
                    stacked = value.with_changes(args=value.args[:1])
                    joined = host_numpy.joined("numpy.stack", stacked, lambda n: values.value(scope, n), span)
                    if joined is not None:
                        return [h.Bind(name, joined, None, span=span)]
                if isinstance(source, cst.List | cst.BinaryOperation | cst.Tuple):
                    known = host_numpy.table(source, self.element(element) if element is not None else None, span)
                    if known is not None:
                        return [h.Bind(name, known, span=span)]
                    if (
                        isinstance(source, cst.List)
                        and source.elements
                        and not any(scope.is_array(e.value) for e in source.elements)
                    ):
                        each = tuple(values.scalar(scope, e.value) for e in source.elements)
                        kind = self.element(element) if element is not None else None
                        return [h.Bind(name, host_numpy.listed(each, span), kind, span=span)]
                found = values.value(scope, source)
                same = concept == "alias" and values.is_view(found)  # of the same type it is the same memory
                return [h.Bind(name, found, self.element(element) if element else None, same, span=span)]
            if concept.endswith("_like"):
                fill = self.fill(concept, args[1:], value)
                element = self.keyword(value, "dtype")
                kind = self.element(element) if element is not None else NUMBER
                return [h.Alloc(name, kind, None, fill, self.array(args[0]), span=span)]
            if concept in ("empty", "zeros", "ones", "full"):
                return [self.alloc(name, concept, value, args, span)]
            called = dotted(value.func)
            if called in scope.hosts:
                return [h.CallHost(called, self.arguments(value), (name,), (True,), span=span)]
        if isinstance(value, cst.IfExp):
            test = values.value(scope, value.test)
            sides = [tuple(self.new_array(name, side, node)) for side in (value.body, value.orelse)]
            return [h.If(test, sides[0], sides[1], span=span)]
        found = values.value(scope, value)
        if isinstance(found, k.Var):
            raise scope.refuse(node, f"{name} is an array, and it is not known that `{scope.text(value)}` is one")
        func = value.func if isinstance(value, cst.Call) else None
        copied = isinstance(func, cst.Attribute) and func.attr.value in ("copy", "flatten")
        return [h.Bind(name, found, None, values.is_view(found) and not copied, span=span)]

    def choice(self, name: str, value: cst.Subscript, span) -> h.Stmt:  # type: ignore[no-untyped-def]
        """``name = bufs[index]``; an index below 0 counts from the end."""
        own = self.scope.banks[dotted(value.value)]
        at = value.slice[0].slice
        assert isinstance(at, cst.Index)
        index: k.Expr = values.scalar(self.scope, at.value)
        index = k.Op("mod", (index, k.Const(len(own), INT)), NUMBER)
        return h.Point((name,), (h.Chosen(own, index, span=span),), span=span)

    def is_array_call(self, node: cst.Call) -> bool:
        """Does a call make or move an array?"""
        concept = dialects.table("host_library")["python"].get(self.scope.qualified(node.func), "")
        return concept not in ("", "store", "fill")

    def shares(self, node: cst.Call) -> bool:
        """May what a call gives be memory that another name sees (``np.asarray(x)``)?"""
        concept = dialects.table("host_library")["python"].get(self.scope.qualified(node.func), "")
        return concept in ("alias", "clone") and host_places.moved(self.scope, node, concept) == "alias"

    def alloc(self, name: str, concept: str, call: cst.Call, args: list[cst.BaseExpression], span) -> h.Stmt:
        """An allocation with a shape."""
        scope = self.scope
        node = args[0] if args else self.keyword(call, "shape")
        if node is None:
            raise scope.refuse(call, "this allocation names no shape")
        rest = args[2:] if concept == "full" else args[1:]
        dtype = self.keyword(call, "dtype") or (rest[0] if rest else None)
        like = ""
        kind: ScalarType = ScalarType("float", 64) if name not in scope.recorded else NUMBER
        if isinstance(dtype, cst.Attribute) and dtype.attr.value == "dtype" and dotted(dtype.value) in scope.arrays:
            like, kind = dotted(dtype.value), NUMBER
        elif dtype is not None:
            kind = self.element(dtype) if name not in scope.recorded else INT  # a list of whole numbers
        fill = self.fill(concept, args[1:2], call)
        if isinstance(node, cst.Attribute) and node.attr.value == "shape" and dotted(node.value) in scope.arrays:
            if like in ("", dotted(node.value)):
                return h.Alloc(name, kind, None, fill, dotted(node.value), span=span)
            raise scope.refuse(call, "shape and dtype come from two arrays")
        shape = values.elements(scope, node)
        if shape is None:
            shape = (values.scalar(scope, node),)
        return h.Alloc(name, kind, shape, fill, like, span=span)  # type: ignore[arg-type]

    def fill(self, concept: str, args: list[cst.BaseExpression], call: cst.Call) -> k.Expr | None:
        """What an allocation is filled with."""
        base = concept.removesuffix("_like")
        if base == "full":
            node = args[0] if args else self.keyword(call, "fill_value")
            if node is None:
                raise self.scope.refuse(call, "this allocation names no value")
            return values.scalar(self.scope, node)
        return {"zeros": k.Const(0, INT), "ones": k.Const(1, INT)}.get(base)

    def keyword(self, call: cst.Call, name: str) -> cst.BaseExpression | None:
        """The value of a keyword argument."""
        found = [a.value for a in call.args if a.keyword is not None and a.keyword.value == name]
        return found[0] if found else None

    def element(self, node: cst.BaseExpression) -> ScalarType:
        """The element type that a dtype argument names."""
        scope = self.scope
        if isinstance(node, cst.SimpleString):
            kind = scalar_type(f"numpy.{node.evaluated_value!s}")
        else:
            kind = scalar_type(scope.imports.qualified(dotted(node)))
        if kind is None:
            raise scope.refuse(node, f"the element type `{scope.text(node)}` is not known")
        kind = ScalarType("float", 64) if kind == FLOAT else ScalarType("int", 64) if kind == INT else kind
        return BOOL if kind.kind == "bool" else kind

    def augmented(self, node: cst.AugAssign) -> list[h.Stmt]:
        """``a += b``: of a number a new value, of an array a change in place."""
        scope = self.scope
        name = dotted(node.target)
        symbol = type(node.operator).__name__.removesuffix("Assign")
        operation = values.BINARY.get(symbol, "")
        if not operation:
            raise scope.refuse(node, f"`{scope.text(node)}` is not accepted in a host function")
        added = values.value(scope, node.value)
        current = values.value(scope, node.target)
        result = k.Op(operation, (current, added), NUMBER, span=scope.span(node))  # type: ignore[arg-type]
        if isinstance(node.target, cst.Subscript):
            return self.store(node.target, result, node)
        if name in scope.arrays:
            return [h.Update(name, result, span=scope.span(node))]
        if scope.may_share(name):
            raise scope.refuse(
                node, f"nothing tells that {name} is a number; of an array this would change memory that others see",
                f"annotate it (`{name}: float`), or write `{name} = {name} {scope.text(node.operator)[:-1]} …`",
            )  # fmt: skip
        return [h.Assign(name, result, NUMBER, span=scope.span(node))]

    def store(self, target: cst.Subscript, value: h.Expr, node: cst.CSTNode) -> list[h.Stmt]:
        """``x[i] = v``, ``x[:] = v``, ``x[a:b] = v``."""
        scope = self.scope
        span = scope.span(node)
        name = self.array(target.value)
        first = target.slice[0].slice
        if len(target.slice) == 1 and isinstance(first, cst.Index) and isinstance(first.value, cst.Ellipsis):
            return [h.Update(name, value, span=span)]
        piece = values.part(scope, target)
        if piece is not None:
            return [h.Update(name, value, piece.offset, piece.count, piece.clamps, span=span)]
        whole = values.value(scope, target)
        if isinstance(whole, k.Load):
            return [h.Store(name, whole.subscripts, value, span=span)]
        items = list(target.slice)
        found = host_numpy.put(h.Whole(name, span=span), items, value, lambda n: values.scalar(scope, n), span)
        if found is not None:
            return [h.Update(name, found, span=span)]
        raise scope.refuse(target, f"a store to `{scope.text(target)}` is not known in a host function")

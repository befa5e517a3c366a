"""Arrays of pointers and structs of CUDA C host functions as names of their own.

``d_u[1]`` of ``float *d_u[2]`` is the pointer ``d_u_1``; ``d_u[cur]`` is a name of its own that points to one of them
(:class:`kraise.ir.host.Chosen`). ``f.rho`` and ``s->rho`` of a struct variable is ``f_rho``. The trees of statements
are rewritten before they are read, so that nothing else knows of either.
"""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c import host_main, host_taken
from kraise.frontends.cuda_c.c_types import Array, Container, CType, Pointer, Reference, Struct, Void, leaf
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_copies import Copies, named, number_of
from kraise.frontends.cuda_c.host_grids import Grids
from kraise.frontends.cuda_c.host_main import MARK, PARAMETER
from kraise.frontends.cuda_c.host_names import callee, normal
from kraise.frontends.cuda_c.host_racks import Racks
from kraise.frontends.cuda_c.trees import Node, kind, strip, tokens, trees
from kraise.frontends.cuda_c.values import Constant
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten
from kraise.ir.types import INT32, ArrayType, ScalarType

ONE = k.Const(1, INT32)
MOST_POINTERS, MOST_ROUNDS = 64, 64


class Places(Racks, Grids, Copies):
    """The part of the reader that knows names for parts."""

    low: Any
    arrays: dict[str, CType]
    ignored: set[str]
    pending: list[h.Stmt]
    array: Any
    scalar: Any
    number: Any
    member: Any
    dim3: Any
    unset_dims: set[str]
    varies: Any
    assignment: Any
    containers: set[str]
    banks: dict[str, tuple[str, ...]]  # arrays of pointers: their elements' names
    records: dict[str, dict[str, str]]  # struct variables: the names of their members
    kinds: dict[str, Struct]  # struct variables: their types
    getter: Any
    dims: dict[str, tuple[k.Expr, ...]]
    inputs: dict[str, Any]
    drop: Any
    choices: int
    chosen_names: set[str]  # names for pointers of arrays of pointers that a number chooses
    definitions: dict[str, k.Expr]
    shared: set[str]  # numbers of the caller's structs
    members: set[str]  # pointers of the caller's structs

    # --- declarations

    def own_name(self, wish: str) -> str:
        """A name that the function does not have."""
        name = wish
        while self.low.lookup(name) is not None or name in self.arrays or name in self.banks or name in self.records:
            name += "_"
        return name

    def bank(self, name: str, t: Array, node: Node) -> list[h.Stmt]:
        """``float *d_u[2]``: a name for each pointer."""
        count = number_of(self.defined(t.extent))
        if count is None or not 0 < count <= MOST_POINTERS:
            reason = f"{name} has a number of pointers that is not known here, or more than {MOST_POINTERS}"
            raise self.low.refuse(
                "KR211", reason, node, "give it a constant extent, or use one array with one axis more"
            )
        names = tuple(self.own_name(f"{name}_{n}") for n in range(count))
        self.banks[name] = names
        self.low.extents[name] = t
        self.low.names.setdefault(name, "taken")
        return [s for own in names for s in self.part(own, t.of, node)]

    def record(self, name: str, t: Struct, node: Node) -> list[h.Stmt]:
        """``Fields f``: a name for each member."""
        parts: dict[str, str] = {}
        out: list[h.Stmt] = []
        for member, of in t.members:
            parts[member] = own = self.own_name(f"{name}_{member}")
            out += self.part(own, of, node)
        self.records[name] = parts
        self.kinds[name] = t
        self.low.names.setdefault(name, "taken")
        return out

    def record_parameter(self, name: str, t: Struct, by_place: bool, params: list[k.Param], node: Node) -> list[h.Stmt]:
        """A struct, or a pointer or reference to one, as a parameter: one for each member."""
        made = self.record(name, t, node)
        span = self.low.span(node)
        for member, of in t.members:
            own = self.records[name][member]
            if own in self.arrays:
                element, axes = leaf(self.arrays[own])
                params.append(k.Param(own, ArrayType(element, axes + 1), span=span))  # type: ignore[arg-type]
            elif isinstance(of, ScalarType):
                params.append(k.Param(own, of, span=span))
                self.shared |= {own} if by_place else set()
            elif own in self.banks or own in self.records:
                reason = f"the member {member} of {name} is no array and no number"
                raise self.low.refuse("KR211", reason, node, "pass it as a parameter of its own")
        self.members |= {own for own in self.records[name].values() if by_place and own in self.arrays}
        return [s for s in made if not isinstance(s, h.Alloc)]

    def part(self, name: str, t: CType, node: Node) -> list[h.Stmt]:
        """A pointer of a bank or a member of a struct."""
        if isinstance(t, ScalarType):
            self.scalar(name, t)
        elif is_bank(t):
            return self.bank(name, t, node)  # type: ignore[arg-type]
        elif is_record(t):
            return self.record(name, t, node)  # type: ignore[arg-type]
        elif isinstance(t, Struct):
            self.unset_dims.add(name)
            return self.dim3(name, [])
        elif isinstance(t, Pointer) and leaf(t.to)[0] is not None:
            self.array(name, t.to)
            self.containers |= {name} if isinstance(t, Container) and t.owns else set()
        elif isinstance(t, Array):
            self.array(name, t.of)
            self.low.extents[name] = t
            extent = k.Const(number_of(t.extent) or 0, INT32)
            return [h.Alloc(name, t.of, (extent,), None, span=self.low.span(node))]  # type: ignore[arg-type]
        else:
            self.ignored.add(name)
        return []

    def assigned(self, target: Tree, value: Node, node: Any) -> list[h.Stmt]:
        """``target = value``."""
        whole = Tree("assignment_expression", [target, Token("EQUAL", "="), value], node.meta)
        return self.assignment(whole)

    def uncast(self, node: Node) -> Node:
        """An expression without the casts around it."""
        node = strip(node)
        while isinstance(node, Tree) and node.data in ("cast_expression", "cxx_cast_expression"):
            node = strip(trees(node)[-1])
        return node

    def extent_member(self, target: Any, value: Any, node: Node) -> list[h.Stmt]:
        """``grid.x = …``."""
        owner = callee(trees(target)[0])
        axis = self.member(target)
        if owner not in self.dims or axis not in ("x", "y", "z"):
            raise self.low.refuse("KR211", f"`{self.low.text(target)}` is not known in a host function", node)
        found = list((*self.dims[owner], ONE, ONE)[:3])
        own = f"{owner}_{axis}"
        self.varies(owner, [own], node)
        before = found["xyz".index(axis)]
        found["xyz".index(axis)] = k.Var(own, INT32)
        self.dims[owner] = tuple(found)
        if not isinstance(value, Tree | Token):  # grid.x /= 2
            return [h.Assign(own, normal(value), INT32, span=self.low.span(node))]
        if host_main.parsed(self, value) or host_taken.from_arguments(self, value):
            self.inputs[own] = INT32
            self.drop(node, PARAMETER)
            start = [] if before == k.Var(own, INT32) else [h.Assign(own, before, INT32, span=self.low.span(node))]
            return [*start, h.Assign(own, k.Var(own + MARK, INT32), INT32, span=self.low.span(node))]
        return [h.Assign(own, normal(self.number(value)), INT32, span=self.low.span(node))]

    # --- rewriting

    def placed(self, node: Any, choose: bool = True) -> Any:
        """A tree with names for members and (``choose``) for pointers of arrays; a choice by a number goes to
        ``pending``."""
        node = self.in_rows(node) if self.grids else node
        if not isinstance(node, Tree) or not (self.banks or self.records):
            return node
        if not ({str(t) for t in tokens(node)} & (set(self.banks) | set(self.records))):
            return node
        whole = choose or not self.chooses_struct(node)
        if whole and node.data == "call_expression" and (got := self.getter(node)) is not None:
            return self.placed(got, choose)
        if whole and node.data == "member_expression":
            own = self.member_name(node)
            if own:
                return named(own, node)
        if node.data == "call_expression" and (size := self.size_of_rack(node)) is not None:
            return size
        if choose and node.data == "subscript_expression" and (found := self.chosen_row(node)) is not None:
            return found
        children = [self.placed(c, choose) for c in node.children]
        if any(a is not b for a, b in zip(children, node.children, strict=True)):
            node = Tree(node.data, children, node.meta)
        if not choose:
            return node
        if node.data == "subscript_expression" and callee(node.children[0]) in self.banks:
            return self.chosen(self.banks[callee(node.children[0])], node)
        if node.data == "unary_expression" and str(node.children[0]) == "*" and len(node.children) == 2:
            owner = callee(strip(node.children[1]))
            if owner in self.banks:  # *d_u
                return named(self.banks[owner][0], node)
        return node

    def record_of(self, node: Node) -> str:
        """The struct variable that ``f``, ``&f``, ``*s`` or ``s`` is."""
        inner = strip(node)
        while isinstance(inner, Tree) and inner.data == "unary_expression" and str(inner.children[0]) in ("&", "*"):
            inner = strip(inner.children[1])
        if isinstance(inner, Tree) and inner.data == "member_expression":
            inner = named(self.member_name(inner), inner)
        return callee(inner) if callee(inner) in self.records else self.element_of(inner)

    def member_name(self, node: Tree) -> str:
        """The name of ``f.rho``, "" where ``f`` is no struct variable."""
        owner = self.record_of(trees(node)[0])
        return self.records[owner].get(self.member(node), "") if owner else ""

    def chosen(self, names: tuple[str, ...], node: Tree) -> Tree:
        """``d_u[index]`` as a name."""
        index = normal(self.number(node.children[1]))
        index = fold(index) or fold(self.defined(index)) or index
        span = self.low.span(node)
        if isinstance(index, k.Const):
            at = int(index.value.real)
            if not 0 <= at < len(names):
                raise self.low.refuse("KR211", f"there is no pointer {at} in an array of {len(names)}", node)
            return named(names[at], node)
        if names[0] not in self.arrays:
            raise self.low.refuse("KR211", f"`{self.low.text(node)}` is no pointer to numbers", node)
        self.choices += 1
        own = self.own_name(f"{callee(node.children[0])}_at_{self.choices}")
        self.chosen_names.add(own)
        self.array(own, self.arrays[names[0]])
        self.pending.append(h.Point((own,), (h.Chosen(names, index, span=span),), span=span))
        return named(own, node)

    def chosen_row(self, node: Tree) -> Tree | None:
        """``d[cur][1]`` of an array of arrays of pointers, where ``cur`` is not known here: one of ``d[0][1]``, …"""
        inner = strip(node.children[0])
        names = self.banks.get(callee(inner.children[0]), ()) if kind(inner) == "subscript_expression" else ()  # type: ignore[union-attr]
        if not names or any(n not in self.banks for n in names):
            return None
        index = normal(self.number(inner.children[1]))  # type: ignore[union-attr]
        if number_of(index) is not None or number_of(self.defined(index)) is not None:
            return None
        at = number_of(self.defined(normal(self.number(node.children[1]))))
        if at is None or not 0 <= at < len(self.banks[names[0]]):
            raise self.low.refuse("KR211", f"which pointer `{self.low.text(node)}` is, is not known here", node)
        rows = tuple(self.banks[n][at] for n in names)
        return self.chosen(rows, inner)  # type: ignore[arg-type]

    def defined(self, e: Any) -> Any:
        """An expression with what its numbers are known to be here (``int l = LEVELS - 1; … d_u[l]``)."""

        def visit(node: Any) -> Any:
            known = self.definitions.get(node.name) if isinstance(node, k.Var) else None
            return None if known is None else self.defined(known)

        return rewritten(e, visit)

    def settable(self, name: str, node: Any) -> None:
        """Refuses to set a pointer of an array of pointers that is chosen by a number which is not known."""
        if name in self.chosen_names:
            reason = f"which pointer of its array `{self.low.text(node)}` sets is not known"
            raise self.low.refuse("KR211", reason, node, "choose it by a constant, or by a counter of a short loop")

    # --- loops over the pointers themselves

    def unrolled(self, var: str, loop: h.For, body: Tree, read: Any) -> list[h.Stmt] | None:
        """A loop with a constant number of rounds over the elements of an array of pointers, written out."""
        if not isinstance(loop.step, k.Const):
            return None
        bounds = [number_of(self.defined(e)) for e in (loop.start, loop.stop)]
        if None in bounds or not self.over_pointers(body, var):
            return None
        rounds = range(bounds[0], bounds[1], int(loop.step.value.real))  # type: ignore[arg-type]
        if len(rounds) > MOST_ROUNDS:
            return None
        out: list[h.Stmt] = []
        for at in rounds:
            self.low.scopes.append({})
            self.low.declare(var, Constant(k.Const(at, INT32)))
            try:
                out += read(body)
            finally:
                self.low.scopes.pop()
        return out

    def over_pointers(self, body: Tree, var: str) -> bool:
        """Does a body use ``bank[var]``, with the variable by itself or plus a constant?"""
        for t in body.iter_subtrees():
            first = strip(t.children[0]) if t.data == "subscript_expression" else t
            if kind(first) == "subscript_expression" and t.data == "subscript_expression":  # d[i][j]
                first = strip(first.children[0])  # type: ignore[union-attr]
            if t.data == "subscript_expression" and callee(first) in self.banks:
                words = [str(w) for w in tokens(t.children[1])]
                if var in words and not {"%", "&", "^"} & set(words):
                    return True
        return False


def is_bank(t: CType) -> bool:
    """Is it an array of pointers to numbers, of one axis or several?"""
    if isinstance(t, Array) and isinstance(t.of, Array):
        return is_bank(t.of)
    return isinstance(t, Array) and isinstance(t.of, Pointer) and leaf(t.of.to)[0] is not None and leaf(t.of.to)[1] == 0


def is_dim3(t: CType) -> bool:
    """Is it ``dim3``?"""
    return isinstance(t, Struct) and t.name in ("uint3", "dim3")


def is_record(t: CType, called: bool = False) -> bool:
    """Is it a struct of numbers, pointers to numbers, arrays of either, handles and such structs, and no functor (if
    not ``called``)?"""
    if not isinstance(t, Struct) or t.vector:
        return False
    methods = getattr(t.defined, "methods", ())
    functor = any(m.startswith("operator(") for m in methods)
    return (
        bool(t.members or methods or getattr(t.defined, "constructors", ()))
        and (called or not functor)
        and all(_holds(m) for _, m in t.members)
    )


def _holds(t: CType) -> bool:
    if isinstance(t, ScalarType | Void) or is_bank(t) or is_record(t):
        return True
    if isinstance(t, Struct):
        return t.name in ("uint3", "dim3")
    if isinstance(t, Array):
        return isinstance(t.of, ScalarType)
    return isinstance(t, Pointer) and (leaf(t.to)[0] is not None or isinstance(t.to, Void))


def is_vector(t: CType) -> bool:
    """Is it ``float3`` and the like, by value?"""
    plain = isinstance(t, Struct) and t.vector and not is_dim3(t)
    return plain and all(isinstance(of, ScalarType) for _, of in t.members)  # type: ignore[union-attr]


def record_behind(t: CType) -> Struct | None:
    """The struct of ``Fields``, ``Fields &`` and ``Fields *``, None for other types."""
    inner = t.to if isinstance(t, Reference | Pointer) else t
    return inner if isinstance(inner, Struct) and is_record(inner) else None


__all__ = ["Places", "is_bank", "is_record", "is_vector", "record_behind"]

"""Structs of CUDA C hosts as wholes: copies, exchanges, vectors that are given their members."""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c.c_types import Array, CType, Struct
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.trees import Node, child, kind, strip, tokens, trees
from kraise.frontends.cuda_c.values import VarPlace
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32


class Copies:
    """The part of the reader that knows whole structs; the rest is in :mod:`.host_places`."""

    low: Any
    arrays: dict[str, CType]
    ignored: set[str]
    containers: set[str]
    banks: dict[str, tuple[str, ...]]
    records: dict[str, dict[str, str]]
    kinds: dict[str, Struct]
    scalar: Any
    own_name: Any
    assigned: Any
    record_of: Any
    placed: Any

    def copied_record(self, to: str, source: str, node: Node) -> list[h.Stmt]:
        """``f = g``: the members of a struct, one by one."""
        out: list[h.Stmt] = []
        for member, own in self.records[to].items():
            other = self.records[source][member]
            if own in self.records:
                out += self.copied_record(own, other, node)
            elif own in self.banks:
                refs = tuple(k.ArrayRef(n) for n in self.banks[other])
                out.append(h.Point(self.banks[own], refs, span=self.low.span(node)))
            elif isinstance(self.low.extents.get(own), Array) and own in self.arrays:  # its own memory
                count = k.Const(number_of(self.low.extents[own].extent) or 0, INT32)
                span = self.low.span(node)
                out.append(h.Update(own, h.Whole(other, None, count, span=span), None, count, span=span))
            elif own not in self.ignored:
                out += self.assigned(named(own, node), named(other, node), node)
        return out

    def swapped(self, one: str, two: str, node: Node) -> list[h.Stmt]:
        """``std::swap(f, g)``: the members of two structs, one by one. Raises Refused (KR211)."""
        out: list[h.Stmt] = []
        span = self.low.span(node)
        for member, own in self.records[one].items():
            other = self.records[two].get(member, "")
            arrays = isinstance(self.low.extents.get(own), Array) or own in self.containers
            if own in self.records:
                out += self.swapped(own, other, node)
            elif own in self.arrays and not arrays and own not in self.banks:
                refs = (k.ArrayRef(other, span=span), k.ArrayRef(own, span=span))
                out.append(h.Point((own, other), refs, span=span))
            elif isinstance(place := self.low.lookup(own), VarPlace):
                before = self.own_name(f"{own}_before")
                self.scalar(before, place.type)
                out.append(h.Assign(before, k.Var(own, place.type), place.type, span=span))
                out += self.assigned(named(own, node), named(other, node), node)
                out += self.assigned(named(other, node), named(before, node), node)
            elif own not in self.ignored:
                raise self.low.refuse("KR211", f"the member {member} changes its place", node, "swap its elements")
        return out

    def vector_given(self, name: str, value: Node, node: Node) -> list[h.Stmt]:
        """``g = make_float3(x, y, z)``, ``g = {x, y, z}``, ``g = v``: the members one by one."""
        inner: Any = strip(value)
        braces = inner if kind(inner) == "braced_init_list" else child(inner, "braced_init_list")
        if other := self.record_of(inner):
            return self.copied_record(name, other, node)
        made = kind(inner) in ("call_expression", "functional_cast", "braced_cast") and callee(inner.children[0])  # type: ignore[union-attr]
        values = (
            trees(braces) if braces is not None else trees(inner)[1:] if made == f"make_{self.kinds[name].name}" else []
        )  # type: ignore[arg-type]
        members = list(self.records[name].values())
        if len(values) != len(members):
            reason = f"what {name} is made of is not known here"
            raise self.low.refuse("KR211", reason, node, "set its members one by one")
        itself = any(str(t) in (name, *members) for v in values for t in tokens(v))  # g = make_float3(g.y, g.x, 0)
        own = [f"{m}_new" for m in members] if itself else members
        out: list[h.Stmt] = []
        for member, new, v in zip(members, own, values, strict=True):
            if itself:
                self.scalar(new, self.low.lookup(member).type)
            out += self.assigned(named(new, node), self.placed(v), node)
        for member, new in zip(members, own, strict=True) if itself else ():
            out += self.assigned(named(member, node), named(new, node), node)
        return out


def named(name: str, node: Any) -> Tree:
    """A name in the place of a tree."""
    return Tree("id_expression", [Token("NAME", name)], node.meta)


def number_of(e: Any) -> int | None:
    """The whole number that an expression is, None for any other."""
    found = fold(e)
    return int(found.value.real) if isinstance(found, k.Const) else None

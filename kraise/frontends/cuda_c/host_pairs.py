"""Several values at once in CUDA C host functions: ``auto [lo, hi] = extent(d, n);``, ``std::tie(lo, hi) = …`` and what
a function returns as a struct, a pair or a tuple (its members, as a tuple).

Side conditions, each checked: the type is a struct that the file defines, or a pair or tuple; the names are not of
variables around.
"""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c.c_types import Reference, Struct
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.host_places import is_record, record_behind
from kraise.frontends.cuda_c.trees import Node, arguments_of, child, kind, strip, tokens, trees
from kraise.ir import host as h
from kraise.ir import kernel as k


class Pairs:
    """The part of the reader that knows them; :class:`kraise.frontends.cuda_c.host.HostReader` has the rest."""

    low: Any
    arrays: dict[str, Any]
    records: dict[str, dict[str, str]]
    kinds: dict[str, Struct]
    ignored: set[str]
    record_of: Any
    copied_record: Any
    given_by: Any
    own_name: Any
    part: Any
    assigned: Any
    struct_result: Struct | None  # what the function returns, where that is a struct

    def unpacked(self, node: Tree) -> list[h.Stmt]:
        """``auto [a, b] = f(x);``: the members of what is given have these names."""
        names = [str(t) for i in trees(node, "identifier_list") for t in tokens(i) if t.type == "NAME"]
        value = strip(trees(node)[-1])
        t = self._struct_of(value) or self._made_of(value)
        if t is None or len(t.members) < len(names):
            reason = (
                f"what [{', '.join(names)}] are is not known here: `{self.low.text(value)}` is no struct of the file"
            )
            raise self.low.refuse("KR211", reason, node, "give each variable its value by itself")
        for name in names:
            if self.own_name(name) != name:
                reason = f"{name} is declared anew, and there is a variable {name} around"
                raise self.low.refuse("KR211", reason, node, f"rename one variable {name}")
        own = self.own_name("_".join(names))
        made = self.record_as(own, t, names, node)
        if (owner := self.record_of(value)) and any(trees(node, "ref_operator")):
            reason = f"[{', '.join(names)}] are other names for the members of {owner}"
            raise self.low.refuse("KR211", reason, node, "name the members, or copy them (auto without &)")
        if owner:
            return made + self.copied_record(own, owner, node)  # type: ignore[no-any-return]
        return made + self.assigned(_id(own, node), value, node)

    def record_as(self, own: str, t: Struct, names: list[str], node: Node) -> list[h.Stmt]:
        """A struct variable whose first members have names of their own."""
        parts: dict[str, str] = {}
        made: list[h.Stmt] = []
        for at, (member, of) in enumerate(t.members):
            parts[member] = names[at] if at < len(names) else self.own_name(f"{own}_{member}")
            made += self.part(parts[member], of, node)
        self.records[own], self.kinds[own] = parts, t
        self.low.names.setdefault(own, "taken")
        return made

    def tied(self, names: list[Tree], value: Node, node: Tree) -> list[h.Stmt]:
        """``std::tie(a, b) = f(x)``."""
        t = self._struct_of(strip(value)) or self._made_of(strip(value))
        if t is None or len(t.members) < len(names):
            reason = f"`{self.low.text(value)}` is no pair, tuple or struct of the file"
            raise self.low.refuse("KR211", reason, node, "give each variable its value by itself")
        own = self.own_name("tied")
        made = self.record_as(own, t, [], node) + self.assigned(_id(own, node), value, node)
        for to, part in zip(names, self.records[own].values(), strict=False):
            made += [] if callee(to) == "ignore" else self.assigned(to, _id(part, node), node)
        return made

    def returned_members(self, value: Any, node: Any) -> list[h.Stmt] | None:
        """The return of a struct: of its members; None for another value."""
        own = self.record_of(value)
        made: list[h.Stmt] = []
        if not own:
            if self.struct_result is None:
                return None
            own = self.own_name("result")
            made = self.record_as(own, self.struct_result, [], node)
            made += self.assigned(_id(own, node), value, node)
        return [*made, h.Return(tuple(self._members(own, node)), span=self.low.span(node))]

    def _members(self, owner: str, node: Any) -> list[Any]:
        out: list[Any] = []
        for member, own in self.records[owner].items():
            place = self.low.lookup(own)
            if own in self.records:
                out += self._members(own, node)
            elif own in self.arrays:
                out.append(k.ArrayRef(own, span=self.low.span(node)))
            elif own in self.ignored or not hasattr(place, "type"):
                reason = f"the member {member} of what is returned is no number and no array that is known here"
                raise self.low.refuse("KR211", reason, node, "return the others by themselves")
            else:
                out.append(k.Var(own, place.type))
        return out

    def _struct_of(self, value: Any) -> Struct | None:
        """The struct that an expression gives."""
        if owner := self.record_of(value):
            return self.kinds[owner]
        if kind(value) != "call_expression":
            return None
        given = self.given_by(value)
        inner = given.to if isinstance(given, Reference) else given
        return record_behind(inner) if is_record(inner) else None

    def got(self, node: Tree) -> Tree | None:
        """``std::get<1>(t)`` as the member; None for any other call."""
        given = arguments_of(node.children[0]) if callee(node.children[0]) == "get" else None
        owner = self.record_of(trees(node)[-1]) if given is not None and len(trees(node)) == 2 else ""
        at = fold(self.low.template_arguments(given)[0]) if owner else None
        names = list(self.records[owner].values()) if owner else []
        place = int(at.value.real) if at is not None else len(names)
        return _id(names[place], node) if place < len(names) else None

    def _made_of(self, value: Any) -> Struct | None:
        """The type of ``std::make_pair(a, b)``."""
        if kind(value) != "call_expression" or callee(value.children[0]) not in ("make_pair", "make_tuple"):
            return None
        types = [self.low._argument_type(a) for a in trees(value)[1:]]
        return Struct("tuple", tuple((f"get_{at}", t) for at, t in enumerate(types)))


def returned_struct(reader: Any, tree: Tree, declarator: Tree) -> Struct | None:
    """The struct that a function returns by value; None for another type."""
    specifiers, inner = child(tree, "decl_specifiers"), child(declarator, "declarator")
    if specifiers is None or inner is None:
        return None
    _, found = reader.low.declarator(inner, reader.low.specifiers(specifiers).type)
    return found if isinstance(found, Struct) and is_record(found) else None


def _id(name: str, node: Any) -> Tree:
    return Tree("id_expression", [Token("NAME", name)], node.meta)

"""References that CUDA C host functions declare: ``float &r = h[i];`` stands for its place in the rest of its block.

Side condition, checked: the numbers of its subscript do not change there. And what a helper may change of its caller,
and numbers that a parameter refers to (``float &sum``).
"""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import host_effects
from kraise.frontends.cuda_c.c_types import Reference
from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.host_renames import changed_names, declared_names, with_names
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.trees import child, kind, last_name, strip, tokens, trees
from kraise.frontends.cuda_c.values import VarPlace
from kraise.ir.types import ScalarType

_PLACES = ("id_expression", "subscript_expression", "member_expression")


class References:
    """The part of the reader that knows references; see :class:`kraise.frontends.cuda_c.host.HostReader`."""

    low: Any
    arrays: dict[str, Any]
    banks: dict[str, tuple[str, ...]]
    records: dict[str, dict[str, str]]
    renames: dict[str, list[Raw] | None]
    references: set[str]  # the names that are declared as references
    of_file: set[str]  # variables of the file that are main's
    _spelled: Any
    _helper: Any
    program: Any
    method_of: Any
    _given: Any

    def without_references(self, node: Tree, rest: list[Tree]) -> list[Tree]:
        """The statements behind a declaration with what its references stand for. Refused where that may change."""
        found = trees(node, "declaration") if node.data == "declaration_statement" else []
        for d in (d for f in found for d in trees(f, "init_declarator")):
            declarator = child(d, "declarator")
            pointers = [str(t) for p in (declarator.find_data("ptr_operator") if declarator else ()) for t in tokens(p)]
            initial = strip(trees(d)[-1])
            if "&" not in pointers or kind(initial) not in _PLACES or not self._holds(initial):
                continue
            name = next((str(last_name(i)) for i in declarator.find_data("declarator_id")), "")  # type: ignore[union-attr]
            words = [str(t) for t in tokens(initial) if t.type == "NAME"][1:]
            inside = {n for n in words if n in self.arrays}  # a load
            numbers = {n for n in words if isinstance(self.low.lookup(n), VarPlace)} | inside
            moved = sorted(numbers & {*inside, *(n for s in rest for n in changed_names(s))})
            if moved:
                reason = f"{name} refers to a place by {moved[0]}, which may change behind it"
                raise self.low.refuse("KR211", reason, d, "write the element itself")
            self.references.add(name)
            self.renames = {**self.renames, name: self._spelled(initial)}
            rest = [with_names(s, {name: initial}) for s in rest]
        return rest

    def within_reach(self, call: Tree) -> set[str]:
        """The numbers that a helper that is written out may change: what the call names (but for numbers that are
        given as such), members of objects, and variables of the file."""
        d = self._helper(call)
        if d is not None and self.method_of(call) is None:
            effects = host_effects.of_function(self.program, d.name)
            if not effects.memory:  # it launches and copies, and sets no number of its caller
                return effects.variables | self.of_file
        params: list[Any] = (self._given(d, call) or ([],))[0] if d is not None else []
        given = zip(params, trees(call)[1:], strict=False)
        numbers = {id(a) for p, a in given if isinstance(p.type, ScalarType)}
        words = {str(t) for c in call.children if id(c) not in numbers for t in tokens(c) if t.type == "NAME"}
        words |= {str(r.text) for w in words for r in self.renames.get(w) or ()}
        return words | {own for members in self.records.values() for own in members.values()} | self.of_file

    def _holds(self, node: Any) -> bool:
        """Is a place one of this function's numbers, arrays or objects?"""
        names = [str(t) for t in tokens(node) if t.type == "NAME"]
        if not names:
            return False
        known = {*self.arrays, *self.banks, *self.records}
        return names[0] in known or isinstance(self.low.lookup(names[0]), VarPlace)


def set_parameters(reader: Any, declarator: Tree, body: Tree) -> dict[str, Tree]:
    """The numbers that a parameter refers to (``float &sum``) and that the body sets, or hands on, as cells: such a
    parameter is an array of one element, ``sum[0]``. One that the body only reads is a number.

    Refused where the body declares the name again: it stands for two variables then.
    """
    found: dict[str, Tree] = {}
    changed = _may_change(reader.program, body)
    for p in trees(declarator, "parameter_declaration"):
        own = child(p, "declarator")
        name = next((str(last_name(i)) for i in p.find_data("declarator_id")), "")
        marks = [str(t) for o in (own.find_data("ptr_operator") if own is not None else ()) for t in tokens(o)]
        if marks != ["&"] or name not in changed or not _is_number(reader, p):
            continue
        if name in declared_names(body):
            raise reader.low.refuse("KR211", f"{name} is the name of a reference and of another variable", p)
        parts = [Tree("id_expression", [Token("NAME", name)], p.meta), Tree("number", [Token("NUMBER", "0")], p.meta)]
        found[name] = Tree("subscript_expression", parts, p.meta)
    return found


def _is_number(reader: Any, parameter: Tree) -> bool:
    """Does a parameter refer to a number that is no constant?"""
    try:
        p = reader.low.parameters(Tree("function_declarator", [parameter]))[0]
    except Refused:
        return False
    return isinstance(p.type, Reference) and isinstance(p.type.to, ScalarType) and not p.const


def _may_change(program: Any, body: Tree) -> set[str]:
    """The names that a body assigns to, reads input to, gives to a function or has another reference to."""
    found = changed_names(body) | host_effects.of_tree(program, body).variables
    found |= {callee(a) for c in body.find_data("call_expression") for a in trees(c)[1:]}
    for d in body.find_data("init_declarator"):
        declarator = child(d, "declarator")
        if declarator is not None and "&" in {str(t) for o in declarator.find_data("ptr_operator") for t in tokens(o)}:
            found.add(callee(trees(d)[-1]))
    return found - {""}

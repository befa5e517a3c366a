"""Calls of functions of the file that launch nothing, and of functions of elsewhere."""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.diagnostics import Diagnostic, Refused
from kraise.frontends.cuda_c import host_effects, host_helpers
from kraise.frontends.cuda_c.c_types import CType, leaf
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_main import MARK, PARAMETER, READERS, outside_of
from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.host_overloads import binding, definition_of
from kraise.frontends.cuda_c.instantiate import Instantiation
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.trees import Node, child, kind, strip, tokens, trees
from kraise.frontends.cuda_c.values import Bound, Constant, TypeName, VarPlace
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import ArrayType


class Plain:
    """The part of the reader that knows functions that launch nothing."""

    program: Program
    low: Any
    functions: dict[str, k.Function]
    arrays: dict[str, CType]
    outlined: list[k.Function]
    plain: dict[str, k.Function | None]
    refused: dict[str, list[Diagnostic]]
    inputs: dict[str, Any]
    unknown: set[str]
    name: str
    pointer_name: Any
    _array_like: Any
    pointer: Any
    parts: Any
    number_at: Any
    symbols_of: Any
    forget: Any
    unset: set[str]
    ignored: set[str]
    given: Any
    drop: Any
    _gives: Any
    counters: Any
    undefaulted: set[str]
    own_name: Any
    scalar: Any
    variants: Any
    defined: Any
    template_numbers: Any

    def is_unknown(self, node: Node) -> bool:
        """Is there a call of a function of elsewhere, on numbers only? Its value is not followed."""
        if any(str(t) in self.arrays for t in tokens(node)):
            return False
        try:
            self.low.value(node)
        except Refused as refused:
            return all(d.code == "KR103" for d in refused.diagnostics)
        finally:
            self.low.out.clear()
            self.low.after.clear()
        return False

    def is_plain(self, node: Any) -> bool:
        """Is this the call of a function of the file that launches nothing, on arrays (one of numbers is a value)?"""
        node = strip(node)
        if kind(node) != "call_expression":
            return False
        found = self.program.functions.get(callee(node.children[0]), [])
        host = any(d.kind == "host" and d.item is not None for d in found)
        return host and any(self.named_arrays(a) for a in trees(node)[1:])

    def named_arrays(self, node: Tree) -> list[str]:
        """The arrays that an argument passes: one, or those of the members of structs."""
        own = self.pointer_name(node) or self._array_like(node)
        return [own] if own else [self.pointer(p).array for p in self.parts(node).values()]

    def only_says(self, name: str) -> bool:
        """Is this a function of the file that changes nothing which reaches a value: it prints, checks or takes the
        time?"""
        if not any(d.kind == "host" and d.item is not None for d in self.program.functions.get(name, [])):
            return False
        found = host_effects.of_function(self.program, name)
        return not found.changes and (not found.variables or found.variables <= host_helpers.idle(self.program))

    def plain_call(self, node: Any, results: tuple[str, ...], t: Any) -> list[h.Stmt]:
        """The call of a function that launches nothing: a plain function of the module.

        One that changes no array and whose result is not taken only prints or checks. What ``main`` fills from outside
        is a parameter."""
        from kraise.frontends.cuda_c.reader import read_function

        node = strip(node)
        name = callee(node.children[0])
        args = trees(node)[1:]
        if not results and self.only_says(name):
            return self.drop(node, "printing or a check")
        d, instances, name = self.meant(node)
        if name not in self.plain:
            self.plain[name], self.refused[name] = read_function(self.program, d, "plain", name, instances)
        function = self.plain[name]
        if function is not None:
            known = {f.name for f in self.outlined} | set(self.functions)
            if name not in known:
                self.outlined.append(function)
            results, t = (results, t) if results else self.unused(node)
            types = (t,) if results else ()
            span = self.low.span(node)
            passed = (*self.given(function, args), *self.symbols_of(function, len(args)))
            if function.static:
                passed = (*passed, *self.template_numbers(callee(node.children[0]), function.static, node.children[0]))
            return [h.Launch(name, passed, None, None, None, results, types, span=span)]
        constant = self._constant(d)
        given = [n for at, a in enumerate(args) for n in self.named_arrays(a) if at not in constant]
        given = [n for n in given if n not in self.ignored]
        if given and self.name == "main" and not results and outside_of(self.program, d):
            return [s for n in given for s in self.filled(n, node)]
        raise Refused(*[x for x in self.refused[name] if x.severity == "error"])

    def meant(self, node: Tree) -> tuple[Definition, list[Instantiation], str]:
        """Which function of the file a call means, of overloads and of the instances of a template, and its name in
        the module: the first one that is called has its own."""
        name = callee(node.children[0])
        d = definition_of(self, node)
        if d is None:
            reason = f"which of the functions {name} is called here is not known"
            raise self.low.refuse("KR211", reason, node, "give them names of their own")
        scope = binding(self, d, node.children[0], trees(node)[1:]) or {}
        arguments = tuple(self._bound(scope.get(p.name)) for p in d.parameters)
        names = self.variants.plain.setdefault(name, {})
        which = self.program.functions[name].index(d), str(arguments)
        if which not in names:
            names[which] = name if not names else self.own_function(f"{name}_{len(names) + 1}")
        return d, [Instantiation(arguments)] if arguments else [], names[which]

    def _bound(self, entity: Any) -> Any:
        """The template argument that a parameter is bound to, None where it is not known here."""
        if isinstance(entity, Bound):
            return fold(self.defined(entity.value))
        return entity.type if isinstance(entity, TypeName) else entity.value if isinstance(entity, Constant) else None

    def own_function(self, wish: str) -> str:
        """A name that no function of the file has."""
        name, number = wish, 2
        while name in self.program.functions or name in self.functions:
            name, number = f"{wish}_{number}", number + 1
        return name

    def _constant(self, d: Any) -> set[int]:
        """The places of the parameters of a function that point to what it does not change."""
        try:
            declarator = child(self.program.load(d), "function_declarator")
            return {at for at, p in enumerate(self.low.parameters(declarator)) if p.const}
        except Refused:
            return set()

    def unused(self, call: Tree) -> tuple[tuple[str, ...], Any]:
        """A name for the number that a call gives and nobody takes, and its type."""
        t = self._gives(call)
        if t is None:
            return (), None
        own = self.own_name(f"{callee(call.children[0])}_unused")
        self.scalar(own, t)
        return (own,), t

    def read_in(self, name: str, args: list[Tree], node: Tree) -> list[h.Stmt] | None:
        """``fread(h, …)`` and ``fscanf(file, "%d", &n)`` of ``main``: parameters; None for any other call."""
        if self.name != "main" or name not in READERS:
            return None
        arrays = [n for a in args if (n := self.pointer_name(a))]
        places = [p for a in args if (p := self.number_at(a)) is not None]
        if not arrays and not places:
            return None
        out = [s for n in arrays for s in self.filled(n, node)]
        out += [self.taken_in(place, node) for place in places]
        self.undefaulted |= {place.name for place in places}
        if places:
            self.drop(node, PARAMETER)
        return out

    def taken_in(self, place: VarPlace, node: Tree) -> h.Stmt:
        """A number of ``main`` that is set from outside: a parameter."""
        self.forget(place.name)
        self.unset.discard(place.name)
        self.ignored.discard(place.name)
        self.inputs[place.name] = place.type
        return h.Assign(place.name, k.Var(place.name + MARK, place.type), place.type, span=self.low.span(node))

    def counted_in(self, node: Tree) -> list[h.Stmt]:
        """The integers that a loop sets while it fills arrays from outside: how many there are."""
        found = host_effects.of_tree(self.program, node, frozenset(self.arrays)).variables - self.counters(node)
        places = [p for n in sorted(found) if isinstance(p := self.low.lookup(n), VarPlace) and p.type.is_integer]
        self.undefaulted |= {p.name for p in places}
        return [self.taken_in(p, node) for p in places]

    def filled(self, name: str, node: Tree) -> list[h.Stmt]:
        """An array of ``main`` that is filled from outside: a parameter."""
        element, axes = leaf(self.arrays[name])
        self.inputs[name] = ArrayType(element, axes + 1)  # type: ignore[arg-type]
        self.drop(node, "input: a parameter")
        return [h.Update(name, h.Whole(name + MARK), span=self.low.span(node))]

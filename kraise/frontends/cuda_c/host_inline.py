"""Calls of helpers that work on the caller's own variables, written out: structs, pointers to pointers, references.

``allocate(&d_x, n)``, ``step(&system, dt)``, ``float *d = to_device(h, n)``: a parameter stands for the variable
that is given, where the helper never changes the parameter itself; any other is a variable that holds the argument.

Side conditions, each checked: the helper returns at its end only, it does not call itself, and no name of the file that
it uses is hidden by a variable of the caller.
"""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import host_effects, host_file, host_renames
from kraise.frontends.cuda_c.c_types import FUNCTION, Array, Container, CType, Pointer, Reference, Struct, leaf
from kraise.frontends.cuda_c.host_exits import single_exit
from kraise.frontends.cuda_c.host_main import assigned_places
from kraise.frontends.cuda_c.host_names import callee, concept
from kraise.frontends.cuda_c.host_nest import renamed
from kraise.frontends.cuda_c.host_overloads import definition_of, is_another
from kraise.frontends.cuda_c.host_places import is_dim3, is_record, record_behind
from kraise.frontends.cuda_c.host_racks import holds_racks
from kraise.frontends.cuda_c.host_recursion import Recursion, repeats
from kraise.frontends.cuda_c.host_renames import changed_names, declared_names, locals_of, members_of, with_names
from kraise.frontends.cuda_c.program import Program
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.trees import arguments_of, child, end, kind, position, strip, tokens, trees
from kraise.frontends.cuda_c.values import TypeName, VarPlace
from kraise.ir import host as h
from kraise.ir.types import INT8, INT32, ScalarType


class Inlining(Recursion):
    """The part of the reader that writes helpers out."""

    program: Program
    low: Any
    name: str
    arrays: dict[str, CType]
    hosts: dict[str, tuple[bool, ...]]
    struct_types: set[str]
    host_bound: dict[str, dict[str, Any]]
    written_out: set[str]  # helpers that were written out
    inlining: list[str]
    arguments_of_main: set[str]
    changed_objects: set[str]
    records: dict[str, dict[str, str]]
    method_of: Any
    of_object: Any
    own_name: Any
    number_at: Any
    record_of: Any
    copied_record: Any
    placed: Any
    store: Any
    is_ignored: Any
    ignore: Any
    drop: Any
    scalar: Any
    symbols: dict[str, bool]
    others_alone: set[str]
    on_device: set[str]  # hosts that work on variables of the device
    of_file: set[str]  # variables of the file that are main's
    exits: set[str]  # what helpers that return before their end return
    assigned: Any
    read_or_left: Any
    declaration: Any
    flushed: Any
    kept: Any
    without_references: Any
    references: set[str]
    made_in_place: Any
    result_type: Any
    renames: dict[str, list[Raw] | None]  # what stands for names of the source; None: no text of its own

    def inlines(self, node: Any) -> bool:
        """Is this a call of a helper that must be written out?"""
        node = strip(node)
        if kind(node) != "call_expression":
            return False
        if self.method_of(node) is not None:
            return True
        d = self._helper(node)
        if is_another(self, node):
            return True
        if d is None or d.name in self.hosts:
            own = d is not None and (d.name in self.on_device | self.others_alone or host_file.mentions(self, d.name))
            return d is not None and (own or self._other_types(d, node) or self._by_place(d, node))
        return self._by_place(d, node) or self._works(d) or host_file.mentions(self, d.name)

    def _helper(self, node: Tree) -> Definition | None:
        return definition_of(self, node)

    def _works(self, d: Definition) -> bool:
        """Does a helper launch, or call the runtime or another host function?"""
        toks = self.program.unit.tokens
        words = {toks[n].text for n in range(d.item.first, d.item.last + 1)} if d.item is not None else set()
        return "<<<" in words or bool(words & set(self.hosts)) or any(concept(w) for w in words)

    def _scope(self, d: Definition, node: Tree) -> dict[str, Any]:
        """What the template parameters of a helper are in a call."""
        tree = self.program.load(d)
        if not d.parameters:
            return dict(d.scope)
        given = arguments_of(node.children[0])
        explicit = self.low.template_arguments(given) if given is not None else []
        types = [self._type_of(a) for a in trees(node)[1:]]
        return {**d.scope, **(self.low._bind_template(d, explicit, types, tree) or {})}

    def _type_of(self, node: Tree) -> Any:
        """The type of an argument: of a kernel, of the arguments of ``main``, or of a value."""
        if self._is_function(node):
            return FUNCTION
        if callee(node) in self.arguments_of_main and self.low.lookup(callee(node)) is None:
            return INT32 if callee(node) == "argc" else Pointer(Pointer(INT8))
        return self.low._argument_type(node)

    def _other_types(self, d: Definition, node: Tree) -> bool:
        """Is a template called with other types than those that its own function of the module has?"""
        types = {n: v.type for n, v in self.host_bound.get(d.name, {}).items() if isinstance(v, TypeName)}
        if not types:
            return False
        scope = self._scope(d, node)
        return any(getattr(scope.get(n), "type", None) != t for n, t in types.items())

    def _is_function(self, node: Tree) -> bool:
        """Is an argument the name of a function of the file: a kernel?"""
        return self.low.lookup(callee(node)) is None and callee(node) in self.program.functions

    def _given(self, d: Definition, node: Tree) -> tuple[list[Any], Any] | None:
        """A helper's parameters and the type of its result, where it has a body and they are known."""
        try:
            tree = self.program.load(d)
            declarator = child(tree, "function_declarator")
            specifiers = child(tree, "decl_specifiers")
            if declarator is None or specifiers is None or child(tree, "compound_statement") is None:
                return None
            self.low.scopes.append(self._scope(d, node))
            try:
                inner = child(declarator, "declarator")
                result = self.low.declarator(inner, self.low.specifiers(specifiers).type)[1] if inner else None
                return self.low.parameters(declarator), result
            finally:
                self.low.scopes.pop()
        except Refused:
            return None

    def _by_place(self, d: Definition, node: Tree) -> bool:
        """Does a helper take variables of its caller by place, or give memory or a struct back?"""
        found = self._given(d, node)
        if found is None:
            return False
        given, result = found
        changes = self._works(d) or host_effects.of_function(self.program, d.name).memory
        places = any((_by_place(p.type) or holds_racks(p.type)) and not self.of_structs(p.type) for p in given) or (
            changes and any(self._sets(p, a) for p, a in zip(given, trees(node)[1:], strict=False))
        )
        return places or is_record(result) or (_pointer(result) and not isinstance(result, Container))  # type: ignore[arg-type]

    def of_structs(self, t: Any) -> bool:
        """Is it an array of structs, of which the arrays of the members are passed?"""
        inner = t.to if isinstance(t, Pointer | Reference) else None
        return isinstance(inner, Struct) and inner.name in self.struct_types

    def _sets(self, p: Any, arg: Tree) -> bool:
        """May the helper set a number of its caller through this parameter?"""
        if isinstance(p.type, Reference):
            return isinstance(p.type.to, ScalarType)
        return isinstance(p.type, Pointer) and not p.const and self.number_at(arg) is not None

    def inline(self, node: Any, target: Tree | None) -> list[h.Stmt]:
        """The statements of the helper's body; what it returns goes to ``target``."""
        node = strip(node)
        method = self.method_of(node)
        owner, d = method if method is not None else ("", self._helper(node))
        assert d is not None
        tree = self.program.load(d)
        declarator, body = child(tree, "function_declarator"), child(tree, "compound_statement")
        assert declarator is not None and body is not None
        args = [self.placed(a) for a in trees(node)[1:]]
        return self.written(d, declarator, body, args, self._scope(d, node), owner, node, target)

    def written(
        self, d: Definition, declarator: Tree, body: Tree, args: list[Tree], scope: dict[str, Any], owner: str,
        node: Any, target: Tree | None = None,
    ) -> list[h.Stmt]:  # fmt: skip
        """The statements of a function (``owner``: of which object) for its arguments."""
        tree = self.program.load(d)
        label = f"{owner}.{d.name}" if owner else d.name
        self.repeating |= {label} if repeats(d, body) else set()
        numbers = self.call_numbers(label, d, declarator, args, node, scope)
        if owner:
            body = self.of_object(body, owner, locals_of(declarator, body))
        returns = list(body.find_data("return_statement"))
        last = trees(body)[-1] if trees(body) else None
        if any(r is not last for r in returns):
            body = self._one_exit(d, tree, declarator, body, node)
            returns = list(body.find_data("return_statement"))
        renames = self.renames
        self.low.scopes.append(scope)
        self.inlining.append(label)
        self.written_numbers.append(numbers)
        try:
            names, before = self._parameters(d, declarator, body, args, node, owner)
            if target is not None and (made := self.made_in_place(body, args, target)):
                names[made] = callee(target)
                self.references.add(callee(target))
            self.renames = {n: self._spelled(new) for n, new in names.items()}
            if owner:  # members, in the text of loops that become functions
                mine = locals_of(declarator, body)
                members = self.records[owner].items()
                self.renames |= {m: [Raw("NAME", own)] for m, own in members if m not in mine}
            self.written_out |= set() if owner else {d.name}
            out: list[h.Stmt] = []
            for declared in before:
                found = self.declaration(declared)
                out += [*self.flushed(), *found]
            lines = [with_names(s, names) for s in trees(body)]
            self.changed_objects |= set().union(*map(host_renames.changed_objects, lines))
            value = None
            for at in range(len(lines)):  # not as a block: what is returned is read in its scope
                lines[at + 1 :] = self.without_references(lines[at], lines[at + 1 :])
                if at == len(lines) - 1 and returns:
                    value = next((c for c in lines[at].children if isinstance(c, Tree)), None)
                else:
                    out += self.read_or_left(lines[at])
            if target is not None and value is not None:
                out += self._given_back(target, self.placed(value), self.result_type(tree, declarator), node)
            elif target is not None:
                raise self.low.refuse("KR211", f"{d.name} returns nothing", node)
            elif value is not None:
                out += self.kept(self.placed(value))
            return out
        finally:
            self.low.scopes.pop()
            self.inlining.pop()
            self.written_numbers.pop()
            self.renames = renames

    def _one_exit(self, d: Definition, tree: Tree, declarator: Tree, body: Tree, node: Tree) -> Tree:
        """The body of a helper that returns before its end as one that returns at it."""
        self.low.scopes.append(dict(d.scope))
        try:
            t = self.result_type(tree, declarator)
        finally:
            self.low.scopes.pop()
        own = ""
        if t is not None:
            own = self.own_name(f"{d.name}_result")
            self.scalar(own, t)
            self.exits.add(own)
        lines = single_exit(trees(body), own)
        if lines is None:
            reason = f"{d.name} works on variables of its caller, and returns before its end"
            raise self.low.refuse("KR211", reason, node, "let it return at its end only")
        if own:
            value = Tree("id_expression", [Token("NAME", own)], node.meta)
            lines.append(Tree("return_statement", [value], node.meta))
        return Tree("compound_statement", lines, body.meta)

    def under_own_names(self, names: list[str], *nodes: Tree) -> list[Tree]:
        """Trees in which variables have names that the function does not have yet; ``renames`` knows them."""
        for name in names:
            own = self.own_name(name)
            tokens = [Raw("NAME", own)]
            before = {n for n, now in self.renames.items() if now == [Raw("NAME", name)]}
            self.renames = {**self.renames, **dict.fromkeys(before or {name}, tokens)}
            nodes = tuple(with_names(n, {name: own}) for n in nodes)
        return list(nodes)

    def _spelled(self, new: Any) -> list[Raw] | None:
        """What stands for a name, as tokens in the source's place; None where that has none of its own."""
        if isinstance(new, str) or kind(strip(new)) == "id_expression":
            return [Raw("NAME", new if isinstance(new, str) else callee(new))]
        text = self.program.unit.tokens[position(new) : end(new)]
        if sorted(t.text for t in text if t.kind == "NAME") != sorted(str(t) for t in tokens(new) if t.type == "NAME"):
            return None
        return [Raw("OP", "("), *renamed(text, self.renames), Raw("OP", ")")]

    def _given_back(self, target: Tree, value: Tree, t: ScalarType | None, node: Tree) -> list[h.Stmt]:
        """What the helper returns, in its own type."""
        to, source = self.record_of(target), self.record_of(value)
        if to and to == source:
            return []
        if to and source:
            return self.copied_record(to, source, node)  # type: ignore[no-any-return]
        if t is None:
            return self.assigned(target, value, node)  # type: ignore[no-any-return]
        if kind(strip(target)) == "id_expression" and self.is_ignored(value):  # the time of a timer
            before = self.kept(value)
            self.ignore(callee(target), value)
            return [*before, *self.drop(node, "timing or a stream")]
        return self.store(target, self.low.convert(self.low.scalar(value), t, node), node)  # type: ignore[no-any-return]

    def _parameters(
        self, d: Definition, declarator: Tree, body: Tree, args: list[Tree], node: Tree, owner: str = ""
    ) -> tuple[dict[str, Any], list[Tree]]:
        """What stands for the names of the helper, and the declarations of the parameters that are variables."""
        names: dict[str, Any] = {}
        before: list[Tree] = []
        changed = changed_names(body)
        types = self.low.parameters(declarator)
        nodes = trees(declarator, "parameter_declaration") if types else []  # (void)
        if len(args) > len(types):
            raise self.low.refuse("KR211", f"{d.name} takes {len(types)} arguments", node)
        own = {p.name for p in types} | declared_names(body)
        free = {str(t) for t in tokens(body) if t.type == "NAME"} - own - members_of(body)
        free -= {owner, *self.records.get(owner, {}).values(), *self.exits, *self.of_file, *self.symbols}
        free -= set(self.low.scopes[-1])  # its template parameters
        hidden = sorted(n for n in free if any(n in table for table in self.low.scopes[1:-1]))
        if hidden:
            reason = f"{hidden[0]} in {d.name} is another thing than {hidden[0]} here"
            raise self.low.refuse("KR211", reason, node, f"rename the variable {hidden[0]}")
        for name in sorted(declared_names(body)):
            names[name] = self.own_name(name)
        for p, tree, arg in zip(types, nodes, [*args, *[None] * (len(types) - len(args))], strict=True):
            given: Any = arg if arg is not None else p.default
            if given is None:
                raise self.low.refuse("KR211", f"{d.name} takes {len(types)} arguments", node)
            places = [a for q, a in zip(types, args, strict=False) if q is not p and self._sets(q, a)]
            if (known := self.known_number(p, given, changed, d)) is not None:
                names[p.name] = known
                continue
            if self._stands_for(p, given, changed, body) and not (
                isinstance(p.type, ScalarType) and _shares(given, places)
            ):
                names[p.name] = given
                continue
            if _by_place(p.type) and not is_dim3(p.type) and not is_record(p.type):
                hint = "give it the variable itself, and do not change the parameter"
                raise self.low.refuse("KR211", f"`{self.low.text(given)}` is given to {d.name} by place", node, hint)
            names[p.name] = self.own_name(p.name)
            own_declarator = with_names(child(tree, "declarator"), {p.name: names[p.name]})
            start = Tree("init_declarator", [own_declarator, given], node.meta)
            before.append(Tree("declaration", [child(tree, "decl_specifiers"), start], node.meta))
        return names, before

    def _members_change(self, name: str, t: Struct, body: Tree) -> bool:
        """May a helper change members of a struct that it has by value, itself or by what it calls?"""
        arrays = {m for m, of in t.members if isinstance(of, Array)}
        for node in body.iter_subtrees():
            places = assigned_places(node)
            if node.data == "unary_expression" and str(node.children[0]) == "&":
                places = [node.children[1]]
            elif node.data == "call_expression":
                places = trees(node)  # t.step(), change(&t), change(t)
            for place in map(strip, places):
                inside = False
                while isinstance(place, Tree) and place.data in ("subscript_expression", "member_expression"):
                    inside = inside or place.data == "subscript_expression"
                    owner = strip(trees(place)[0])
                    reached = inside and place.data == "member_expression" and callee(owner) == name
                    if reached and not {str(w) for m in trees(place, "member_name") for w in tokens(m)} & arrays:
                        break  # t.p[i] = …: the memory that the member points to
                    place = owner
                if callee(place) == name:
                    return True
        return False

    def _stands_for(self, p: Any, given: Tree, changed: set[str], body: Tree) -> bool:
        """May the argument stand for the parameter?"""
        inner = strip(given)
        if isinstance(p.type, Reference):
            return True
        if p.name in changed or (is_record(p.type) and self._members_change(p.name, p.type, body)):
            return False
        if kind(inner) == "id_expression" and callee(inner) in self.arguments_of_main:
            return True
        if is_dim3(p.type):
            return kind(inner) == "id_expression"
        if _by_place(p.type) or self._sets(p, given):
            return True
        if isinstance(p.type, Pointer) and kind(inner) == "unary_expression" and isinstance(inner, Tree):
            return str(inner.children[0]) == "*" and kind(strip(inner.children[1])) == "id_expression"  # *A of (*A)[N]
        if kind(inner) != "id_expression":
            return not isinstance(p.type, ScalarType | Pointer)
        place = self.low.lookup(callee(inner))
        return not isinstance(p.type, ScalarType) or (isinstance(place, VarPlace) and place.type == p.type)


def _shares(given: Tree, places: list[Tree]) -> bool:
    """Does an argument by value read a variable that the helper gets by place, too?"""
    names = {str(t) for t in tokens(given) if t.type == "NAME"}
    return any(names & {str(t) for t in tokens(p) if t.type == "NAME"} for p in places)


def _pointer(t: Any) -> bool:
    return isinstance(t, Pointer) and leaf(t.to)[0] is not None


def _by_place(t: Any) -> bool:
    """Is a parameter a struct, an array of pointers, or a pointer to a pointer or a reference to one?"""
    if record_behind(t) is not None or is_dim3(t) or t == FUNCTION:
        return True
    inner = t.to if isinstance(t, Reference | Pointer) else None
    return isinstance(inner, Pointer) and not isinstance(inner, Container) and not isinstance(t, Container)

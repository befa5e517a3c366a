"""Objects of the file's own classes in CUDA C host functions: constructors and methods written out on their members.

``Sim sim(x, n); sim.step();`` are the statements of both, with ``sim_d_u`` for the member ``d_u``; ``a.data()`` of a
method that only returns is what it returns. Templates of classes count with their arguments.

Side conditions, each checked: a destructor only frees; one method has the name; a method calls others of its object by
name or through ``this``, and hands ``this`` to nobody.
"""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c import host_smart
from kraise.frontends.cuda_c.c_types import Pointer, Reference, Struct
from kraise.frontends.cuda_c.host_names import callee, concept
from kraise.frontends.cuda_c.host_renames import with_names
from kraise.frontends.cuda_c.structs import CONVERSION, Definition, StructDefinition, is_virtual
from kraise.frontends.cuda_c.trees import Node, child, kind, last_name, position, strip, tokens, trees
from kraise.ir import host as h
from kraise.ir.types import ScalarType


class Methods:
    """The part of the reader that knows objects; :class:`kraise.frontends.cuda_c.host.HostReader` has the rest."""

    low: Any
    program: Any
    records: dict[str, dict[str, str]]
    kinds: dict[str, Struct]  # struct variables: their types
    record_of: Any
    copied_record: Any
    member: Any
    assigned: Any
    written: Any
    arrays: dict[str, Any]
    dims: dict[str, Any]
    containers: set[str]
    members_made: set[str]
    pointer_name: Any
    got: Any
    placed: Any
    base_classes: dict[str, StructDefinition]

    def method_of(self, node: Any) -> tuple[str, Definition] | None:
        """The object and the method that a call calls; None for any other call."""
        if kind(node) != "call_expression" or kind(node.children[0]) != "member_expression":
            return None
        owner = self.record_of(trees(node.children[0])[0])
        defined = getattr(self.kinds.get(owner), "defined", None)
        if not isinstance(defined, StructDefinition):
            return None
        found = defined.methods.get(self.member(node.children[0]), [])
        if len(found) > 1:  # T *get() and const T *get() const: one body
            found = [d for d in found if _count(d) == len(trees(node)[1:])]
            found = found[:1] if len({_body(d) for d in found}) == 1 else found
        return (owner, found[0]) if len(found) == 1 else None

    def getter(self, node: Tree) -> Tree | None:
        """What the call of a method that only returns stands for; None for any other."""
        found = self.method_of(node)
        if found is None:
            return self.got(node)  # type: ignore[no-any-return]
        owner, d = found
        tree = self.program.load(d)
        body, declarator = child(tree, "compound_statement"), child(tree, "function_declarator")
        lines = trees(body) if body is not None else []
        if len(lines) != 1 or lines[0].data != "return_statement" or declarator is None:
            return None
        value = next((c for c in lines[0].children if isinstance(c, Tree)), None)
        names = [p.name for p in self.low.parameters(declarator)]
        args = trees(node)[1:]
        if value is None or len(names) != len(args) or kind(value) == "call_expression":
            return None
        return with_names(self.of_object(value, owner, set(names)), dict(zip(names, args, strict=True)))  # type: ignore[no-any-return]

    def converted(self, owner: str) -> str:
        """The array that an object is where a pointer is wanted (``operator T *()``), "" where it is none."""
        found = getattr(self.kinds[owner].defined, "methods", {}).get(CONVERSION, [])
        body = child(found[0].tree, "compound_statement") if len(found) == 1 else None
        lines = trees(body) if body is not None else []
        if len(lines) != 1 or lines[0].data != "return_statement":
            return ""
        value = self.of_object(lines[0], owner, set())
        return next((n for c in trees(value) if (n := callee(c)) in self.arrays), "")

    def of_object(self, tree: Tree, owner: str, hidden: set[str]) -> Tree:
        """A piece of a method with the object's names for members, and its methods called on it."""
        names = {m: own for m, own in self.records[owner].items() if m not in hidden}
        methods = getattr(self.kinds[owner].defined, "methods", {})
        this = Tree("id_expression", [Token("NAME", owner)], tree.meta)

        def change(node: Any) -> Any:
            if not isinstance(node, Tree):
                return node
            if node.data == "member_expression" and kind(strip(node.children[0])) == "this":
                own = self.records[owner].get(self.member(node))
                if own is not None:
                    return Tree("id_expression", [Token("NAME", own)], node.meta)
                return Tree(node.data, [this, *node.children[1:]], node.meta)
            children = [change(c) for c in node.children]
            first: Any = children[0] if children else None
            own = callee(first) if node.data == "call_expression" and kind(first) == "id_expression" else ""
            if own in methods and own not in hidden:
                name = Tree("member_name", [Token("NAME", own)], node.meta)
                children[0] = Tree("member_expression", [this, Token("DOT", "."), name], node.meta)
            return Tree(node.data, children, node.meta)

        return with_names(change(tree), names)  # type: ignore[no-any-return]

    def constructed(self, name: str, t: Struct, args: list[Tree], node: Tree) -> list[h.Stmt] | None:
        """The statements of the constructor that takes these arguments; None where the class has none."""
        defined = t.defined
        if not isinstance(defined, StructDefinition):
            return None
        makes = [b for b in defined.bases if any(not _destroys(c) and not _deleted(c) for c in b.constructors)]
        frees = [c for b in defined.bases for c in b.constructors if _destroys(c)]
        if (makes and not defined.constructors) or not all(map(self.frees_only, frees)):
            reason = f"{t.name} is made of a class with a constructor, or a destructor that does more than free"
            raise self.low.refuse("KR211", reason, node, f"write a constructor of {t.name} that calls it")
        if not defined.constructors:
            return None
        makers = [c for c in defined.constructors if not _destroys(c) and not _deleted(c)]
        for c in defined.constructors:
            if _destroys(c) and not self.frees_only(c):
                raise self.low.refuse("KR211", f"the destructor of {t.name} does more than free memory", node)
        fitting = []
        self.low.scopes.append(dict(defined.scope))
        try:
            for c in makers:
                params = self.low.parameters(c)
                if sum(p.default is None for p in params) <= len(args) <= len(params):
                    fitting.append(c)
        finally:
            self.low.scopes.pop()
        fitting = [c for c in fitting if self.takes(c, args, defined)] if len(fitting) > 1 else fitting
        if len(fitting) != 1:
            if not args and not makers:
                return []
            raise self.low.refuse("KR211", f"what {name} is made of is not known here", node, "write one constructor")
        maker = fitting[0]
        body = child(maker, "compound_statement")
        lines: list[Any] = [self.base_call(b, maker, name, node) for b in defined.bases]
        made: set[str] = set()
        for m in maker.find_data("member_initializer"):
            if str(last_name(m.children[0]) or "") in {b.name for b in defined.bases}:
                continue
            values = [strip(v) for v in m.children[1:] if isinstance(v, Tree)]
            member = self.records[name].get(str(last_name(m.children[0]) or ""))
            if values and kind(values[0]) == "braced_init_list":
                values = [strip(v) for v in trees(values[0])]  # type: ignore[arg-type]
            if member is not None and self.has_constructor(member):
                lines.append(Tree("member_constructor", [Token("NAME", member), *values], node.meta))
                made.add(member)
                continue
            if member is not None and len(values) > 1 and (several := self.several(member, values, node)) is not None:
                lines += several
                continue
            if member is None or len(values) > 1:
                raise self.low.refuse("KR211", "this initializer of a member is not known here", node)
            if len(values) == 1:
                self.members_made |= {member} & self.containers
                target = Tree("id_expression", [Token("NAME", member)], node.meta)
                whole = Tree("assignment_expression", [target, Token("EQUAL", "="), values[0]], node.meta)
                lines.append(Tree("expression_statement", [whole], node.meta))
        others = [m for m in self.records[name].values() if m not in made and self.has_constructor(m)]
        if others and not defined.bases:  # those of a base are made by its own
            lines = [*(Tree("member_constructor", [Token("NAME", m)], node.meta) for m in others), *lines]
        block = Tree("compound_statement", [*lines, *(trees(body) if body is not None else [])], node.meta)
        d = Definition(f"{t.name}::{t.name}", "device", None, maker, scope=defined.scope)
        return self.written(d, maker, block, args, dict(defined.scope), name, node)  # type: ignore[no-any-return]

    def base_call(self, base: StructDefinition, maker: Tree, name: str, node: Tree) -> Tree:
        """What a constructor does first: that of a class that its own is made of, with the values that it gives."""
        given: list[Any] = []
        for m in maker.find_data("member_initializer"):
            if str(last_name(m.children[0]) or "") == base.name:
                values = [strip(v) for v in m.children[1:] if isinstance(v, Tree)]
                given = trees(values[0]) if values and kind(values[0]) == "braced_init_list" else values  # type: ignore[arg-type]
        self.base_classes[base.name] = base
        return Tree("base_constructor", [Token("NAME", name), Token("NAME", base.name), *given], node.meta)

    def base_made(self, node: Tree) -> list[h.Stmt]:
        """The statements of the constructor of such a class, on the members of the object."""
        name, base, *args = node.children
        t = Struct(str(base), self.kinds[str(name)].members, defined=self.base_classes[str(base)])
        made = self.default_members(str(name), t, node)
        return made + (self.constructed(str(name), t, [self.placed(strip(a)) for a in args], node) or [])  # type: ignore[misc]

    def has_constructor(self, member: str) -> bool:
        """Is a member an object of a class that says how it is made?"""
        defined = getattr(self.kinds.get(member), "defined", None) if member in self.records else None
        return isinstance(defined, StructDefinition) and any(not _destroys(c) for c in defined.constructors)

    def member_made(self, node: Tree) -> list[h.Stmt]:
        """The statements of the constructor of a member that is an object."""
        name, *args = node.children
        t = self.kinds[str(name)]
        given = [self.placed(strip(a)) for a in args]  # type: ignore[misc]
        other = self.record_of(given[0]) if len(given) == 1 else ""
        if other and self.copies(self.kinds[other], t):
            return self.copied_record(str(name), other, node)  # type: ignore[no-any-return]
        return self.default_members(str(name), t, node) + (self.constructed(str(name), t, given, node) or [])

    def copies(self, source: Struct, t: Struct) -> bool:
        """Is a struct that is made of another, or that another is assigned to, a copy of it, member by member?"""
        own = t.defined
        if (source.name, source.arguments) != (t.name, t.arguments) or not isinstance(own, StructDefinition):
            return (source.name, source.arguments) == (t.name, t.arguments)
        self.low.scopes.append(dict(own.scope))
        try:
            makers = [c for c in own.constructors if not _deleted(c) and child(c, "compound_statement") is not None]
            first = [p[0].type for c in makers if len(p := self.low.parameters(c)) == 1]
        finally:
            self.low.scopes.pop()
        return not any(isinstance(f, Reference) and getattr(f.to, "name", "") == t.name for f in first)

    def pointed_at(self, t: Struct, initial: list[Tree], other: str, node: Tree) -> Struct:
        """What a pointer to a class points to: an object of a class that is made of it, where that replaces virtual
        methods only."""
        found = self.kinds[other] if other else t
        new = strip(initial[0]) if len(initial) == 1 else None
        if kind(new) == "new_expression" if new is not None else False:
            made = self.low.specifiers(child(new, "basic_type")).type  # type: ignore[arg-type]
            found = made if isinstance(made, Struct) else t
        elif isinstance(made := host_smart.made(self, new), Struct):
            found = made
        if found.name == t.name:
            return found if found.arguments == t.arguments else t
        own, base = getattr(found.defined, "methods", {}), getattr(t.defined, "methods", {})
        kept = {position(d.tree) for ds in own.values() for d in ds if d.tree is not None}
        replaced = [d for ds in base.values() for d in ds if d.tree is not None and position(d.tree) not in kept]
        if not all(is_virtual(d.tree) for d in replaced):
            reason = f"a {t.name} * points to a {found.name}, which has methods of its own that are not virtual"
            raise self.low.refuse("KR211", reason, node, f"declare it as {found.name} *")
        return found

    def plainly_assigned(self, owner: str, node: Node) -> None:
        """Refuses an assignment that the class itself defines (KR211)."""
        own = getattr(self.kinds[owner].defined, "methods", {}).get("operator=", [])
        if any(d.tree is not None and child(d.tree, "compound_statement") is not None for d in own):
            reason = f"the class {self.kinds[owner].name} says itself what its assignment does"
            raise self.low.refuse("KR211", reason, node, "assign its members one by one")

    def takes(self, maker: Tree, args: list[Tree], defined: StructDefinition) -> bool:
        """Does a constructor take what kinds of arguments these are: arrays, structs, numbers?"""
        self.low.scopes.append(dict(defined.scope))
        try:
            types = [p.type.to if isinstance(p.type, Reference) else p.type for p in self.low.parameters(maker)]
        finally:
            self.low.scopes.pop()
        kinds = [Pointer if self.pointer_name(a) else Struct if self.record_of(a) else ScalarType for a in args]
        owners = [self.kinds[o].name if (o := self.record_of(a)) else "" for a in args]
        alike = [not o or getattr(t, "name", o) == o for t, o in zip(types, owners, strict=False)]
        return all(alike) and all(isinstance(t, kind_of) for t, kind_of in zip(types, kinds, strict=False))

    def several(self, member: str, values: list[Any], node: Tree) -> list[Tree] | None:
        """``grid_{nx, ny}`` and ``block_(16, 16)`` of a constructor as assignments; None for another member."""
        whole = Tree("id_expression", [Token("NAME", member)], node.meta)
        if member in self.records:  # a struct
            parts = zip(self.kinds[member].members, values, strict=False)
            named = [(_member(m, node), v) for (m, _), v in parts]
            to: list[Any] = [(Tree("member_expression", [whole, Token("DOT", "."), m], node.meta), v) for m, v in named]
        elif member in self.containers:
            method = Tree("member_expression", [whole, Token("DOT", "."), _member("assign", node)], node.meta)
            call = Tree("call_expression", [method, *values], node.meta)
            return [Tree("expression_statement", [call], node.meta)]
        elif member in self.dims:
            to = [(whole, Tree("braced_init_list", values, node.meta))]
        else:
            return None
        pairs = [Tree("assignment_expression", [t, Token("EQUAL", "="), v], node.meta) for t, v in to]
        return [Tree("expression_statement", [p], node.meta) for p in pairs]

    def frees_only(self, destructor: Tree) -> bool:
        """Does a destructor free memory and handles, and do nothing else?"""
        body = child(destructor, "compound_statement")
        if body is None:
            return True
        words = {str(t) for t in tokens(body)}
        return not any(concept(w) for w in words) and "<<<" not in words

    def default_members(self, name: str, t: Struct, node: Tree) -> list[h.Stmt]:
        """``int cur = 0;`` among the members of a class."""
        out: list[h.Stmt] = []
        for member, value in getattr(t.defined, "defaults", {}).items():
            own = self.records[name].get(member)
            if own is not None and kind(strip(value)) not in ("null_pointer", "braced_init_list"):
                out += self.assigned(Tree("id_expression", [Token("NAME", own)], node.meta), value, node)
        return out


def _count(d: Definition) -> int:
    """The number of a method's parameters."""
    head = child(d.tree, "function_declarator") if d.tree is not None else None
    return len(trees(head, "parameter_declaration")) if head is not None else -1


def _body(d: Definition) -> str:
    return " ".join(str(t) for t in tokens(child(d.tree, "compound_statement") or d.tree)) if d.tree is not None else ""


def _deleted(node: Tree) -> bool:
    """``Buffer(const Buffer &) = delete;``"""
    last = child(node, "function_end")
    return last is not None and any(str(t) == "delete" for t in tokens(last))


def _destroys(node: Tree) -> bool:
    return any(isinstance(c, Token) and str(c) == "~" for c in node.children)


__all__ = ["Methods", "Node"]


def _member(name: str, node: Any) -> Tree:
    return Tree("member_name", [Token("NAME", name)], node.meta)

"""Arrays and vectors of structs of CUDA C host functions, a struct variable for each element.

``Level levels[3]``, ``std::vector<Level> levels(n)`` and ``Level *levels = new Level[n]`` are the structs ``levels_0``,
``levels_1``, … where their number is known; ``levels[l]`` is one of them. A loop over them is written out.

Side condition, checked: the number that chooses an element is known where it stands.
"""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from kraise.frontends.cuda_c.c_types import Array, Container, CType, Pointer, Reference, Struct, leaf
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.host_names import callee, concept, elements, normal
from kraise.frontends.cuda_c.trees import Node, end, kind, position, strip, tokens, trees
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT32, ScalarType

_ENDS = {"front": 0, "back": -1}


class Racks:
    """The part of the reader that knows them; :class:`kraise.frontends.cuda_c.host.HostReader` has the rest."""

    low: Any
    program: Any
    placed: Any
    banks: dict[str, tuple[str, ...]]
    records: dict[str, dict[str, str]]
    kinds: dict[str, Struct]
    grids: dict[str, str]
    arrays: dict[str, CType]
    racks: dict[str, Struct]  # vectors of structs whose number of elements is not known yet
    definitions: dict[str, k.Expr]
    number: Any
    member: Any
    defined: Any
    bank: Any
    uncast: Any
    constructed: Any
    default_members: Any
    record_of: Any
    declared_record: Any
    assigned: Any
    own_name: Any
    record: Any
    copied_record: Any

    def rack(self, name: str, t: CType, initial: list[Tree], node: Tree) -> list[h.Stmt] | None:
        """A declaration of an array, a vector or a pointer to several structs; None for anything else."""
        if isinstance(t, Array) and is_rack(t):
            lists = [b for i in initial if kind(b := strip(i)) == "braced_init_list"]
            given = [x for b in lists for x in trees(b)]  # type: ignore[arg-type]
            return self.structs_for(name, t, node) + self._listed_structs(name, given, node)
        if isinstance(t, Container) and isinstance(t.to, Pointer):
            return self._vector_of_pointers(name, t.to, initial, node)
        if not isinstance(t, Pointer) or not _record(t.to):
            return None
        if isinstance(t, Container):
            return self._vector_of_structs(name, t.to, initial, node)  # type: ignore[arg-type]
        new: Any = self.uncast(initial[0]) if len(initial) == 1 else None
        count = self._several(new, t.to) if new is not None else None  # type: ignore[arg-type]
        return self.structs_for(name, Array(t.to, count), node) if count is not None else None

    def structs_for(self, name: str, t: Array, node: Any, start: bool = True) -> list[h.Stmt]:
        """A struct for each element, with (``start``) what its class gives its members: none where it has only
        constructors that take something, so that each is given by a ``push_back``."""
        start = start and self._starts(t.of)
        out: list[h.Stmt] = self.bank(name, t, node)
        for own in self.banks[name] if start else ():
            out += self.default_members(own, t.of, node)
            out += self.constructed(own, t.of, [], node) or []
        return out

    def _starts(self, t: Any) -> bool:
        makers = getattr(t.defined, "constructors", ())
        self.low.scopes.append(dict(getattr(t.defined, "scope", {})))
        try:
            counts = [[p.default for p in self.low.parameters(c)] for c in makers if "~" not in map(str, c.children)]
        finally:
            self.low.scopes.pop()
        return not counts or any(all(d is not None for d in c) for c in counts)

    def _vector_of_structs(self, name: str, t: Struct, initial: list[Tree], node: Tree) -> list[h.Stmt]:
        listed = [kind(strip(i)) == "braced_init_list" for i in initial]
        args = [c for i in initial for c in (trees(strip(i)) if kind(strip(i)) == "braced_init_list" else [i])]  # type: ignore[arg-type]
        if not args:
            self.racks[name] = t
            return []
        if any(listed):
            several = Array(t, k.Const(len(args), INT32))
            return self.structs_for(name, several, node, False) + self._listed_structs(name, args, node)
        made = self.structs_for(name, Array(t, self.number(args[0])), node)
        return made + self._listed_structs(name, [args[1]] * len(self.banks[name]) if len(args) > 1 else [], node)

    def _vector_of_pointers(self, name: str, t: Pointer, initial: list[Tree], node: Tree) -> list[h.Stmt]:
        """``std::vector<float *> d(4)``, ``{a, b}``: as ``float *d[4]``."""
        listed = [b for i in initial if kind(b := strip(i)) == "braced_init_list"]
        args = [c for b in listed for c in trees(b)] or initial  # type: ignore[arg-type]
        if leaf(t.to)[0] is None or isinstance(t.to, Pointer) or not args:
            reason = f"{name} is a vector of pointers whose number is not known where it is declared"
            raise self.low.refuse("KR211", reason, node, "make it with its size, or use one array with one axis more")
        if not listed:
            return self.bank(name, Array(t, self.number(args[0])), node)  # type: ignore[no-any-return]
        made: list[h.Stmt] = self.bank(name, Array(t, k.Const(len(args), INT32)), node)
        return made + self._listed_structs(name, args, node)

    def _listed_structs(self, name: str, values: list[Tree], node: Tree) -> list[h.Stmt]:
        """The elements by what a list gives them."""
        out: list[h.Stmt] = []
        for own, value in zip(self.banks[name], values, strict=False):
            out += self.assigned(_id(own, node), value, node)
        return out

    def struct_given(self, owner: str, value: Node, node: Tree) -> list[h.Stmt] | None:
        """``s = {x, n}``, ``s = State{x, n}``, ``s = Level(n)``; None for another value."""
        inner: Any = strip(value)
        t = self.kinds[owner]
        args: list[Tree] = trees(inner) if kind(inner) == "braced_init_list" else []
        if kind(inner) in ("functional_cast", "braced_cast"):
            named, *args = trees(inner)
            if t.name not in {str(x) for x in tokens(named)}:
                return None
            args = [x for a in args for x in (trees(strip(a)) if kind(strip(a)) == "braced_init_list" else [a])]  # type: ignore[arg-type]
        elif kind(inner) == "call_expression" and callee(inner.children[0]) in ("make_pair", "make_tuple"):
            args = trees(inner)[1:]
        elif kind(inner) != "braced_init_list":
            return None
        args = [self.placed(strip(a)) for a in args]
        own = set(self.records[owner].values())
        if any(str(x) in own for a in args for x in tokens(a)):
            before = self.own_name(f"{owner}_new")
            first = self.record(before, t, node)
            return [*first, *(self.struct_given(before, value, node) or ()), *self.copied_record(owner, before, node)]
        made: list[h.Stmt] = self.default_members(owner, t, node)
        found = self.constructed(owner, t, args, node)
        if found is not None:
            return made + found
        for (member, of), v in zip(t.members, args, strict=False):
            made += self.member_given(self.records[owner][member], of, v, node)
        return made

    def member_given(self, own: str, of: CType, value: Node, node: Tree) -> list[h.Stmt]:
        """What the initializer of a struct gives a member: ``{n, {1.0f, 2.0f}, {lo, hi}}``."""
        inner: Any = strip(value)
        listed = kind(inner) == "braced_init_list"
        if listed and isinstance(of, Array) and isinstance(of.of, ScalarType) and own in self.arrays:
            span = self.low.span(node)
            values = [self.low.convert(self.number(v), of.of, v) for v in trees(inner)]
            return [h.Store(own, (k.Const(at, INT32),), v, span=span) for at, v in enumerate(values)]
        if isinstance(of, Array) and own in self.arrays:
            reason = f"`{self.low.text(value)}` is no list of the elements of {own}"
            raise self.low.refuse("KR211", reason, node, "set its elements one by one")
        return self.assigned(_id(own, node), value, node)  # type: ignore[no-any-return]

    def _several(self, new: Any, t: Struct) -> k.Expr | None:
        """The number of structs that ``new Level[n]`` and ``malloc(n * sizeof(Level))`` make, where it is not one."""
        count: k.Expr | None = None
        toks = self.program.unit.tokens
        if kind(new) == "new_expression" and "[" in {x.text for x in toks[position(new) : end(new)]}:
            size = [c for c in trees(new) if c.data != "basic_type"]
            count = normal(self.number(size[0])) if size else None
        elif kind(new) == "call_expression" and concept(callee(new.children[0])) in ("host.malloc", "host.calloc"):
            args = trees(new)[1:]
            bytes_ = self.number(args[0])
            if len(args) == 2:
                bytes_ = k.Op("mul", (bytes_, self.number(args[1])), INT32)
            size_of = self.low.size_of(t)
            count = elements(bytes_, size_of, self.definitions) if size_of else None
        known = fold(self.defined(count)) if count is not None else None
        return known if isinstance(known, k.Const) and known.value.real > 1 else None

    def racked(self, name: str, word: str, args: list[Tree], node: Tree) -> list[h.Stmt] | None:
        """``levels.resize(n)`` of a vector of structs that has none yet; None for another call."""
        if name not in self.racks or word not in ("resize", "reserve"):
            return None
        if word == "reserve":
            return []
        several = Array(self.racks.pop(name), self.number(args[0]))
        return self.structs_for(name, several, node)

    def element_of(self, node: Node) -> str:
        """The struct that ``levels[1]``, ``levels.back()`` or ``levels`` (the first) of several is; "" for others."""
        inner: Any = strip(node)
        if kind(inner) == "call_expression" and kind(inner.children[0]) == "member_expression":
            names = self._struct_names(trees(inner.children[0])[0])
            at = _ENDS.get(self.member(inner.children[0])) if names else None
            return names[at] if at is not None else ""
        if kind(inner) != "subscript_expression":
            return names[0] if (names := self._struct_names(inner)) else ""
        names = self._struct_names(inner.children[0])
        if not names:
            return ""
        index = normal(self.number(inner.children[1]))
        known = fold(index) or fold(self.defined(index))
        if not isinstance(known, k.Const):
            reason = f"which struct `{self.low.text(inner)}` is, is not known here"
            raise self.low.refuse("KR211", reason, inner, "choose it by a constant, or by a counter of a short loop")
        at = int(known.value.real)
        if not 0 <= at < len(names):
            raise self.low.refuse("KR211", f"there is no struct {at} in an array of {len(names)}", inner)
        return names[at]

    def made_in_place(self, body: Tree, args: list[Tree], target: Tree) -> str:
        """The struct of a helper that it returns, where it may be the caller's itself: nothing else in the call sees
        that, and its class does nothing to it; "" where there is none."""
        to = callee(strip(target))
        t = self.kinds.get(to)
        last = trees(body)[-1:]
        given: Any = strip(c) if last and (c := next(iter(trees(last[0])), None)) is not None else None
        while given is not None and kind(given) in ("call_expression", "functional_cast") and len(trees(given)) == 2:
            if kind(given) == "call_expression" and callee(given.children[0]) != "unique_ptr":
                break
            given = strip(trees(given)[1])  # std::unique_ptr<T>(p)
        value = callee(given) if given is not None else ""
        if not value or last[0].data != "return_statement":
            return ""
        if self.grids.get(to) == "" and not any(str(x) == to for a in args for x in tokens(a)):
            several = [d for d in body.find_data("declarator") if len(trees(d, "ptr_operator")) > 1]
            return value if any(str(x) == value for d in several for x in tokens(d)) else ""
        if t is None:
            return value if to in self.arrays and self._new_pointer(body, args, to, value) else ""
        if getattr(t.defined, "defaults", None) or getattr(t.defined, "constructors", None):
            return ""
        own = {to, *self.records[to].values()}
        racks = {n for n, names in self.banks.items() if to in names}
        if any(str(x) in own | racks for a in args for x in tokens(a)):
            return ""
        for s in trees(body, "declaration_statement"):
            for d in trees(s, "declaration"):
                plain = [i for i in trees(d, "init_declarator") if len(trees(i)) == 1]
                words = {str(x) for x in tokens(d.children[0])}
                if t.name in words and any(len(w := list(tokens(i))) == 1 and str(w[0]) == value for i in plain):
                    return value
        return ""

    def _new_pointer(self, body: Tree, args: list[Tree], to: str, value: str) -> bool:
        """Does a helper declare a pointer without memory, so that it may be the caller's ``to``?"""
        found = [d for d in body.find_data("init_declarator") if any(str(x) == value for x in tokens(d.children[0]))]
        plain = len(found) == 1 and len(list(found[0].children[0].find_data("ptr_operator"))) == 1  # type: ignore[union-attr]
        start = [str(x) for x in tokens(found[0])][-1] if plain else ""
        unset = start in (value, "nullptr", "NULL", "0")
        return plain and unset and not any(str(x) == to for a in args for x in tokens(a))

    def chooses_struct(self, node: Tree) -> bool:
        """Does a piece of text name an element of several structs by a number?"""
        return any(self._struct_names(t.children[0]) for t in node.find_data("subscript_expression"))

    def size_of_rack(self, node: Any) -> Tree | None:
        """``levels.size()`` as a number; None for any other call."""
        method = node.children[0]
        names = self.banks.get(callee(trees(method)[0]), ()) if kind(method) == "member_expression" else ()
        if not names or self.member(method) != "size":
            return None
        return Tree("number", [Token("NUMBER", f"{len(names)}ul")], node.meta)

    def _struct_names(self, node: Node) -> tuple[str, ...]:
        names = self.banks.get(callee(strip(node)), ())
        return names if names and names[0] in self.records else ()


def is_rack(t: CType) -> bool:
    """Is it an array of structs?"""
    return isinstance(t, Array) and _record(t.of)


def holds_racks(t: CType) -> bool:
    """Is it a vector of structs, or a reference to one?"""
    inner = t.to if isinstance(t, Reference) else t
    return isinstance(inner, Container) and _record(inner.to)


def _record(t: CType) -> bool:
    from kraise.frontends.cuda_c.host_places import is_record

    return is_record(t)


def _id(name: str, node: Any) -> Tree:
    return Tree("id_expression", [Token("NAME", name)], node.meta)

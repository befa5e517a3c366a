"""Parameters with members: elements of structured arrays (``p[i].x``, ``p[i]['x']``) and named tuples (``c.dt``).

Each member that a function names is a parameter of its own while the function is read, called ``p·x``: for members are
arrays and numbers like others. :func:`restored` puts them together again, as a struct that the function is given. What
a function is called with by another one is written out: ``f(c.dt, c.k)`` for ``f(c)``, ``g(p.x[i])`` for ``g(p[i])``.

Side conditions, checked: no host function or statement of the module names the function, but to launch it; all that is
said of such a parameter is said of its members, or how many elements it has, or that another function is given it; a
function that is given an element sets no member of it; names for elements are as in :mod:`elements_named`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import libcst as cst

from kraise.diagnostics import Diagnostic
from kraise.frontends.python.elements_named import element, held_by, member, without_names
from kraise.frontends.python.names import Imports
from kraise.frontends.python.scope import bindings
from kraise.frontends.python.source import Source, all_of, children, dotted, placed, rebuilt
from kraise.frontends.python.survey import Definition, survey
from kraise.ir.host import Host, launched_by
from kraise.ir.host_names import fresh
from kraise.ir.kernel import Function, Param
from kraise.ir.rename import with_names
from kraise.ir.types import ArrayType, StructType

_DOT = "\u00b7"  # a letter of names, to Python, that no source uses
Records = Mapping[str, Mapping[str, tuple[str, ...]]]  # by function and parameter: the members


@dataclass
class _Use:
    """What a function says of a parameter: members, those that it sets, functions that are given it or an element."""

    members: dict[str, None] = field(default_factory=dict)
    sets: bool = False
    given: list[tuple[str, int, bool]] = field(default_factory=list)
    axes: set[int] = field(default_factory=set)  # how many subscripts its elements have
    lost: bool = False


def flattened(
    parsed: Source, imports: Imports, kernel_decorators: tuple[str, ...], only: tuple[str, ...]
) -> tuple[Source, Records]:
    """The source with a parameter for each member, and what was a parameter with members. What others call is
    a helper, with a parameter for each member in the raised module, too; of one that comes out itself it is a copy."""
    if not any(_may_hold(n) for n in parsed.tree.body):
        return parsed, {}
    found = survey(parsed, imports, kernel_decorators).functions
    own = {
        n: d
        for n, d in found.items()
        if d.kind in ("kernel", "device", "plain", "scalar") and not d.around and not d.method and _plain(d.node)
    }
    nodes = {n: without_names(parsed, d.node) for n, d in own.items()}
    uses = {(n, p): _used(nodes[n], p, d, own) for n, d in own.items() for p in _params(nodes[n])}
    called = {c for d in found.values() for c in d.calls}
    others = _named_outside(parsed.tree, own)
    for (n, _), use in uses.items():
        use.lost |= own[n].source_name in others
    records = _settled(uses, own)
    if not records:
        return parsed, {}
    taken = {n.value for n in all_of(cst.Name, parsed.tree)}
    public = {n for n in own if n not in called or own[n].kind not in ("device", "scalar") or n in only}
    copies = {n: fresh(taken, f"{n}_of") for n in own if n in records and n in public & called}
    done: dict[int, list[Any]] = {}
    for n, d in own.items():
        if n in records or any(c in records for c in d.calls):
            flat = _Flat(parsed, own, n, nodes[n], records, copies)
            done[id(d.node)] = [flat.function(n not in public)]
            if n in copies:
                copy = flat.function(True).with_changes(name=cst.Name(copies[n]), decorators=())
                done[id(d.node)].insert(0, placed(parsed, copy, d.node))
    body = [new for n in parsed.tree.body for new in done.get(id(n), [n])]
    tree = placed(parsed, parsed.tree.with_changes(body=body), parsed.tree)
    moved = parsed.moved | set(copies.values())
    return replace(parsed, tree=tree, moved=moved), {n: r for n, r in records.items() if n in public}


def _named_outside(tree: cst.Module, own: Mapping[str, Definition]) -> set[str]:
    """The names that other functions and the module itself use, but to launch a kernel."""
    inside = {id(d.node) for d in own.values()}
    found: set[str] = set()
    stack: list[cst.CSTNode] = [tree]
    while stack:
        n = stack.pop()
        match n:
            case cst.Call(func=cst.Subscript(value=cst.Name(), slice=launch), args=args):
                stack += [*launch, *args]
            case cst.Name(value=word):
                found.add(word)
            case _ if id(n) not in inside:
                stack += children(n)
    return found


def restored(function: Function, members: Mapping[str, tuple[str, ...]], source: Source) -> Function:
    """The function with its parameters put together again."""
    known = dict(_classes(source))
    params: list[Param] = []
    by_name = {p.name: p for p in function.params}
    for p in function.params:
        name, _, own = p.name.partition(_DOT)
        if name not in members or not own:
            params.append(p)
        elif own == members[name][0]:
            kinds: list[tuple[str, Any]] = [(m, by_name[f"{name}{_DOT}{m}"].type) for m in members[name]]
            is_array = all(isinstance(t, ArrayType) and t.ndim == 1 for _, t in kinds)
            kinds = [(m, t.element) for m, t in kinds] if is_array else kinds
            titles = [n for n, names in known.items() if names >= set(members[name])]
            title = titles[0] if len(titles) == 1 else "".join(part.capitalize() for part in name.split("_"))
            params.append(replace(p, name=name, type=StructType(title, tuple(kinds), is_array)))
    must_be = tuple((said(n), said(what)) for n, what in function.must_be)
    return replace(function, params=tuple(params), body=with_names(function.body, said), must_be=must_be)


def _classes(source: Source) -> Iterator[tuple[str, set[str]]]:
    """The named tuples of a module, and their members."""
    for n in source.tree.body:
        match n:
            case cst.ClassDef(name=name, bases=[cst.Arg(value=kind)]) if dotted(kind).endswith("NamedTuple"):
                yield name.value, {a.target.value for a in all_of(cst.AnnAssign, n) if isinstance(a.target, cst.Name)}
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(
                        targets=[cst.AssignTarget(target=cst.Name(value=title))],
                        value=cst.Call(func=func, args=[_, cst.Arg(value=given)]),
                    )
                ]
            ) if dotted(func).endswith("namedtuple"):
                words = " ".join(str(t.evaluated_value) for t in all_of(cst.SimpleString, given))
                yield title, set(words.replace(",", " ").split())


def not_launched(
    hosts: tuple[Host, ...], unread: list[Diagnostic], records: Records
) -> tuple[tuple[Host, ...], list[Diagnostic]]:
    """The host functions that hand no parameter with members on; of the others, what is wrong."""
    kept: list[Host] = []
    found = list(unread)
    for host in hosts:
        names = [n for n in sorted(launched_by(host)) if n in records]
        if not names:
            kept.append(host)
            continue
        reason = f"{names[0]} is given something with members here ({', '.join(records[names[0]])})"
        hint = f"call the raised {names[0]} from JAX code of your own, with a NamedTuple of arrays or numbers"
        found.append(Diagnostic("KR299", reason, host.span, hint, host.name))
    return tuple(kept), found


def said(text: str) -> str:
    """A text with the names of members as the source spells them."""
    return text.replace(_DOT, ".")


def _may_hold(node: cst.CSTNode) -> bool:
    """Is a member of something named in a function of the module?"""
    if not isinstance(node, cst.FunctionDef):
        return False
    params = set(_params(node))
    for n in all_of(cst.Attribute | cst.Subscript, node.body):
        of = n.value.value if isinstance(n.value, cst.Subscript) else n.value
        if isinstance(of, cst.Name) and of.value in params and member(n):
            return True
    return any(element(a.value, params) for a in all_of(cst.Assign, node.body))


def _plain(node: cst.FunctionDef) -> bool:
    """Are its parameters given by place, without defaults?"""
    given = node.params
    odd = given.kwonly_params or given.posonly_params or given.star_kwarg or isinstance(given.star_arg, cst.Param)
    return not odd and all(p.default is None for p in given.params) and isinstance(node.body, cst.IndentedBlock)


def _params(node: cst.FunctionDef) -> list[str]:
    return [p.name.value for p in node.params.params]


# --- what is said of parameters --------------------------------------------------------------


def _used(node: cst.FunctionDef, name: str, d: Definition, own: Mapping[str, Definition]) -> _Use:
    use = _Use()
    use.lost = name in bindings(node.body)
    stores = {id(t.target) for t in all_of(cst.AssignTarget | cst.AugAssign, node.body)}

    def visit(n: cst.CSTNode) -> None:
        match n:
            case cst.Call(func=cst.Attribute() as func) if held_by(func, name):
                use.lost = True  # a method
            case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=cst.Name(value=word))]) if word == name:
                return
            case cst.Call(func=cst.Name(value=word), args=args) if d.visible.get(word, "") in own:
                for at, a in enumerate(args):
                    an_element = element(a.value, {name})
                    whole = isinstance(a.value, cst.Name) and a.value.value == name
                    if (whole or an_element) and a.keyword is None and not a.star:
                        use.given.append((d.visible[word], at, an_element))
                        visit_index(a.value)
                    else:
                        visit(a.value)
                return
            case cst.Subscript(value=cst.Attribute(value=cst.Name(value=word), attr=cst.Name(value="shape"))) if (
                word == name
            ):
                return
            case cst.Attribute(value=cst.Name(value=word), attr=cst.Name(value="size")) if word == name:
                return
            case cst.Attribute() | cst.Subscript() if (of := held_by(n, name)) is not None and member(n):
                use.members[member(n)] = None
                use.sets |= id(n) in stores
                if isinstance(of, cst.Subscript):
                    use.axes.add(len(of.slice))
                    visit_index(of)
                return
            case cst.Name(value=word) if word == name:
                use.lost = True
                return
        for below in children(n):
            if not (isinstance(n, cst.Attribute) and below is n.attr):
                visit(below)

    def visit_index(n: cst.CSTNode) -> None:
        for i in getattr(n, "slice", ()):
            visit(i)

    visit(node.body)
    return use


def _settled(uses: dict[tuple[str, str], _Use], own: Mapping[str, Definition]) -> dict[str, dict[str, tuple[str, ...]]]:
    """The parameters with members by function: a function and those that it gives one to agree that it is one."""
    params = {n: _params(d.node) for n, d in own.items()}

    def target(g: str, at: int) -> tuple[str, str] | None:
        return (g, params[g][at]) if at < len(params[g]) else None

    for _ in uses:
        before = sum(len(u.members) for u in uses.values())
        for use in uses.values():
            for g, at, _element_of in use.given:
                place = target(g, at)
                if place is not None:
                    use.members.update(uses[place].members)
        if sum(len(u.members) for u in uses.values()) == before:
            break
    held = {
        k for k, u in uses.items() if u.members and not u.lost and (not u.axes or u.axes == {1} or len(u.axes) == 1)
    }
    changed = True
    while changed:
        changed = False
        for key, use in uses.items():
            for g, at, an_element in use.given:
                place = target(g, at)
                both = key in held and place in held
                if not both or (an_element and place is not None and (uses[place].sets or uses[place].axes)):
                    changed |= bool({key, place} & held)
                    held -= {key, place}  # type: ignore[arg-type]
        for name, d in own.items():  # what is called with something else
            for call in all_of(cst.Call, d.node.body):
                g = d.visible.get(call.func.value, "") if isinstance(call.func, cst.Name) else ""
                for at, p in enumerate(params.get(g, ())):
                    given = call.args[at].value if at < len(call.args) else None
                    word = given.value if isinstance(given, cst.Subscript) else given
                    known = isinstance(word, cst.Name) and (
                        (name, word.value) in held or _named_element(d, word.value, held)
                    )
                    if (g, p) in held and not known:
                        held.discard((g, p))
                        changed = True
    out: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, p in uses:
        if (name, p) in held:
            out.setdefault(name, {})[p] = tuple(uses[name, p].members)
    return out


def _named_element(d: Definition, word: str, held: set[tuple[str, str]]) -> bool:
    """Is a name of a function one for an element of such a parameter?"""
    params = {p for n, p in held if n == d.name}
    for a in all_of(cst.Assign, d.node.body):
        if any(isinstance(t.target, cst.Name) and t.target.value == word for t in a.targets):
            return element(a.value, params)
    return False


# --- the function ----------------------------------------------------------------------------


class _Flat:
    """A function with a parameter for each member."""

    def __init__(
        self,
        parsed: Source,
        functions: Mapping[str, Definition],
        name: str,
        node: cst.FunctionDef,
        records: Records,
        copies: Mapping[str, str],
    ):
        self.parsed, self.functions, self.node, self.records = parsed, functions, node, records
        self.d, self.own, self.copies = functions[name], records.get(name, {}), copies
        self.names: dict[tuple[str, str], str] = {}

    def function(self, helper: bool) -> cst.FunctionDef:
        """The function, as a helper or as one that comes out itself."""
        taken = {n.value for n in all_of(cst.Name, self.node)}
        for p, members in self.own.items():
            for m in members:
                self.names[p, m] = fresh(taken, f"{p}_{m}") if helper else f"{p}{_DOT}{m}"
        params: list[cst.Param] = []
        for param in self.node.params.params:
            if param.name.value not in self.own:
                params.append(param)
                continue
            for m in self.own[param.name.value]:
                name = placed(self.parsed, cst.Name(self.names[param.name.value, m]), param.name)
                params.append(placed(self.parsed, cst.Param(name), param))
        body = rebuilt(self.parsed, self.node.body, self.change)
        new = self.node.with_changes(params=self.node.params.with_changes(params=params), body=body)
        return placed(self.parsed, new, self.d.node)  # type: ignore[no-any-return]

    def change(self, n: cst.CSTNode) -> cst.CSTNode | None:
        """What stands in place of a node; None: itself."""
        match n:
            case cst.Call(func=cst.Name(value=word), args=args) if (g := self.d.visible.get(word, "")) in self.records:
                given: list[cst.Arg] = []
                members = self.records[g]
                for p, a in zip(_params(self.functions[g].node), args, strict=False):
                    parts = [self.part(a.value, m) for m in members[p]] if p in members else [a.value]
                    given += [cst.Arg(rebuilt(self.parsed, v, self.change)) for v in parts]
                func = placed(self.parsed, cst.Name(self.copies.get(g, word)), n.func)
                return n.with_changes(func=func, args=given)
            case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=cst.Name(value=p))]) if p in self.own:
                return n.with_changes(args=[cst.Arg(self.first(p, n))])
            case cst.Attribute(value=cst.Name(value=p), attr=cst.Name(value="shape")) if p in self.own:
                return n.with_changes(value=self.first(p, n))
            case cst.Attribute(value=cst.Name(value=p), attr=cst.Name(value="size")) if p in self.own:
                at = [cst.SubscriptElement(cst.Index(cst.Integer("0")))]
                shape = placed(self.parsed, cst.Attribute(self.first(p, n), cst.Name("shape")), n)
                return cst.Subscript(shape, at)
            case cst.Attribute() | cst.Subscript():
                for p in self.own:
                    of = held_by(n, p)
                    if of is not None and member(n):
                        return rebuilt(self.parsed, self.part(of, member(n)), self.index)  # type: ignore[no-any-return]
        return None

    def index(self, n: cst.CSTNode) -> cst.CSTNode | None:
        return None if isinstance(n, cst.Name) and _DOT in n.value else self.change(n)

    def first(self, p: str, n: cst.CSTNode) -> cst.Name:
        return placed(self.parsed, cst.Name(self.names[p, self.own[p][0]]), n)  # type: ignore[no-any-return]

    def part(self, value: cst.CSTNode, name: str) -> Any:
        """The member of a parameter, or of an element."""
        if isinstance(value, cst.Subscript):
            return placed(self.parsed, value.with_changes(value=self.part(value.value, name)), value)
        assert isinstance(value, cst.Name)
        return placed(self.parsed, cst.Name(self.names[value.value, name]), value)

"""Calls of helpers, local functions and methods at the place where they stand in a Python host function."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import libcst as cst

from kraise.frontends.python.host_inlined import (
    NotHere,
    arguments,
    as_value,
    bracketed,
    bundles_of,
    gives_bundle,
    renamed,
    single_exit,
    uses,
    without_returns,
)
from kraise.frontends.python.host_racks import Racks
from kraise.frontends.python.host_records import Records
from kraise.frontends.python.host_rounds import tuple_of
from kraise.frontends.python.host_settled import settled
from kraise.frontends.python.host_units import Record, Unit, assigned
from kraise.frontends.python.source import all_of, dotted, walk
from kraise.ir.host_names import fresh

DEEPEST = 12


class Calls(Records, Racks):
    """The part that writes calls out; :class:`kraise.frontends.python.host_written.Written` has the rest."""

    units: dict[str, Unit]
    own: set[str]  # the names that the function sets
    bundles: set[str]  # those that it makes lists or dicts of
    before: list[Any]  # what the expressions read so far need before them
    root: Any  # the expression that is being rewritten
    unsure: int  # inside how many expressions that may not be evaluated
    depth: int
    block: Any
    flushed: Any
    own_times: Any
    assign: Any
    enumerator: Any
    only_enumerators: Any

    def made_by(self, call: cst.Call) -> tuple[Unit, cst.BaseExpression | None] | None:
        """The unit that a call calls, with the instance whose method it is."""
        match call.func:
            case cst.Name(value=name) if name in self.units:
                made = self.units[name]
                known = made.local or not (made.free & self.own)
                return (made, None) if known else None
            case cst.Name(value=name) if name in self.scope.host_units and self.takes_bundle(name, call):
                made = self.scope.host_units[name]
                return (made, None) if not made.free & self.own else None
            case cst.Attribute(value=inner, attr=cst.Name(value=name)) if (owner := self.instance(inner)) and (
                name not in self.leaves[owner]
            ):
                return self.method(self.instances[owner], name, cst.Name(owner))
            case func if owner := self.instance(func):
                return self.method(self.instances[owner], "__call__", cst.Name(owner))
            case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=name)) if (
                owner not in self.own and name in getattr(self.scope.records.get(owner), "of_class", ())
            ):
                return self.method(self.scope.records[owner], name, call.func.value)
        return None

    def method(self, kind: Record, name: str, owner: Any) -> tuple[Unit, Any] | None:
        """A method of a class on an object."""
        found = kind.methods.get(name)
        return (found, owner) if found is not None and not found.free & self.own else None

    def anchored(self, call: cst.Call) -> cst.Call:
        """``Solver(x)(3)`` and ``Solver(x).run()`` with a name for the object, which is made before."""
        inner = call.func.value if isinstance(call.func, cst.Attribute) else call.func
        made = inner if isinstance(inner, cst.Call) else None
        kept = list(self.before)
        if made is not None and not self.unsure and isinstance(made.func, cst.Attribute):
            made = self.anchored(made)  # Solver(x).step().step(2).run()
        found = self.made_by(made) if made is not None else None
        if made is not None and found is not None and not self.unsure:  # c(1.0)(2.0), of a method that gives its object
            outer = self.root
            self.root = made if made is not inner else outer or call  # what stands before the first object was read
            new = self.value(found[0], made, found[1], made)
            self.root = outer
            if isinstance(new, cst.Name) and new.value in self.instances:
                func = call.func.with_changes(value=new) if isinstance(call.func, cst.Attribute) else new
                return self.placed(call.with_changes(func=func), call)  # type: ignore[no-any-return]
            self.before = kept
        kind = self.scope.records.get(dotted(made.func)) if made is not None else None
        if made is None or kind is None or not kind.methods or self.unsure or "_replace" in dotted(call.func):
            self.before = kept
            return call
        own = cst.Name(fresh(self.taken, f"{kind.name.lower()}_made"))
        self.taken.add(own.value)
        kept, self.before = self.before, []
        lines = self.assign(own, made, call)
        if lines is None:
            self.before = kept
            return call
        self.before = [*kept, *self.before, *lines]
        func = call.func.with_changes(value=own) if isinstance(call.func, cst.Attribute) else own
        return self.placed(call.with_changes(func=func), call)  # type: ignore[no-any-return]

    def takes_bundle(self, name: str, call: cst.Call) -> bool:
        """Does a call of a host function give it, or get from it, a record, a list or a dict?"""
        names = {dotted(a.value) for a in call.args}
        made = self.scope.host_units[name]
        for a in call.args:
            if isinstance(a.value, cst.List | cst.Tuple | cst.Dict | cst.SimpleString):
                return True
            if isinstance(a.value, cst.Call) and self.makes_record(a.value):
                return True
            if self.enumerator(a.value) is not None or self.only_enumerators(dotted(a.value)):
                return True
        gives = gives_bundle(made, set(self.scope.records)) or self.gives_none(name, call)
        return bool(names & (set(self.instances) | self.bundles)) or gives

    def gives_none(self, name: str, call: cst.Call) -> bool:
        """Does a call give what the function is read without, or leave out what is ``None`` then?"""
        made, read = self.scope.host_units[name], self.scope.host_params.get(name)
        kept = {p.name for p in read or ()}
        found = arguments(made.params, call.args)
        may_be = [(p, d) for p, d in made.params if d is not None and dotted(d) == "None"]
        return found is not None and any((found[p] is d) == (read is None or p in kept) for p, d in may_be)

    def makes_record(self, call: cst.Call) -> bool:
        """Does a call give a record: ``State(u, v)``, ``replace(s, dt=0.1)``, ``s._replace(dt=0.1)``?"""
        known = dotted(call.func) in self.scope.records
        return (
            known
            or dotted(call.func).endswith("._replace")
            or (self.scope.imports.qualified(dotted(call.func)) == "dataclasses.replace")
        )

    def filled(self, call: cst.Call) -> cst.CSTNode | None:
        """A call of a host function with its arguments by position, defaults among them."""
        made = self.scope.host_units.get(dotted(call.func))
        if made is None or (len(call.args) == len(made.params) and not any(a.keyword for a in call.args)):
            return None
        given = arguments(made.params, call.args)
        if given is None:
            return None
        left = {
            p
            for p, d in made.params
            if d is not None and given[p] is d and (isinstance(d, cst.Tuple | cst.SimpleString) or dotted(d) == "None")
        }
        values = [v for p, v in given.items() if p not in left]  # what nobody gives is no parameter
        return self.placed(cst.Call(call.func, [cst.Arg(self.expression(v)) for v in values]), call)

    def value(self, made: Unit, call: cst.Call, owner: Any, node: cst.CSTNode) -> cst.CSTNode | None:
        """The value of a call as an expression, its statements before it; None where it stays."""
        if self.depth >= DEEPEST:
            return None
        plain = as_value(made)
        try:
            if plain is not None:
                given = self.given(made, call, owner, simple=bool(self.unsure))
                self.depth += 1
                new = self.expression(renamed(self.scope.source, plain, given))
                self.depth -= 1
                return self.placed(bracketed(new), node)
        except NotHere:
            return None
        if self.unsure or (uses(made.body, cst.Expr, cst.Subscript) and self.reads_before(node)):
            return None
        kept, self.before = self.before, []
        own = fresh(self.taken, f"{made.name.strip('_')}_value")
        found = self.statements(made, call, cst.Name(own), False, owner)
        if found is None:
            self.before = kept
            return None
        last = found[-1].body[0] if isinstance(found[-1], cst.SimpleStatementLine) else None
        match last:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Name() as only) if (
                name == own
            ):
                self.before = [*kept, *found[:-1]]
                return self.placed(only, node)
        self.before = [*kept, *found]
        return self.placed(cst.Name(own), node)

    def written(self, call: cst.Call, target: Any, returns: bool) -> list[Any] | None:
        """The statements that a call becomes (``target``: what gets its value, ``returns``: it is returned)."""
        call = self.anchored(call)
        found = self.made_by(call)
        if found is None:
            return None
        return self.statements(found[0], call, target, returns, found[1])

    def statements(self, made: Unit, call: cst.Call, target: Any, returns: bool, owner: Any) -> list[Any] | None:
        """The statements of a unit at the place of its call; None where it stays a call."""
        if self.depth >= DEEPEST or made.context:
            return None
        outer = self.before
        self.before = []
        try:
            body = made.body
            if made.value is not None:
                body = (cst.SimpleStatementLine([cst.Return(made.value)]),)
            else:
                made = replace(
                    made, body=tuple(settled(made.body, self.known_none(made, call, owner), self.scope.source))
                )
                body = made.body
            if not returns or not uses(body, cst.Return):
                body = tuple(single_exit(body, target))
            names = self.given(made, call, owner, simple=False)
        except NotHere:
            self.before = outer
            return None
        first = self.flushed()
        self.before = outer
        self.scope.written |= {made.name} & set(self.scope.host_units)
        given = {n.value for e in names.values() for n in all_of(cst.Name, e)}
        for name in sorted({n for s in body for n in assigned(s)} - set(names)):
            is_target = target is not None and name == dotted(target) and name not in given  # y = forward(y)
            if name in self.taken and name in made.bound and not is_target:
                names[name] = cst.Name(fresh(self.taken, name))
            self.taken.add(name)
            self.own.add(dotted(names[name]) if name in names else name)
        target_names = {n.value for n in all_of(cst.Name, target)} if target is not None else set()
        marked = self.scope.source
        lines = [renamed(marked, s, names, keep=target if target_names else None) for s in body]
        self.depth += 1
        self.bundles |= {n for s in lines for n in bundles_of(s)}
        out = self.block(lines)
        self.depth -= 1
        if returns and not uses(made.body, cst.Return):
            out.append(cst.SimpleStatementLine([cst.Return(None)]))
        return [*first, *out]

    def known_none(self, made: Unit, call: cst.Call, owner: Any) -> dict[str, bool]:
        """Which parameters are ``None`` in a call, and which are surely something else."""
        params = made.params[1:] if owner is not None else made.params
        if made.star:
            args = [a for a in call.args if a.keyword is not None]
            params = tuple(p for p in params if p[0] in made.named)
        else:
            args = list(call.args)
        found = arguments(params, args) or {}
        every = self.node.params
        maybe = {
            p.name.value for p in (*every.posonly_params, *every.params, *every.kwonly_params)
            if p.default is not None and dotted(p.default) == "None"
        }  # fmt: skip
        for inner in walk(self.node.body):
            if isinstance(inner, cst.Assign) and any(
                isinstance(n, cst.Name) and n.value == "None" for n in walk(inner)
            ):
                maybe |= assigned(inner)
        unsure = {p for p, v in found.items() if {n.value for n in all_of(cst.Name, v)} & maybe}
        return {p: dotted(v) == "None" for p, v in found.items() if p not in unsure}

    def given(self, made: Unit, call: cst.Call, owner: Any, simple: bool) -> dict[str, Any]:
        """What stands for each parameter: the argument, or a name that it gets before. Raises NotHere."""
        params = made.params[1:] if owner is not None else made.params
        args = list(call.args)
        if made.star:
            by_place = [a for a in args if a.keyword is None]
            rest = by_place[sum(p not in made.named for p, _ in params) :]
            if any(a.star for a in rest):
                raise NotHere
            args = [a for a in args if not any(a is r for r in rest)]
        elif sum(a.keyword is None for a in args) > sum(p not in made.named for p, _ in params):
            raise NotHere
        found = arguments(params, args)
        if found is None:
            raise NotHere
        taken = [d for p, d in params if d is not None and found[p] is d and isinstance(d, cst.Name)]
        if made.local and any(dotted(d) not in ("None", "True", "False") for d in taken):
            raise NotHere  # evaluated where the function was made
        names: dict[str, Any] = {made.params[0][0]: owner} if owner is not None else {}
        if made.star:
            names[made.star] = tuple_of([self.expression(a.value) for a in rest])
        sets = {n for s in made.body for n in assigned(s)}
        for name, value in found.items():
            value = self.expression(self.made_before(value, call) if not simple else value)
            is_name = bool(dotted(value)) or isinstance(value, cst.Integer | cst.Float | cst.SimpleString)
            is_record = isinstance(value, cst.Name) and value.value in self.instances
            if is_record and name in sets and not self.instances[value.value].is_tuple:
                raise NotHere  # another object under the name of one that others see
            record = self.record(value) if not is_name or (is_record and name in sets) else None
            plain = as_value(made)
            if plain is None:
                kept = is_name and not (dotted(value) in self.all_leaves() and self.changes_fields(made))
            else:
                times = sum(isinstance(n, cst.Name) and n.value == name for n in walk(plain))
                long = times > 2 and uses([value], cst.BinaryOperation)
                kept = times == 1 or not (uses([value], cst.Call) or (long and not simple))
            if name in sets or record is not None or not kept:
                if simple:
                    raise NotHere
                own = fresh(self.taken, name)
                names[name] = cst.Name(own)
                if dotted(value) == "None":  # it gets its value in the body
                    continue
                line = self.line(self.placed(cst.Assign([cst.AssignTarget(cst.Name(own))], value), call), call)
                self.before += self.bound(own, record, call) if record is not None else [line]
            else:
                names[name] = value if is_name else bracketed(value)
        return names

    def made_before(self, value: Any, call: cst.Call) -> Any:
        """An argument; of an object that is made there its name, and it is made before."""
        kind = self.scope.records.get(dotted(value.func)) if isinstance(value, cst.Call) else None
        if kind is None or kind.fields or not kind.methods:
            return value
        own = cst.Name(fresh(self.taken, kind.name.lower()))
        self.taken.add(own.value)
        kept, self.before = self.before, []
        lines = self.assign(own, value, call)
        self.before = [*kept, *self.before, *(lines or [])]
        return value if lines is None else own

    def changes_fields(self, made: Unit) -> bool:
        """May a unit give a field another value?"""
        methods = {m for r in self.scope.records.values() for m in r.methods}
        for line in made.body:
            for inner in walk(line):
                match inner:
                    case cst.AssignTarget(target=target) | cst.AugAssign(target=target):
                        if all_of(cst.Attribute, target):
                            return True
                    case cst.Attribute(attr=cst.Name(value=name)) if name in methods:
                        return True
        return False

    def around(self, made: Unit, call: cst.Call, asname: Any, body: Any) -> list[Any] | None:
        """``with made(…) as name: body``: what the generator does before and after its round."""
        lines = list(made.body)
        guarded = lines[-1] if lines else None
        after: list[Any] = []
        if isinstance(guarded, cst.Try) and not guarded.handlers and guarded.orelse is None:
            after = list(guarded.finalbody.body.body) if guarded.finalbody is not None else []
            lines = [*lines[:-1], *guarded.body.body]
        for at, line in enumerate(lines):
            match line:
                case cst.SimpleStatementLine(body=[cst.Expr(value=cst.Yield(value=value))]):
                    first: list[Any] = lines[:at]
                    if asname is not None and isinstance(value, cst.BaseExpression):
                        first.append(cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(asname.name)], value)]))
                    rest = [*lines[at + 1 :], *after]
                    break
        else:
            return None
        if uses([*first, *rest], cst.Return):
            return None
        names = self.given(made, call, None, simple=False)
        opening = self.flushed()
        for name in sorted({n for s in (*first, *rest) for n in assigned(s)}):
            if name in self.taken and (asname is None or name != dotted(asname.name)):
                names[name] = cst.Name(fresh(self.taken, name))
        both = [[renamed(self.scope.source, s, names) for s in part] for part in (first, rest)]
        return [*opening, *self.block(both[0]), *self.block(body.body), *self.block(both[1])]

    def entered(self, call: cst.Call, asname: Any, body: Any) -> list[Any] | None:
        """``with Class(…) as name: body``: what the object does before and after."""
        kind = self.scope.records[dotted(call.func)]
        name = dotted(asname.name) if asname is not None else fresh(self.taken, kind.name.lower())
        if self.own_times(name) > 1:
            return None
        self.declare(name, kind)
        made = self.constructed(name, kind, call) if "__init__" in kind.methods else []
        enter, leave = kind.methods.get("__enter__"), kind.methods["__exit__"]
        own = cst.Name(name)
        if made is None or enter is None or (uses(leave.body, cst.Return) or self.asks(leave)):
            return None
        if any(dotted(n.value or own) != "self" for s in enter.body for n in all_of(cst.Return, s)):
            return None
        first = self.statements(
            Unit(enter.name, enter.params, without_returns(enter.body)), cst.Call(own), None, False, own
        )
        inner = self.block(body.body)
        last = self.statements(Unit(leave.name, leave.params[:1], leave.body), cst.Call(own), None, False, own)
        return None if first is None or last is None else [*made, *first, *inner, *last]

    def asks(self, made: Unit) -> bool:
        """Does ``__exit__`` look at the error?"""
        words = {p for p, _ in made.params[1:]} | {made.star} - {""}
        return any(n.value in words for s in made.body for n in all_of(cst.Name, s))

    def reads_before(self, node: cst.CSTNode) -> bool:
        """Is an element read, or something called, before a part of the expression that is being rewritten?"""
        for inner in walk(self.root, lambda n: not isinstance(n, cst.AssignTarget)):
            if inner is node:
                return False
            if isinstance(inner, cst.Call | cst.Subscript) and not any(n is node for n in walk(inner)):
                return True
        return True

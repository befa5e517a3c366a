"""Python host functions to Host IR: allocations, copies, launches, loops, swaps, returns."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from kraise import dialects
from kraise.diagnostics import Diagnostic, Refused
from kraise.frontends.python import (
    host_batches,
    host_elements,
    host_library,
    host_numbers,
    host_numpy,
    host_parts,
    host_places,
    host_ranks,
)
from kraise.frontends.python import host_values as values
from kraise.frontends.python.annotations import scalar_type
from kraise.frontends.python.host_assign import Assignments
from kraise.frontends.python.host_control import ONE, Control, raises, skips
from kraise.frontends.python.host_dicts import with_copies
from kraise.frontends.python.host_elses import without_elses
from kraise.frontends.python.host_grown import with_arrays
from kraise.frontends.python.host_inlined import with_names_for_blanks
from kraise.frontends.python.host_lists import without_lists
from kraise.frontends.python.host_mapped import without_maps
from kraise.frontends.python.host_module_arrays import check_kept, with_module_arrays
from kraise.frontends.python.host_partials import without_partials
from kraise.frontends.python.host_plain import in_plain_words
from kraise.frontends.python.host_raw import with_flat_arrays
from kraise.frontends.python.host_reducers import without_reducers
from kraise.frontends.python.host_scope import HostScope, array_names, ignored_call, launched
from kraise.frontends.python.host_settled import by_default
from kraise.frontends.python.host_shown import with_calls_before
from kraise.frontends.python.host_spelled import with_one_spelling
from kraise.frontends.python.host_stale import check_current
from kraise.frontends.python.host_streams import without_streams
from kraise.frontends.python.host_tuples import without_tuples
from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.host_walked import without_walks
from kraise.frontends.python.host_words import with_tables, with_words
from kraise.frontends.python.host_written import written_out
from kraise.frontends.python.source import all_of, dotted
from kraise.frontends.python.survey import doc_of
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT, NUMBER, ArrayType


def read_host(scope: HostScope, node: cst.FunctionDef, name: str) -> h.Host:
    """The host function. Raises Refused with all that is wrong with it."""
    node, left_out = by_default(scope.source, node)
    for p in left_out:
        scope.drop(p, "a parameter that is None")
    node = with_one_spelling(scope, with_words(scope, in_plain_words(scope, node)))
    node = with_calls_before(scope, node)
    node = with_module_arrays(scope, with_names_for_blanks(scope.source, node))
    node = without_maps(scope, node)
    node = without_reducers(
        scope.source, written_out(scope, without_partials(scope, without_streams(scope, node))), scope.reducers
    )
    node = with_copies(scope, without_elses(scope, node))
    scope.walked = host_elements.of_numbers(scope, node)
    node = with_module_arrays(scope, node)  # those that the calls which were written out mention
    node = with_flat_arrays(scope, with_tables(scope, node), scope.foreign)
    node = without_tuples(scope, with_arrays(scope, without_walks(scope, node)))
    node = without_lists(scope, node)
    array_names(scope, node)
    scope.ranks.update(host_ranks.certain(scope, node))
    array_names(scope, node)  # now that the product of two vectors is known to be a number
    scope.name = name
    given = (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params)
    parameters = [p for p in given if p.name.value not in {"self", "cls", *scope.geometry}]
    ranks = host_ranks.of(scope, node)
    certain = host_ranks.certain(scope, node)
    scope.ranks.update(certain)
    numbers = host_numbers.numbers(scope, node)
    scope.numbers = frozenset(numbers)
    scope.may_share = lambda name: host_numbers.may_share(scope, node, name, numbers)
    params: list[k.Param] = []
    for p in parameters:
        own = p.name.value
        default = values.value(scope, p.default) if p.default is not None and dotted(p.default) != "None" else None
        if own in scope.arrays:
            element, rank = ranks.get(own, (NUMBER, 1))
            params.append(k.Param(own, ArrayType(element, max(rank, certain.get(own, 1))), span=scope.span(p.name)))
        else:
            scope.scalars.add(own)
            kind = NUMBER
            if p.annotation is not None:
                kind = scalar_type(dotted(p.annotation.annotation)) or NUMBER
            kept = default if isinstance(default, k.Const) else None
            params.append(k.Param(own, kind, kept, span=scope.span(p.name)))
    host_batches.prepare(scope, node)
    reader = Reader(scope)
    body = reader.block(node.body.body if isinstance(node.body, cst.IndentedBlock) else [node.body])
    if reader.problems:
        raise Refused(*reader.problems)
    host_parts.check_apart(scope, body)
    check_kept(scope, body)
    check_current(scope, body)
    notes = [f"{n} is given by what is used of it: {own}" for n, own in scope.objects.items()]
    if scope.stacked:
        notes.append(f"a list of arrays is given as one array, stacked: {', '.join(sorted(scope.stacked))}")
    if scope.left_open:
        notes.append(f"the types that are left open are floating: {', '.join(sorted(scope.left_open))}")
    doc = "\n".join([doc_of(node), *notes])
    ordered = tuple(scope.ordered)
    return h.Host(name, tuple(params), body, doc, tuple(scope.dropped), (), scope.span(node.name), ordered=ordered)


class Reader(Assignments, Control):
    """The statements of one function."""

    def __init__(self, scope: HostScope):
        self.scope = scope
        self.problems: list[Diagnostic] = []
        scope.make, scope.call = self.new_array, self.arguments

    def block(self, statements, rounds: bool = False) -> tuple[h.Stmt, ...]:  # type: ignore[no-untyped-def]
        """The statements of a block (``rounds``: of a loop); problems are collected."""
        out: list[h.Stmt] = []
        for at, statement in enumerate(statements):
            around, self.scope.pending = self.scope.pending, []
            skipping = rounds and skips(statement)
            host_places.leave_open(self.scope, statement)
            try:
                found = self.skip(statement, statements[at + 1 :]) if skipping else self.statement(statement)
                out += [*self.scope.pending, *found]
            except Refused as refused:
                self.problems += refused.diagnostics
                self.scope.lost |= assigned(statement)
            self.scope.pending = around
            host_places.leave_open(self.scope, statement)
            if skipping:
                break
        return tuple(out)

    def flushed(self) -> list[h.Stmt]:
        """What the expressions read so far need before them."""
        found, self.scope.pending = self.scope.pending, []
        return found

    def statement(self, node: cst.CSTNode) -> list[h.Stmt]:
        """One statement as it stands."""
        scope = self.scope
        span = scope.span(node)
        match node:
            case cst.SimpleStatementLine(body=parts) | cst.SimpleStatementSuite(body=parts):
                out: list[h.Stmt] = []
                for p in parts:
                    found = self.small(p)
                    out += [*self.flushed(), *found]
                return out
            case cst.If(test=test, body=body, orelse=None) if raises(body):
                scope.drop(node, "a check of the arguments")
                return []
            case cst.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                for handler in handlers:
                    self.handled(handler)
                done = [*self.block(body.body), *(self.block(orelse.body.body) if orelse is not None else ())]
                last = self.block(final.body.body) if final is not None else ()
                if last and all_of(cst.Return | cst.Break | cst.Continue, body):
                    raise scope.refuse(node, "what `finally` does changes values after a way out", "leave it after")
                return [*done, *last]
            case cst.If(test=test) | cst.While(test=test) if scope.elementwise and scope.is_array(test):
                raise scope.refuse(test, f"`{scope.text(test)}` is an array: whether it holds is not known")
            case cst.If(test=test, body=body, orelse=orelse):
                condition = values.value(scope, test)
                then = self.block(body.body)
                other: tuple[h.Stmt, ...] = ()
                if orelse is not None:
                    other = self.block([orelse] if isinstance(orelse, cst.If) else orelse.body.body)
                if not then and not other:
                    scope.drop(node, "a branch without effects")
                    return []
                return [h.If(condition, then, other, span=span)]
            case cst.For():
                return self.loop(node)
            case cst.While(test=test, body=body, orelse=None):
                condition = values.truth(scope, test)
                asked = tuple(self.flushed())  # before the loop and at the end of each round
                return [*asked, h.While(condition, (*self.block(body.body, True), *asked), span=span)]
            case cst.With(items=items, body=body):
                for item in items:
                    called = item.item.func if isinstance(item.item, cst.Call) else item.item
                    owner = dotted(called).partition(".")[0]
                    if not ignored_call(scope.imports.qualified(dotted(called))) and owner not in scope.ignored:
                        raise scope.refuse(node, f"`with {scope.text(item.item)}` is not known in a host function")
                    if item.asname is not None:
                        scope.ignored.add(dotted(item.asname.name))
                return list(self.block(body.body))
        if isinstance(node, cst.BaseSmallStatement):  # if n == 1: k = 1
            small = self.small(node)
            return [*self.flushed(), *small]
        kind = type(node).__name__
        hint = dialects.refused_nodes().get(kind, ("", ""))[1]
        raise scope.refuse(node, f"{kind} is not accepted in a host function that is raised", hint)

    def small(self, node: cst.BaseSmallStatement) -> list[h.Stmt]:
        """A simple statement."""
        scope = self.scope
        span = scope.span(node)
        match node:
            case cst.Pass() | cst.Import() | cst.ImportFrom():
                return []
            case cst.Expr(value=value) if not all_of(cst.Call, value):
                return []
            case cst.Expr(value=cst.Call() as call):
                return self.effect(call, node)
            case cst.Assert():
                scope.drop(node, "a check of the arguments")
                return []
            case cst.Del():
                scope.drop(node, "memory management")
                return []
            case cst.Break():
                return [h.Break(span=span)]
            case cst.Return(value=value):
                return self.returned(value, span)
            case cst.AnnAssign(target=target, value=value) if value is not None:
                return self.assign(target, value, node)
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
                return self.assign(target, value, node)
            case cst.AugAssign():
                return self.augmented(node)
        raise scope.refuse(node, f"`{scope.text(node)}` is not accepted in a host function that is raised")

    # --- calls for their effects

    def effect(self, call: cst.Call, node: cst.CSTNode) -> list[h.Stmt]:
        """A call that stands alone: a launch, a copy, another host function, or something without effects."""
        scope = self.scope
        span = scope.span(node)
        if launched(scope, call):
            parts, after, call = host_parts.named(self, call)
            made = self.made_in(call)
            return [*parts, *made[0], self.launch(made[1]), *after]
        name = scope.qualified(call.func)
        concept = dialects.table("host_library")["python"].get(name, "")
        args = [a.value for a in call.args]
        if concept == "fetch" and args and isinstance(args[0], cst.Subscript) and isinstance(call.func, cst.Attribute):
            whole = call.with_changes(args=[])  # d.copy_to_host(out[lo:hi], stream=s)
            scope.source.positions.setdefault(whole, scope.source.positions.get(call))
            return self.assign(args[0], whole, node)
        if concept == "fetch" and args and isinstance(call.func, cst.Attribute):
            return [h.Update(self.array(args[0]), h.Whole(self.array(call.func.value)), span=span)]
        if concept == "store" and args and isinstance(call.func, cst.Attribute):
            return [h.Update(self.array(call.func.value), values.value(scope, args[0]), span=span)]
        target = self.keyword(call, "to") if concept == "clone" else None
        if target is not None:
            return [h.Update(self.array(target), values.value(scope, args[0]), span=span)]
        if concept == "fill" and isinstance(call.func, cst.Attribute):
            return [h.Update(self.array(call.func.value), values.scalar(scope, args[0]), span=span)]
        if name in host_numpy.SCATTERS and len(args) == 3:
            added = host_library.called(scope, call, host_numpy.SCATTERS[name], lambda n: values.value(scope, n))
            assert isinstance(added, h.Library)
            return [h.Update(self.array(args[0]), replace(added, name=h.PUT), span=span)]
        called = dotted(call.func)
        if self.is_ignored(call):
            scope.drop(node, ignored_call(name) or "stream")
            return []
        if called in scope.hosts:
            return [h.CallHost(called, self.arguments(call), (), (), span=span)]
        if called in scope.functions and scope.functions[called].kind == "plain":
            return [h.Launch(called, self.arguments(call), span=span)]
        if host_library.is_pure(scope, call):
            scope.drop(node, "a value that is not used")
            return []
        raise host_library.unknown(scope, call)

    def made_in(self, call: cst.Call) -> tuple[list[h.Stmt], cst.Call]:
        """Arrays that a launch makes in its own arguments (``k[g, b](cuda.to_device(x))``) get names first."""
        scope = self.scope
        before: list[h.Stmt] = []
        args = list(call.args)
        for at, a in enumerate(args):
            made = isinstance(a.value, cst.Call | cst.IfExp)
            if a.keyword is None and not a.star and made and scope.is_array(a.value):
                own = "chosen"
                if isinstance(a.value, cst.Call):
                    whose = a.value.args[0].value if a.value.args else a.value.func
                    own = f"{host_parts.base(whose) or 'made'}_device".replace(".", "_")
                while own in scope.arrays | scope.scalars:
                    own += "_"
                scope.arrays.add(own)
                before += self.new_array(own, a.value, a)
                args[at] = a.with_changes(value=cst.Name(own))
        if not before:
            return before, call
        changed = call.with_changes(args=args)
        scope.source.positions.setdefault(changed, scope.source.positions.get(call))
        return before, changed

    def is_ignored(self, node: cst.BaseExpression) -> bool:
        """Has an expression no part in the values (a stream, a timer, what is computed from one)?"""
        scope = self.scope
        match node:
            case cst.Call(func=func, args=args):
                name = dotted(func)
                if name and (ignored_call(scope.imports.qualified(name)) or name.partition(".")[0] in scope.ignored):
                    return True
                if isinstance(func, cst.Attribute) and not name and self.is_ignored(func.value):
                    return True  # axes[0].imshow(u)
                return any(self.is_ignored(a.value) for a in args) and not launched(scope, node)
            case cst.Name() | cst.Attribute():
                name = dotted(node)
                if ignored_call(scope.imports.qualified(name)) and name:
                    return True
                return name.partition(".")[0] in scope.ignored
            case cst.BinaryOperation(left=left, right=right):
                return self.is_ignored(left) or self.is_ignored(right)
            case cst.Subscript(value=inner):
                return self.is_ignored(inner)
            case cst.FormattedString() | cst.SimpleString():
                return True
        return False

    def launch(self, call: cst.Call) -> h.Stmt:
        """A launch with its configuration."""
        scope = self.scope
        span = scope.span(call)
        name = launched(scope, call)
        match call.func:
            case cst.Name(value=alias) if alias in scope.configured:
                grid, block, shared = scope.configured[alias][1:]
            case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=cst.Tuple(elements=parts)))]):
                grid, block, shared = self.configuration([p.value for p in parts], call)  # k[(grid, block)]
            case cst.Subscript(slice=items):
                grid, block, shared = self.configuration([i.slice.value for i in items], call)  # type: ignore[attr-defined]
            case cst.Call(args=args):
                threads = values.scalar(scope, args[0].value)
                block = (k.Const(256, INT),)
                grid = (k.Op("floordiv", (k.Op("add", (threads, k.Const(255, INT)), INT), block[0]), INT),)
                if name in scope.functions:
                    return h.Launch(name, self.arguments(call), (threads,), (ONE,), None, span=span)
                shared = None
            case _:
                raise scope.refuse(call, "this launch is not understood")
        function = scope.functions.get(name)
        if function is not None and function.kind == "device":
            raise scope.refuse(call, f"{name} is launched, but it is also called by a kernel")
        return h.Launch(name, self.arguments(call), grid, block, shared, span=span)

    def configuration(self, items: list[cst.BaseExpression], call: cst.CSTNode):
        """(grid, block, shared) of ``[grid, block, stream, shared]``."""
        scope = self.scope
        if len(items) == 1:  # k[config] with config = (grid, block)
            inner = items[0]
            if isinstance(inner, cst.Name) and inner.value in scope.configured:
                return scope.configured[inner.value]
            if isinstance(inner, cst.Name) and inner.value in scope.geometry:
                return (k.Var("?", NUMBER),), (k.Var("?", NUMBER),), None
            raise scope.refuse(call, "the launch configuration is not written as [grid, block]")
        grid, block = (self.extents(i) for i in items[:2])
        shared = values.scalar(scope, items[3]) if len(items) > 3 else None
        return grid, block, shared

    def extents(self, node: cst.BaseExpression) -> tuple[k.Expr, ...]:
        """A launch extent: a number or up to three."""
        found = values.elements(self.scope, node)
        if found is None:
            return (values.scalar(self.scope, node),) if not self.is_ignored(node) else (k.Var("?", NUMBER),)
        return found  # type: ignore[return-value]

    def returned(self, value: cst.BaseExpression | None, span) -> list[h.Stmt]:
        """``return …``; an array without a name gets one."""
        scope = self.scope
        before: list[h.Stmt] = []
        if value is None or dotted(value) == "None":
            return [h.Return((), span=span)]
        parts = [e.value for e in value.elements] if isinstance(value, cst.Tuple) else [value]
        out: list[h.Expr | k.ArrayRef] = []
        for part in parts:
            while isinstance(part, cst.Call) and self._moves_only(part):
                part = part.func.value if not part.args else part.args[0].value  # type: ignore[attr-defined]
            name = dotted(part)
            if name in scope.arrays:
                out.append(k.ArrayRef(name, span=scope.span(part)))
                continue
            found = values.value(scope, part)
            if scope.is_array(part):
                own = f"result_{len(before) + 1}" if len(parts) > 1 else "result"
                before.append(h.Bind(own, found, span=scope.span(part)))
                out.append(k.ArrayRef(own, span=scope.span(part)))
            else:
                out.append(found)
        return [*before, h.Return(tuple(out), span=span)]

    def _moves_only(self, call: cst.Call) -> bool:
        concept = dialects.table("host_library")["python"].get(self.scope.qualified(call.func), "")
        listed = any(isinstance(a.value, cst.List) for a in call.args)
        return concept in ("fetch", "clone", "alias") and not listed and not any(a.keyword for a in call.args)


__all__ = ["Reader", "read_host"]

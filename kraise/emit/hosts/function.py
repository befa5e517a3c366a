"""Raised host functions as text: calls of the raised kernels, loops as ``fori_loop``, while loops as equinox's.

A loop whose counter decides a shape or a trip count (``for s in (1, 2, 4, …): kernel[n // s, …](x, s)``) stays a Python
loop, unrolled when the function is traced. A counted loop with a condition runs to its bound, rounds after the last one
changing nothing: it has a derivative in reverse. A ``while`` without a bound is equinox's checkpointed loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kraise.diagnostics import Span, refuse
from kraise.emit import precision
from kraise.emit.blocks import Assign, Def, Raw, Stmt
from kraise.emit.function import FunctionText, derivative_texts, docstring
from kraise.emit.gradients import derivatives, host_outputs
from kraise.emit.gradients.outputs import Parameters, types_of
from kraise.emit.hosts import loops, structs
from kraise.emit.hosts.expressions import HostText
from kraise.emit.hosts.shaped import Shaped
from kraise.emit.hosts.shared_work import Parts
from kraise.emit.hosts.sizes import Sizes, bindings, of_loop, opposite, told
from kraise.emit.hosts.statics import Callee, Statics, nodes
from kraise.emit.loops import remat
from kraise.emit.loops.folds import mentioned
from kraise.emit.text import layout_text
from kraise.emit.text import python as py
from kraise.emit.text.doc import CHECKPOINTED
from kraise.emit.text.head import Signature, by_position, defaults
from kraise.emit.text.names import Names, identifier
from kraise.emit.text.python import Atom, Py, flat
from kraise.emit.text.rendering import Comments, Surroundings, render
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names
from kraise.ir.types import ScalarType


class EmittedHost:
    """A host function's lines, what it needs of the module, and what a caller must know of it."""

    def __init__(self, host: o.Host, callees: Mapping[str, Callee], around: Surroundings, parts: Parts):
        self.host, self.around, self.parts = host, around, parts
        self.callees = callees
        self.statics = Statics(host, callees)
        self.shaped = Shaped(host, callees)
        taken = Names(around.taken | {identifier(p.name) for p in host.params})
        names = {p.name: identifier(p.name) for p in host.params}
        for name in _variables(host):
            if name not in names:
                names[name] = taken.fresh(name)
        names["_"] = "_"
        self.names = taken
        counters = frozenset(n.var for n in nodes(*host.body) if isinstance(n, o.Loop) and n.var)
        self.text = HostText(self.statics, names, host.params, counters, around.x64)
        self.sizes = Sizes(bindings(host.body), frozenset(p.name for p in host.params), counters)
        self.needs: set[str] = self.text.needs
        self.throws = any(callees[name].throws for name in host.calls if name in callees)
        parameters = tuple(names[p.name] for p in host.params)
        static = [names[p.name] for p in host.params if p.name in self.statics.names]
        positional, named = by_position(host.params, parameters)
        self.head = Signature(positional, named, tuple(static))
        self.lines = self._lines(parameters, static)
        taken_for = {names[n]: False for n in self.sizes.taken if n in self.statics.names}
        self.callee = Callee(
            identifier(host.name), parameters, frozenset(static), throws=self.throws, named=named, sizes=taken_for
        )
        self.constants, self.helpers = self.text.constants, set[str]()

    def derivatives(self, flow: host_outputs.Flow) -> list[FunctionText]:
        """The functions that the user asked for beside the host's own.

        ``flow`` as in :mod:`kraise.emit.gradients.host_outputs`.

        Raises Refused (KR308): see :mod:`kraise.emit.gradients.derivatives`."""
        inputs = Parameters(self.host, types_of(self.host.params), self.head)
        order = {name: callee.parameters for name, callee in self.callees.items()}
        active = inputs.flowing(host_outputs.reaching(self.host, flow, order))
        subject = derivatives.Subject(self.host, self.head, inputs, host_outputs.outputs(self.host), active)
        return derivative_texts(derivatives.written(subject, self.around.taken), self.around, self.throws)

    def _lines(self, parameters: tuple[str, ...], static: list[str]) -> list[str]:
        decorator: Py = Atom("jax.jit")
        if static and not self.host.state:
            self.needs.add("partial")
            given: Py = (
                Atom(py.quoted(static[0])) if len(static) == 1 else py.Tup(tuple(Atom(py.quoted(s)) for s in static))
            )
            decorator = py.call(self.around.imports["partial"], Atom("jax.jit"), static_argnames=given)
        lines: list[str] = [f"@{self.around.imports['checked']}"] if self.throws else []
        if not self.host.state:  # what makes a state is not traced: its sizes stay Python's numbers
            lines += layout_text.statement("@", self.around.spelled(decorator), 0).split("\n")
        named = len(self.head.keywords)
        usual = defaults(self.host.params, parameters)
        entries = tuple(f"{p}={usual[p]}" if p in usual else p for p in parameters)
        entries = (*entries[: len(entries) - named], *(("*", *entries[-named:]) if named else ()))
        lines += layout_text.definition(identifier(self.host.name), entries, 0).split("\n")
        body = [*self.checks(), *self.block(self.host.body)]
        body = loops.returned(body, self.text.results(list(self.host.returns)))
        notes = list(self.host.notes)
        if "eqxi" in self.needs:
            notes.append(CHECKPOINTED)
        if remat.LOOP in self.needs:
            notes.append(remat.note(self.host.remat))
        said = docstring("\n\n".join(x for x in (self.host.doc.strip(), "\n".join(notes)) if x), 4)
        lines += [*said, ""] if said and isinstance(body[0], Def) else said
        return lines + render(precision.exact(body, self.around), 4, Comments(self.around.module), self.around)

    def checks(self) -> list[Stmt]:
        """Errors for numbers that are not in the order which the function takes them to be in."""
        out: list[Stmt] = []
        for low, high in self.host.ordered:
            if self.statics.is_static(low, high):
                small, large = self.text.expr(low), self.text.expr(high)
                said = f"{flat(large)} must not be " + (
                    "negative" if flat(small) == "0" else f"less than {flat(small)}"
                )
                fails = flat(py.Bin("<", large, small))
                out.append(Raw(f"if {fails}:", [Raw(f'raise ValueError("{said}")')]))
        return out

    # --- statements

    def block(self, body: tuple[o.Stmt, ...]) -> list[Stmt]:
        """The statements of a block."""
        out: list[Stmt] = []
        for stmt in _at_once(body):
            match stmt:
                case o.Let():
                    out += self.let(stmt)
                    self.sizes.bind(stmt.targets)
                case o.Loop():
                    self.sizes.bind(stmt.names)
                    around, self.sizes.facts = self.sizes.facts, [*self.sizes.facts, *of_loop(stmt)]
                    python = id(stmt) in self.statics.python
                    out += loops.unrolled(self, stmt) if python else loops.traced(self, stmt)
                    self.sizes.facts = around
                    self.sizes.bind((*stmt.names, stmt.var))
                case o.Branch():
                    out += self.branch(stmt)
                    self.sizes.bind(stmt.names)
        return out

    def under(self, stmt: o.Branch, body: tuple[o.Stmt, ...]) -> list[Stmt]:
        """The statements of an arm, where its condition holds (or does not)."""
        around = self.sizes.facts
        self.sizes.facts = [*around, *told(stmt.condition, body is stmt.body)]
        lines = self.block(body)
        self.sizes.facts = around
        return lines

    def fresh(self, *wishes: str) -> str:
        """The first wish that is free, or the first numbered."""
        return self.names.fresh(next((w for w in wishes if self.names.is_free(w)), wishes[0]))

    def let(self, stmt: o.Let) -> list[Stmt]:
        """``targets = value``."""
        names = self.text.names
        targets = structs.targets(["_" if t == "_" else names[t] for t in stmt.targets], stmt.value)
        value: Py
        checks: list[Stmt] = []
        if isinstance(stmt.value, o.Call):
            checks = self.sized(stmt.value, stmt.span)
            value = structs.called(self.call(stmt.value), stmt.value)
        elif isinstance(stmt.value, k.Const | k.Op | k.Cast):
            value = self.text.number(stmt.value, stmt.targets[0])
        else:
            value = self.text.value(stmt.value)
        inner = stmt.value.value if isinstance(stmt.value, o.Put) else stmt.value
        mark = stmt.span if isinstance(inner, o.Call | h.Library) else None
        if isinstance(stmt.value, o.Call) and len(stmt.value.fields) > 1:
            whole = self.fresh("changed", "fields")
            self.names.release(whole)
            return [*checks, Assign(whole, value, mark), Assign(targets, structs.fields(whole, stmt.value))]
        return [*checks, Assign(targets, value, mark)]  # type: ignore[arg-type]

    def call(self, value: o.Call) -> py.Call:
        """A call of a function of the module."""
        callee = self.callees[value.function]
        given = [
            self.static(a, callee, p) if p in callee.statics else self.text.number(a)
            for p, a in zip(callee.parameters, value.args, strict=False)
        ]
        args = tuple(given[: len(given) - len(callee.named)])
        keywords: list[tuple[str, Py]] = list(zip(callee.named, given[len(args) :], strict=True))
        if callee.launch:
            for word, extents in (("grid", value.grid), ("block", value.block)):
                if extents is not None:
                    items = tuple(self.text.expr(x) for x in extents)
                    while len(items) > 1 and items[-1] == py.number(1):
                        items = items[:-1]
                    keywords.append((word, items[0] if len(items) == 1 else py.Tup(items)))
        if callee.shared and value.shared is not None:
            keywords.append(("shared", self.text.expr(value.shared)))
        return py.Call(Atom(callee.name), args, tuple(keywords))

    def static(self, e: h.Expr, callee: Callee, parameter: str) -> Py:
        """An argument that decides shapes; 0 where it would be less and the function does nothing for either."""
        text = self.text.expr(e)
        if not callee.sizes.get(parameter) or self.sizes.is_size(e):
            return text
        return py.number(0) if isinstance(e, k.Const) else py.call("max", text, py.number(0))

    def sized(self, call: o.Call, span: Span | None) -> list[Stmt]:
        """Errors for launches that the function is not for, and for arguments that it takes for sizes and that may be
        less than 0."""
        callee = self.callees[call.function]
        out: list[Stmt] = []
        for condition, text in call.demands:
            fails = flat(self.text.expr(opposite(condition)))
            out.append(Raw(f"if {fails}:", [Raw(f"raise ValueError({py.quoted(text)})")]))
        for parameter, e in zip(callee.parameters, call.args, strict=False):
            if callee.sizes.get(parameter, True) or self.sizes.is_size(e):
                continue
            spelled = flat(self.text.expr(e))
            said = f"{spelled} must not be negative: it is `{parameter}` of {callee.name}"
            if isinstance(e, k.Const):
                raise refuse("KR204", said, span or self.host.span)
            fails = flat(py.Bin("<", self.text.expr(e), py.number(0)))
            out.append(Raw(f"if {fails}:", [Raw(f"raise ValueError({py.quoted(said)})")]))
            self.sizes.learn(e)
        return out

    # --- branches

    def branch(self, stmt: o.Branch) -> list[Stmt]:
        """A branch: Python's where the condition is static, else ``lax.cond`` over what it changes."""
        names = [self.text.names[n] for n in stmt.names]
        values = [self.text.number(v, n) for n, v in zip(stmt.names, stmt.values, strict=True)]
        others = [self.text.number(v, n) for n, v in zip(stmt.names, stmt.others, strict=True)]
        condition = self.text.expr(stmt.condition)
        if self.statics.is_static(stmt.condition):
            first = self.under(stmt, stmt.body) + loops.together(
                [(n, v) for n, v in zip(names, values, strict=True) if v != Atom(n)]
            )
            second = self.under(stmt, stmt.orelse) + loops.together(
                [(n, v) for n, v in zip(names, others, strict=True) if v != Atom(n)]
            )
            if not first:
                return [Raw(f"if {flat(py.Un('not', condition))}:", second)]
            out: list[Stmt] = [Raw(f"if {flat(condition)}:", first)]
            return [*out, Raw("else:", second)] if second else out
        if not stmt.body and not stmt.orelse:
            chosen = [py.call("jnp.where", condition, a, b) for a, b in zip(values, others, strict=True)]
            return loops.together(list(zip(names, chosen, strict=True)))  # at once: a swap reads what it binds
        sides: list[Stmt] = []
        labels = []
        bodies = [self.under(stmt, stmt.body), self.under(stmt, stmt.orelse)]
        # a name that a branch binds and reads before is its argument
        given = sorted({n for lines in bodies for n in _set(lines) if _read_first(lines, n)})
        operands = [Atom(n) for n in given]
        for wish, lines, results in (("then", bodies[0], values), ("otherwise", bodies[1], others)):
            result: Py = results[0] if len(results) == 1 else py.Tup(tuple(results))
            if not lines:
                labels.append(
                    Atom(f"lambda {', '.join(given)}: {flat(result)}" if given else f"lambda: {flat(result)}")
                )
                continue
            label = self.names.fresh(wish)
            sides.append(Def(label, tuple(given), loops.returned(lines, result)))
            labels.append(Atom(label))
        chosen_by = py.call("jax.lax.cond", condition, *labels, *operands)
        out = [*sides, Assign(", ".join(names), chosen_by, stmt.span)]
        for word in labels:
            self.names.release(word.text)
        return out


def _at_once(body: tuple[o.Stmt, ...]) -> tuple[o.Stmt, ...]:
    """Statements in which ``y = meshgrid(a, b)[0]`` and ``x = meshgrid(a, b)[1]`` are one."""
    out: list[o.Stmt] = []
    for stmt in body:
        match (*out[-1:], stmt):
            case (o.Let(targets=first, value=h.Library() as one), o.Let(targets=(last,), value=h.Library() as two)):
                whole = one.jnp.removesuffix("[0]")
                several = whole.startswith("jnp.") and whole.endswith(")")  # a call's results, no rows of an array
                same = several and one.args == two.args and two.jnp == f"{whole}[{len(first)}]"
                if same and (len(first) > 1 or one.jnp != whole) and not set(first) & set(expression_names(one)):
                    out[-1] = o.Let((*first, last), replace(one, jnp=whole), out[-1].span)
                    continue
        out.append(stmt)
    return tuple(out)


def _variables(host: o.Host) -> list[str]:
    """The variables of a host function, in the order of their first binding."""
    found: dict[str, None] = {}

    def visit(body: tuple[o.Stmt, ...]) -> None:
        for stmt in body:
            match stmt:
                case o.Let(targets=targets):
                    found.update(dict.fromkeys(t for t in targets if t != "_"))
                case o.Loop(names=names, var=var):
                    found.update(dict.fromkeys([*([var] if var else []), *names]))
                    visit(stmt.body)
                case o.Branch(names=names):
                    visit(stmt.body)
                    visit(stmt.orelse)
                    found.update(dict.fromkeys(names))

    visit(host.body)
    return list(found)


def _set(lines: list[Stmt]) -> set[str]:
    found: set[str] = set()
    for line in lines:
        if isinstance(line, Assign) and line.target is not None:
            found |= set(line.target.split(", "))
        elif isinstance(line, Raw):
            found |= _set(line.body)
    return found


def _read_first(lines: list[Stmt], name: str) -> bool:
    """Is a name read before it is bound?"""
    for line in lines:
        if isinstance(line, Def):  # what it binds is its own
            if name not in line.parameters and _read_first(line.body, name):
                return True
            continue
        if name in mentioned([line]):
            return True
        if isinstance(line, Assign) and line.target is not None and name in line.target.split(", "):
            return False
    return False


__all__ = ["Callee", "EmittedHost", "ScalarType"]

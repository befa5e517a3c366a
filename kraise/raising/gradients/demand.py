"""Safe operands under masks: what no lane uses contributes exactly zero to a derivative, never NaN or inf.

Every value has a *demand*: the condition under which it is used. A write demands its value under its ``where``, a
select each arm under its condition, a reduction its body under its own ``where``; what is used several times is
demanded when any use is. Where the demand of an operation with singular partials (``1/x``, ``sqrt``, ``log``, …) is not
always true, its operand is replaced *before* the operation: ``1/x`` becomes ``1/select(demand, x, 1)``.

Conditions, subscripts and integers carry no derivative and stay as they are: what is used in a condition and as a value
may come out twice, once plain and once safe. A demand crosses statements only backwards to what it can see, and enters
a fold only as far as it is the same in every round; otherwise it is weakened, which never changes a value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kraise.ir.equations import (
    Cast,
    Const,
    Expr,
    Fold,
    Helper,
    HelperCall,
    Index,
    Kernel,
    Name,
    New,
    Op,
    Param,
    Reduce,
    Scan,
    Stmt,
    Version,
    Write,
)
from kraise.ir.walk import (
    children,
    free_indices,
    map_statement,
    rebuild,
    statement_expressions,
    substitute,
    topological,
    transform,
)
from kraise.raising.gradients import once
from kraise.raising.gradients.absent import Absent
from kraise.raising.gradients.conditions import ALWAYS, NEVER, Conjunction, Demand
from kraise.raising.gradients.divided import one_quotient, settled
from kraise.raising.gradients.frozen import frozen
from kraise.raising.gradients.hazards import (
    CONSTANTS,
    at_origin,
    constant_like,
    first_power,
    hazards,
    is_safe_value,
    overflows,
    push_through,
)
from kraise.raising.gradients.intervals import verdict
from kraise.raising.gradients.picked import Points, constant_at_point, zero_from_zero
from kraise.raising.gradients.row_shifts import unshifted_rows
from kraise.raising.gradients.shifts import unshifted
from kraise.raising.gradients.stored_shifts import unshifted_stores
from kraise.raising.gradients.usage import Site, Unit, Usage, value_children
from kraise.raising.run import simplify


def make_safe(kernel: Kernel) -> Kernel:
    """The kernel with safe operands wherever a lane may not use a value; in the lanes that do, values are the same."""
    kernel, push = unshifted_stores(unshifted(kernel)), _pushing()
    helpers = {h.name: replace(h, body=tuple(map(push, h.body))) for h in kernel.helpers}
    safe = tuple(replace(h, body=_secured_body(helpers[h.name], helpers)) for h in kernel.helpers)
    pushed = _map_values(kernel, lambda site, e: push(e), rename=push)
    return replace(unshifted_rows(_secured(frozen(_without_absent(pushed)), helpers)), helpers=safe)


def _without_absent(kernel: Kernel) -> Kernel:
    """The kernel with the loads put to zero that no lane makes and a derivative would meet."""
    absent = Absent(Usage(kernel))
    if not absent.sites:
        return kernel
    all_over = absent.everywhere
    read_as = {n.expr: n.name for n in kernel.names}
    zeroed = {
        z: "safe_" + read_as[r] for zs in (all_over, *absent.sites.values()) for r, z in zs.items() if r in read_as
    }
    by_site = {s: {r: z for r, z in zs.items() if r not in all_over} for s, zs in absent.sites.items()}
    kernel = _map_values(kernel, lambda site, e: _replacing(by_site.get(site, {}))(e))

    memo: dict[Expr, Expr] = {}

    def everywhere(e: Expr) -> Expr:
        return transform(e, lambda node: all_over.get(node, node), memo)

    return replace(
        kernel,
        body=tuple(map_statement(s, everywhere) for s in kernel.body),
        returns=tuple(r if isinstance(r, Version) else everywhere(r) for r in kernel.returns),
        names=(
            *(replace(n, expr=everywhere(n.expr)) for n in kernel.names if n.expr not in all_over),
            *kernel.names,
            *(Name(z, name) for z, name in zeroed.items()),
        ),
    )


def _secured_body(helper: Helper, helpers: dict[str, Helper]) -> tuple[Expr, ...]:
    returns = _secured(Kernel(helper.name, (), (), helper.body), helpers).returns
    return tuple(r for r in returns if not isinstance(r, Version))


def _secured(kernel: Kernel, helpers: dict[str, Helper]) -> Kernel:
    """The kernel rewritten by its demands; calls of helpers that a mask must enter are inlined."""
    securing = _Securing(kernel)
    inlined = securing.unsafe_calls(helpers)
    if not inlined:
        return securing.rewritten()
    entered = _replacing(inlined)
    kernel = _map_values(kernel, lambda site, e: entered(e), rename=entered)
    return _secured(kernel, helpers)


def _new_values(root: Expr, memo: dict[Expr, Expr], fn: Callable[[Expr], Expr]) -> Expr:
    """``fn`` bottom-up on the nodes through which a derivative flows; the rest stays; ``memo`` is for several calls."""
    for node in topological((root,), lambda n: () if n in memo else value_children(n)):
        if node not in memo:
            memo[node] = fn(node)
    return memo[root]


def _over(node: Expr, memo: dict[Expr, Expr]) -> Expr:
    values = set(value_children(node))
    new = rebuild(node, tuple(memo[c] if c in values else c for c in children(node)))
    if new is not node and isinstance(new, Op) and new.name == "select":
        return simplify.op(new.name, new.args, new.type)  # an arm may have got the same condition
    return new


def _pushing() -> Callable[[Expr], Expr]:
    memo: dict[Expr, Expr] = {}
    return lambda root: _new_values(root, memo, lambda node: push_through(one_quotient(_over(node, memo))))


def _replacing(mapping: dict[Expr, Expr]) -> Callable[[Expr], Expr]:
    memo: dict[Expr, Expr] = {}
    return lambda root: _new_values(root, memo, lambda n: mapping[n] if n in mapping else _over(n, memo))


def _map_values(
    kernel: Kernel, fn: Callable[[Site, Expr], Expr], rename: Callable[[Expr], Expr] | None = None
) -> Kernel:
    """The kernel with ``fn`` applied to each expression that is a value (not to conditions, subscripts and bounds)."""

    def statement(stmt: Stmt, path: Site) -> Stmt:
        match stmt:
            case Write():
                return replace(stmt, value=fn(path, stmt.value))
            case New():
                return stmt if stmt.fill is None else replace(stmt, fill=fn(path, stmt.fill))
            case Fold():
                scalars = tuple(
                    replace(s, init=fn((*path, "init"), s.init), update=fn((*path, "update"), s.update))
                    for s in stmt.scalars
                )
                outputs = tuple(replace(o, value=fn((*path, "update"), o.value)) for o in stmt.outputs)
                return replace(stmt, scalars=scalars, outputs=outputs, body=statements(stmt.body, path))
        raise AssertionError(stmt)

    def statements(body: tuple[Stmt, ...], path: Site) -> tuple[Stmt, ...]:
        return tuple(statement(s, (*path, k)) for k, s in enumerate(body))

    names = kernel.names
    if rename is not None:
        moved = (replace(n, expr=rename(n.expr)) for n in names)
        names = tuple(dict.fromkeys(pair for n, m in zip(names, moved, strict=True) for pair in (n, m)))
    return replace(
        kernel,
        body=statements(kernel.body, ()),
        returns=tuple(r if isinstance(r, Version) else fn(("return",), r) for r in kernel.returns),
        names=names,
    )


class _Securing:
    """A kernel rewritten by the demands of its values."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.usage = Usage(kernel)
        self.conditions = self.usage.conditions
        self.units = self.usage.units
        self.points = Points(kernel.body, [unit.order() for unit in self.units.values()])

    # --- helpers -----------------------------------------------------------------------------

    def unsafe_calls(self, helpers: dict[str, Helper]) -> dict[Expr, Expr]:
        """Calls under a mask of helpers that are not safe for every argument, with what they stand for."""
        found: dict[Expr, Expr] = {}
        for unit in self.units.values():
            for node, demand in unit.demands.items():
                masked = demand not in (ALWAYS, NEVER) or node in self.points.picked
                if isinstance(node, HelperCall) and masked and node not in found:
                    helper = helpers.get(node.function)
                    if helper is not None and len(helper.body) == 1 and _is_hazardous(helper, helpers):
                        mapping: dict[Expr, Expr] = {
                            Param(p.name, p.type): arg for p, arg in zip(helper.params, node.args, strict=True)
                        }
                        found[node] = substitute(helper.body[0], mapping)
        return found

    # --- rewriting ---------------------------------------------------------------------------

    def rewritten(self) -> Kernel:
        """The kernel with safe operands; names follow the values they name."""
        names = {n.expr: n.name for n in reversed(self.kernel.names)}
        safe_names: dict[Expr, str] = {}
        for unit in self.units.values():
            wanted = once.wanted_plain(unit, self.conditions)
            for node in unit.order():
                new = _over(node, unit.done)
                if node in wanted and once.widen(unit, self.conditions, node, wanted[node]):
                    unit.done[node] = zero_from_zero(new)
                    continue
                if (safe := self._safe(unit, node, new, names, safe_names)) is not new:
                    unit.masked.add(node)
                unit.done[node] = settled(self._constant(unit, node, safe))
        shared = {site: found for site, unit in self.units.items() if (found := once.shared(unit, self.conditions))}

        def secured(site: Site, e: Expr) -> Expr:
            done = self.units[site].done.get(e, e)
            return transform(done, lambda node: node, dict(shared[site])) if site in shared else done

        kernel = _map_values(self.kernel, secured)
        for found in shared.values():
            safe_names |= {transform(e, lambda node: node, dict(found)): text for e, text in safe_names.items()}
        return replace(kernel, names=self._names(kernel, safe_names, secured))

    def _safe(self, unit: Unit, node: Expr, new: Expr, names: dict[Expr, str], safe_names: dict[Expr, str]) -> Expr:
        demand = unit.demands[node]
        if isinstance(node, Op) and node.name == "pow" and not all(self._off_zero(c, node.args) for c in demand):
            plain = new
            if isinstance(plain, Op) and plain.name == "pow" and (guarded := at_origin(plain)) is not plain:
                return first_power(plain, self._guarded(unit, node, guarded, demand, names, safe_names))
        return self._guarded(unit, node, new, demand, names, safe_names)

    def _guarded(
        self, unit: Unit, node: Expr, new: Expr, demand: Demand, names: dict[Expr, str], safe_names: dict[Expr, str]
    ) -> Expr:
        """The node with safe operands where no lane uses it."""
        if demand in (ALWAYS, NEVER):
            return new
        if isinstance(node, Op) and isinstance(new, Op) and new.name == node.name:
            args = list(new.args)
            for k, value in hazards(node, unit.axes[node]):
                args[k] = self._masked(unit, node, k, new.args[k], value, demand)
                if args[k] is not new.args[k] and node.args[k] in names:
                    safe_names[args[k]] = "safe_" + names[node.args[k]]
            new = Op(new.name, tuple(args), new.type)
        if isinstance(new, Reduce | Scan) and overflows(node):
            new = self._tame(unit, new, demand)
        if any(node in _tested(self.conditions.shown(lit)) for c in demand for lit in c):
            # the mask asks whether the value is a number: in the other lanes it must not reach a product
            new = simplify.select(self.conditions.expression(demand), new, constant_like(0, new.type), new.type)
        return new

    def _constant(self, unit: Unit, node: Expr, new: Expr) -> Expr:
        """A constant where the slope is infinite, if nothing depends on it there."""
        demand = unit.demands[node]
        if not (isinstance(node, Op) and isinstance(new, Op) and new.name == node.name) or demand == NEVER:
            return new
        axes = unit.axes[node]
        singular = tuple(node.args[k] for k, _ in hazards(node, axes))
        if not singular or (demand != ALWAYS and all(self._off_zero(c, singular) for c in demand)):
            return new
        return constant_at_point(new) if self.points.holds(node, demand, axes, self.conditions) else new

    def _tame(self, unit: Unit, node: Reduce | Scan, demand: Demand) -> Expr:
        """A long product whose factors are one where no lane uses it: a large factor's powers overflow."""
        own = node.axes if isinstance(node, Reduce) else (node.axis,)
        names = frozenset(a.name for a in own)
        demand = self.conditions.weaken(demand, lambda lit: not self.conditions.free(lit) & names)
        ambient = self.usage.ambient[unit.scope]
        if not free_indices(node.body) - ambient - names:
            demand = self.conditions.weaken(demand, lambda lit: not self.conditions.free(lit) - ambient)
        if demand == ALWAYS or self._elsewhere(node.body, demand, 8) in (0.0, 1.0):
            return node
        mask, one = self.conditions.expression(demand), constant_like(1, node.body.type)
        return replace(node, body=simplify.select(mask, node.body, one, node.body.type))

    def _off_zero(self, conjunction: Conjunction, values: tuple[Expr, ...]) -> bool:
        """Whether a condition rules out that one of the values is zero."""
        for value in values:
            if isinstance(value, Index):
                continue
            at_zero: dict[Expr, Expr] = {v: constant_like(0, v.type) for v in _vanishing(value)}
            if any(verdict(substitute(self.conditions.shown(lit), at_zero)) is False for lit in conjunction):
                return True
        return False

    def _masked(self, unit: Unit, node: Op, k: int, operand: Expr, value: int, demand: Demand) -> Expr:
        """The operand where it is used, a safe value elsewhere."""
        ambient = self.usage.ambient[unit.scope]
        if not free_indices(operand) - ambient:
            # a value for all lanes at once: only a condition for all lanes at once guards it
            demand = self.conditions.weaken(demand, lambda lit: not self.conditions.free(lit) - ambient)
        if demand == ALWAYS:
            return operand
        elsewhere = self._elsewhere(operand, demand, 8)
        if elsewhere is not None and is_safe_value(node.name, k, elsewhere):
            return operand
        mask = self.conditions.expression(demand)
        return simplify.select(mask, operand, constant_like(value, operand.type), operand.type)

    def _elsewhere(self, value: Expr, demand: Demand, depth: int) -> float | None:
        """The constant that a value is in the lanes outside the demand, if it is one."""
        match value:
            case Const(value=bool() | int() | float() as number):
                return float(number)
            case Op(name="select", args=(c, a, b)) if depth or isinstance(a, Const) or isinstance(b, Const):
                for other, holds in ((b, True), (a, False)):
                    if (depth or isinstance(other, Const)) and self.conditions.implies(c, holds, demand):
                        return self._elsewhere(other, demand, max(depth - 1, 0))
            case Cast(arg=arg) if depth:
                return self._elsewhere(arg, demand, depth - 1)
            case Op(name=name, args=args) if depth and name in CONSTANTS:
                known = [self._elsewhere(a, demand, depth - 1 if k == 0 else depth // 2) for k, a in enumerate(args)]
                numbers = [x for x in known if x is not None]
                return CONSTANTS[name](*numbers) if len(numbers) == len(args) else None
        return None

    def _names(
        self, kernel: Kernel, safe_names: dict[Expr, str], secured: Callable[[Site, Expr], Expr]
    ) -> tuple[Name, ...]:
        roots = [e for s in kernel.body for e in statement_expressions(s)]
        roots += [r for r in kernel.returns if not isinstance(r, Version)]
        roots += [condition for condition, _ in kernel.checks]
        reachable = set(topological(roots))
        found: dict[Expr, Name] = {}
        for name in kernel.names:
            new = [secured(site, name.expr) for site, u in self.units.items() if name.expr in u.done]
            for e in (name.expr, *new):
                if e in reachable:
                    found.setdefault(e, replace(name, expr=e))
        for e, text in safe_names.items():
            if e in reachable:
                found.setdefault(e, Name(e, text))
        return tuple(found.values())


def _vanishing(value: Expr) -> list[Expr]:
    """The value and what is zero exactly where it is."""
    found = [value]
    while True:
        match found[-1]:
            case Op(name="neg" | "abs" | "sqrt", args=(inner,)) | Cast(arg=inner) if inner.type.is_inexact:
                found.append(inner)
            case Op(name="neg" | "abs" | "sqrt", args=(inner,)) if inner.type.kind == "number":
                found.append(inner)
            case Op(name="mul", args=(inner, other)) if inner is other:
                found.append(inner)
            case _:
                return found


_TESTS = ("isnan", "isfinite", "isinf")


def _tested(condition: Expr) -> tuple[Expr, ...]:
    """The values that a condition asks to be numbers (``isnan(x)``, ``x != x`` and their negations), also as that no
    round so far was one of those that end at such a value (``j < min(k where isnan(x[k]))``)."""
    match condition:
        case Op(name="not", args=(inner,)):
            return _tested(inner)
        case Op(name=name, args=(x,)) if name in _TESTS:
            return (x,)
        case Op(name="eq" | "ne", args=(x, y)) if x is y:
            return (x,)
        case Op(name="lt" | "gt" as name, args=(Index() as at, Reduce(axes=(axis,), body=Index() as body) as first)):
            ends = {"lt": "min", "gt": "max"}[name]
            if first.op == ends and body.name == axis.name and first.where is not None:
                return _ending(substitute(first.where, {body: at}))
    return ()


def _ending(condition: Expr) -> tuple[Expr, ...]:
    match condition:
        case Op(name="or", args=(a, b)):
            return (*_ending(a), *_ending(b))
    return _tested(condition)


def _is_hazardous(helper: Helper, helpers: dict[str, Helper]) -> bool:
    for node in topological(helper.body, value_children):
        inner = helpers.get(node.function) if isinstance(node, HelperCall) else None
        if (isinstance(node, Op) and hazards(node)) or (inner is not None and _is_hazardous(inner, helpers)):
            return True
    return False

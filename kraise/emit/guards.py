"""An early return for arrays too small to hold anything that is written: bounds below it need no ``max(n - 1, 0)``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kraise.emit import tree
from kraise.emit.context import Assign, Context, Raw, Stmt
from kraise.emit.loads.masks import conjuncts
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear, nonnegative
from kraise.emit.text.python import Atom, Py, flat
from kraise.ir import equations as eq
from kraise.ir.types import INT32

Access = tuple[str, tuple[eq.Expr, ...]]
Axes = tuple[eq.Axis, ...]
_WORTH = 2  # bounds that an early return must spare


def assumable(context: Context, kernel: eq.Kernel) -> tuple[Linear, ...]:
    """Those of the sums that were cut off at zero below which the kernel writes nothing at all."""
    if not all(isinstance(v, eq.Version) and v.array in context.params for v in kernel.returns):
        return ()
    found: list[Linear] = []
    for value in dict.fromkeys(context.clamped):
        if _plain(value) and _writes_nothing(context, kernel.body, value):
            found.append(value)
    best = strongest(tuple(found))
    spared = sum(any(nonnegative(c - v) for v in best) for c in context.clamped)
    return best if spared >= _WORTH else ()


def asks_for_width(condition: eq.Expr) -> bool:
    """Whether a static condition is needed only where JAX computes in 32 bits."""
    return any(isinstance(n, eq.Param) and n.name == "x64.given" for n in tree.walk(condition))


def strongest(sums: tuple[Linear, ...]) -> tuple[Linear, ...]:
    """Of several for one size the one that says it all."""
    once: list[Linear] = []
    for v in sums:
        if not any(v.same(o) for o in once):
            once.append(v)
    return tuple(v for v in once if not any(v is not o and nonnegative(v - o) for o in once))


def idle(context: Context, kernel: eq.Kernel) -> tuple[Linear, ...]:
    """Sums below zero where the kernel writes nothing, but a fixed position in its text (``x[0]``) would raise."""
    if not all(isinstance(v, eq.Version) and v.array in context.params for v in kernel.returns):
        return ()
    edges = [v for s in tree.statements(kernel.body) if isinstance(s, eq.Write) for v in rooms(s)]
    found = {v: None for v in edges if _plain(v) and _writes_nothing(context, kernel.body, v)}
    for site in _sites(context, kernel.body, ()):
        needs = [f for f in site.forms if f.terms and not nonnegative(f)]
        if not needs:
            continue
        surely = needs if site.entry else [f for f in site.loads if f.terms]
        sizes = [linear(a.hi) - linear(a.lo) + -1 for a in site.axes]
        empty = [z for z in sizes if _plain(z) and _writes_nothing(context, kernel.body, z)]
        for need in needs:
            # what says the most about the position, or all that there is
            chosen = [z for z in empty if nonnegative(need - z)][:1]
            if not chosen and _one_axis(context, need):
                chosen = [z for z in empty if isinstance(z.terms[0][0], eq.Shape)]
            found.update(dict.fromkeys(chosen or (empty[:1] if need in surely and _one_axis(context, need) else ())))
    return strongest(tuple(found))


@dataclass(frozen=True)
class _Site:
    """What must not be negative for the text of a part to run; the accesses in it; the axes of the part, of which the
    source would see that one is empty."""

    forms: list[Linear]
    accesses: list[Access]
    axes: Axes
    loads: list[Linear]  # those of the forms that the positions of loads ask for
    entry: bool = False  # what a loop starts from


def _sites(context: Context, body: tuple[eq.Stmt, ...], around: Axes) -> Iterator[_Site]:
    """The parts of ``body``, folds taken apart."""
    begins = {c.outside: s.axis for s in body if isinstance(s, eq.Fold) and s.axis is not None for c in s.arrays}
    for stmt in body:
        match stmt:
            case eq.Write(after=after, axes=axes) if after in begins and after.array not in context.params:
                # a row that a loop starts from
                site = _site(context, tree.statement_roots(stmt), (*around, begins[after], *axes))
                loads = [n for n in tree.walk(stmt.value) if isinstance(n, eq.Read) and n.view]
                viewed = [_below(s, e) for n in loads for s, e in zip(n.subscripts, n.view, strict=True) if _known(s)]
                yield replace(site, forms=[*site.forms, *viewed], entry=True)
            case eq.Write(before=before, subscripts=subscripts, axes=axes, view=view):
                own: list[Access] = [] if view else [(before.array, subscripts)]
                yield _site(context, tree.statement_roots(stmt), (*around, *axes), own)
            case eq.Fold(axis=axis, body=inner, scalars=scalars, outputs=outputs, condition=condition):
                within = around if axis is None else (*around, axis)
                for s in scalars:
                    # not used where there is no round, and read by the first one that there is
                    yield replace(_site(context, (s.init,), (*within, *s.axes)), entry=True)
                    yield _site(context, (s.update,), (*within, *s.axes))
                for o in outputs:
                    yield _site(context, (o.value,), (*within, *o.axes))
                if condition is not None:
                    yield _site(context, (condition,), within)
                yield from _sites(context, inner, within)


def _site(context: Context, roots: Iterable[eq.Expr], axes: Axes, own: list[Access] | None = None) -> _Site:
    accesses = list(own or ())
    forms: list[Linear] = []
    clamped = {n for r in tree.walk(*roots) if isinstance(r, eq.Read) for s in r.subscripts for n in tree.walk(s)}
    for node in tree.walk(*roots):
        match node:
            case eq.Read(version=version, subscripts=subscripts, view=view, outside=outside):
                accesses += [] if view else [(version.array, subscripts)]
                forms += [linear(o.limit) + -1 for o in outside if o is not None and o.edge]
                if (
                    view
                    and isinstance(view[0], eq.Op)
                    and any(isinstance(n, eq.Read) for n in tree.walk(subscripts[0]))
                ):
                    forms += [linear(v) + -1 for v in view[0].args[1:] if view[0].name == "floordiv" and _known(v)]
            case eq.Op(name="mod" | "floordiv" | "tmod" | "tdiv", args=(a, b)) if _known(a) and _known(b):
                forms.append(linear(b) + -1)
            case eq.ArgReduce(op="min" | "max", axis=axis):  # of nothing, it raises
                forms.append(linear(axis.hi) - linear(axis.lo) + -1)
            case eq.Op(name="min" | "max", args=(a, b)) if node in clamped:
                forms += _repeated(a, b, axes) + _repeated(b, a, axes)
    accesses = [a for a in accesses if a[0] in context.params]
    forms += [f for array, subscripts in accesses for f in _positions(array, subscripts)]
    written = set(own or ())
    loads = [f for a in accesses if a not in written for f in _positions(*a)]
    return _Site(forms, accesses, axes, loads)


def _repeated(moving: eq.Expr, end: eq.Expr, axes: Axes) -> list[Linear]:
    """The edge of an axis that is empty cannot be repeated (``x[max(i - 1, 0)]``)."""
    form = linear(moving)
    if len(form.terms) != 1 or form.terms[0][1] != 1 or not _known(end):
        return []
    return [
        linear(a.hi) - linear(a.lo) + -1 for a in axes if form.terms[0][0] is eq.Index(a.name, form.terms[0][0].type)
    ]


def _one_axis(context: Context, need: Linear) -> bool:
    """Whether a size is all of an array: an axis of a few components beside others has its extent by convention."""
    return all(not isinstance(a, eq.Shape) or context.ndim.get(a.array) == 1 for a, _ in need.terms)


def _positions(array: str, subscripts: tuple[eq.Expr, ...]) -> list[Linear]:
    """A fixed position must be inside its axis."""
    found: list[Linear] = []
    for k, s in enumerate(subscripts):
        if _known(s):
            found += [linear(s), _below(s, eq.Shape(array, k, INT32))]
    return found


def _below(position: eq.Expr, end: eq.Expr) -> Linear:
    return linear(end) - linear(position) + -1


def _known(node: eq.Expr) -> bool:
    return all(isinstance(n, eq.Const | eq.Shape | eq.Param | eq.Op) for n in tree.walk(node))


def _plain(value: Linear) -> bool:
    one = len(value.terms) == 1 and value.terms[0][1] == 1 and value.constant < 0
    atom = value.terms[0][0] if one else None
    return isinstance(atom, eq.Shape) or (isinstance(atom, eq.Param) and "." not in atom.name)


def implied(kernel: eq.Kernel) -> tuple[Linear, ...]:
    """Sums that are not negative because the kernel reads and writes such a position whatever the data: in a statement
    that has a point at every size, and not in an operand that may not be reached."""
    found: list[Linear] = []
    for stmt in kernel.body:
        if not isinstance(stmt, eq.Write) or stmt.where is not None or stmt.view:
            continue
        if not all(nonnegative(linear(a.hi) - linear(a.lo) + -1) for a in stmt.axes):
            continue
        sites = [(stmt.after.array, stmt.subscripts)]
        stack: list[eq.Expr] = [stmt.value]
        seen: set[eq.Expr] = set()
        while stack:
            top = stack.pop()
            if top in seen:
                continue
            seen.add(top)
            match top:
                case eq.Op(name=name, args=args) if name not in ("select", "and", "or"):
                    stack.extend(args)
                case eq.Cast(arg=arg):
                    stack.append(arg)
                case eq.Read(version=version, subscripts=subscripts, view=(), safe=False):
                    sites.append((version.array, subscripts))
        for array, subscripts in sites:
            for k, s in enumerate(subscripts):
                form = linear(s)
                if all(isinstance(a, eq.Shape | eq.Param) for a, _ in form.terms):
                    found += [form, linear(eq.Shape(array, k, INT32)) - form + -1]
    return tuple(f for f in dict.fromkeys(found) if f.terms and not nonnegative(f))


def checked_sizes(kernel: eq.Kernel) -> tuple[Linear, ...]:
    """Sums that are not negative because the function has raised otherwise: ``w - 3`` where ``w >= 3`` must hold."""
    found = []
    for condition, _ in kernel.checks:
        match condition:
            case eq.Op(name="ge", args=(eq.Param() as size, eq.Const(value=int() as least))):
                found.append(linear(size) + -least)
            case eq.Op(name="le", args=(a, b)) if _known(condition):
                found.append(linear(b) - linear(a))
    return tuple(found)


def sizes(context: Context, kernel: eq.Kernel, assumed: tuple[Linear, ...]) -> dict[str, bool]:
    """The static parameters that the text takes to be 0 or more, and whether the kernel does nothing where one is 0 or
    less: a caller may give 0 in place of what is below it."""
    told = (*assumed, *checked_sizes(kernel))
    asked = sorted(context.asked & context.statics)
    own = all(isinstance(v, eq.Version) and v.array in context.params for v in kernel.returns)
    found: dict[str, bool] = {}
    for p in kernel.params:
        name = p.name  # type: ignore[attr-defined]
        size = linear(eq.Param(name, p.type)) if name in asked else Linear()  # type: ignore[attr-defined]
        if name in asked and not any(nonnegative(size - t) for t in told):
            whole = tuple(_ending(s, name) for s in kernel.body)
            ends = [a.hi for s in tree.statements(whole) if isinstance(s, eq.Write) for a in s.axes]
            spelled = {n for n in tree.walk(*ends) if isinstance(n, eq.Param) and n.name == name}
            found[name] = own and any(_writes_nothing(context, whole, linear(n) + -1) for n in spelled)
    return found


def _ending(stmt: eq.Stmt, name: str) -> eq.Stmt:
    """A statement whose ranges that end before others and the parameter (``min(n, 2)``) end where that says."""

    def longer(axis: eq.Axis) -> eq.Axis:
        match axis.hi:
            case eq.Op(name="min", args=args):
                return replace(axis, hi=next((a for a in args if isinstance(a, eq.Param) and a.name == name), axis.hi))
        return axis

    match stmt:
        case eq.Write(axes=axes):
            return replace(stmt, axes=tuple(map(longer, axes)))
        case eq.Fold(axis=axis, body=body):
            axis = None if axis is None else longer(axis)
            return replace(stmt, axis=axis, body=tuple(_ending(s, name) for s in body))
    return stmt


def _writes_nothing(context: Context, body: tuple[eq.Stmt, ...], value: Linear) -> bool:
    """Whether no statement does anything where ``value`` is negative."""
    for stmt in body:
        match stmt:
            case eq.Write(before=before) if before.array not in context.params:
                continue  # the kernel's own
            case eq.Write(axes=axes):
                fails = any(nonnegative(value - c) for c in rooms(stmt))
                if not fails and not any(_empty(a, value) for a in axes):
                    return False
            case eq.Fold(axis=axis, body=inner, scalars=scalars, outputs=outputs):
                if axis is not None and _empty(axis, value):
                    continue
                idle = not outputs or all(any(_empty(a, value) for a in o.axes) for o in outputs)
                idle = idle and all(any(_empty(a, value) for a in s.axes) for s in scalars)
                if not idle or not _writes_nothing(context, inner, value):
                    return False
    return True


def rooms(stmt: eq.Write) -> list[Linear]:
    """The sums of sizes that a store needs not to be negative: an array has an edge if it has elements."""
    parts = conjuncts(stmt.where) if stmt.where is not None else ()
    return [r for r in map(room, parts) if r is not None]


def room(condition: eq.Expr) -> Linear | None:
    """``n >= 2`` as a sum that is not negative, if it is such a condition."""
    match condition:
        case eq.Op(name="ge", args=(a, b)) if a.type.is_integer and b.type.is_integer and _known(condition):
            return linear(a) - linear(b)
    return None


def _empty(axis: eq.Axis, value: Linear) -> bool:
    """Whether ``value <= -1`` leaves the axis no point."""
    return nonnegative(value + 1 - (linear(axis.hi) - linear(axis.lo)))


def early_return(context: Context, kernel: eq.Kernel, assumed: tuple[Linear, ...]) -> list[Stmt]:
    """``if min(u.shape) < 2: return u``."""
    if not assumed:
        return []
    groups: dict[int, list[Py]] = {}
    arrays: dict[int, list[eq.Expr]] = {}
    for v in assumed:
        groups.setdefault(-v.constant, []).append(context.static(Linear(v.terms)))
        arrays.setdefault(-v.constant, []).append(v.terms[0][0])
    tests = []
    for least, sizes in groups.items():
        whole = _whole_shape(context, arrays[least])
        if least == 1 and all(isinstance(s, eq.Shape) for s in arrays[least]):
            if whole is not None and len(sizes) > 1:
                tests.append(py.Bin("in", py.number(0), whole))
            else:
                tests += [py.Bin("==", s, py.number(0)) for s in sizes]
            continue
        size = sizes[0] if len(sizes) == 1 else py.call("min", whole) if whole is not None else py.call("min", *sizes)
        tests.append(py.Bin("<", size, py.number(least)))
    test: Py = tests[0]
    for t in tests[1:]:
        test = py.Bin("or", test, t)
    values = [Atom(context.param_text(v.array)) for v in kernel.returns]  # type: ignore[union-attr]
    value = values[0] if len(values) == 1 else py.Tup(tuple(values))
    return [Raw(f"if {flat(test)}:", [Assign(None, value)])]


def _whole_shape(context: Context, sizes: list[eq.Expr]) -> Py | None:
    """``u.shape`` if the sizes are those of all axes of ``u``."""
    shapes = [s for s in sizes if isinstance(s, eq.Shape)]
    if len(shapes) != len(sizes) or len({s.array for s in shapes}) != 1:
        return None
    if {s.axis for s in shapes} != set(range(context.ndim.get(shapes[0].array, 0))):
        return None
    return Atom(f"{context.param_text(shapes[0].array)}.shape")

"""Sums of products: ``A @ B``, ``A @ x`` or ``einsum`` in place of a broadcast product and a sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kraise.emit.context import Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.sums.widths import summed_width
from kraise.emit.text import python as py
from kraise.emit.text.linear import linear
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq
from kraise.ir.open_types import is_open, like
from kraise.ir.types import FLOAT, INT, NUMBER, ScalarType
from kraise.ir.walk import children, topological


@dataclass
class Product:
    """``sign * prod(factors) / prod(divisors)``."""

    factors: list[eq.Expr]
    divisors: list[eq.Expr]
    negative: bool = False


def factored(low: Lowering, node: eq.Expr, summed: set[str]) -> Product:
    """The factors of a product; a divisor stays one only if it does not hold a summed index."""
    out = Product([], [])
    stack = [node]
    while stack:
        top = stack.pop()
        keep = top is not node and low.ctx.uses[top] > 1 and bool(low.ctx.free(top) & summed)
        match top:
            case eq.Op(name="mul", args=(a, b)) if not keep and top.type.kind != "bool":
                stack += [b, a]
            case eq.Op(name="neg", args=(a,)) if not keep:
                out.negative = not out.negative
                stack.append(a)
            case eq.Op(name="div", args=(a, b)) if not keep and not low.ctx.free(b) & summed:
                out.divisors.append(b)
                stack.append(a)
            case _:
                out.factors.append(top)
    return out


def contract(low: Lowering, node: eq.Reduce, frame: Frame, own: Frame) -> Val | None:
    """The sum as a contraction with what is free of the summed indices outside, or None where a plain sum is right."""
    summed = {a.name for a in node.axes}
    if not summed <= low.ctx.free(node.body):
        return None
    parts = factored(low, node.body, summed)
    parts.divisors = [counting(low, d, node.axes) for d in parts.divisors]
    inside = [f for f in parts.factors if low.ctx.free(f) & summed]
    outside = [f for f in parts.factors if not low.ctx.free(f) & summed]
    kept = kept_floats(low, node, parts, inside, outside)
    if kept is not inside:  # the source's own ``1.0 *`` has done its work
        inside, outside = kept, [f for f in outside if not (isinstance(f, eq.Const) and f.value == 1)]
    groups = grouped(low, inside, (*own, *node.axes), frozenset(summed))
    if len(groups) == 1 and not outside and not parts.divisors and not parts.negative:
        pair = dot(low, inside, node, own)
        return None if pair is None else low.extend(pair, own, frame)
    total = _total(low, inside, groups, node, own)
    return scaled(low, (total.py, total.axes), outside, parts, frame)


def kept_floats(
    low: Lowering, node: eq.Reduce, parts: Product, inside: list[eq.Expr], outside: list[eq.Expr]
) -> list[eq.Expr]:
    """The factors within a sum, one as floats where what is taken out of the product made floats of them all: a product
    of bytes, and a sum of such, would wrap. (``1.0 * a`` costs nothing where a holds floats; ``(0.5 * a) @ x`` for
    ``0.5 * (a @ x)`` would be one more pass over a.)"""
    if len(inside) < 2 or not all(map(is_open, inside)):
        return inside
    last = max(n for n, f in enumerate(parts.factors) if f in inside)  # in the order of the source
    early = [f for f in parts.factors[:last] if f in outside]
    numbers = any(f.type.is_inexact or (f.type == NUMBER and not low.ctx.free(f)) for f in early)
    divided = parts.divisors and not (isinstance(node.body, eq.Op) and node.body.name == "div")
    return [like(FLOAT, inside[0]), *inside[1:]] if numbers or divided else inside


def counting(low: Lowering, divisor: eq.Expr, axes: Frame) -> eq.Expr:
    """A divisor that says how many terms a sum has as at least 1: nothing is divided where there are none, and the sum
    is 0, not 0 / 0."""
    inner = divisor
    while isinstance(inner, eq.Cast):
        inner = inner.arg
    sizes = [linear(a.hi) - linear(a.lo) for a in axes]
    for factor in _factors(inner):
        own = next((at for at, size in enumerate(sizes) if size.terms and size.same(linear(factor))), None)
        if own is None or not factor.type.is_integer or not low.ctx.is_static(factor):
            return divisor
        del sizes[own]
    return eq.Op("max", (inner, eq.Const(1, INT)), INT) if len(sizes) < len(axes) else divisor


def _factors(e: eq.Expr) -> list[eq.Expr]:
    """The factors of a product of integers besides positive numbers."""
    match e:
        case eq.Op(name="mul", args=args):
            return [f for a in args for f in _factors(a)]
        case eq.Const(value=int() as value) if value > 0:
            return []
    return [e]


def _counts(low: Lowering, divisor: eq.Expr) -> bool:
    """Whether it is what :func:`counting` makes of sizes."""
    match divisor:
        case eq.Op(name="max", args=(size, one)):
            return one == eq.Const(1, INT) and size.type.is_integer and low.ctx.is_static(size)
    return False


def scaled(low: Lowering, core: tuple[Py, Frame], outside: list[eq.Expr], parts: Product, frame: Frame) -> Val:
    """A sum over its own axes times what is free of the summed indices, over the frame."""
    value = low.extend(core[0], core[1], frame)
    text: Py = py.Un("-", value.py) if parts.negative else value.py
    before = [low.lower(f, frame) for f in outside]
    below = [Val(low.ctx.static(f), (), 0) if _counts(low, f) else low.lower(f, frame) for f in parts.divisors]
    if before:
        front = before[0].py
        for b in before[1:]:
            front = py.Bin("*", front, b.py)
        text = py.Bin("*", front, text)
    for b in below:
        text = py.Bin("/", text, b.py)
    every = [value, *before, *below]
    held = {a for v in every for a in v.axes}
    return Val(text, tuple(a for a in frame if a in held), max(v.rank for v in every))


def grouped(
    low: Lowering, factors: list[eq.Expr], frame: Frame, summed: frozenset[str]
) -> list[tuple[frozenset[str], list[eq.Expr]]]:
    """Factors gathered so that no group's indices hold another's."""
    names = {a.name for a in frame}
    groups: list[tuple[frozenset[str], list[eq.Expr]]] = []
    by_size = sorted(range(len(factors)), key=lambda k: (-len(low.ctx.free(factors[k]) & names), k))
    for k in by_size:
        own = low.ctx.free(factors[k]) & names
        home = next((g for g in groups if own <= g[0]), None)
        if home is None:
            groups.append((own, [factors[k]]))
        else:
            home[1].append(factors[k])
    if len(groups) == 1:
        # A[i, k] * x[k]: one factor holds every index, but the others contract with it
        held, members = groups[0]
        whole = [f for f in members if low.ctx.free(f) & names == held]
        partial = [f for f in members if low.ctx.free(f) & names != held]
        if partial and summed <= frozenset().union(*(low.ctx.free(f) for f in partial)):
            groups = [(held, whole), (frozenset().union(*(low.ctx.free(f) & names for f in partial)), partial)]
    order = {id(f): k for k, f in enumerate(factors)}
    for _, members in groups:
        members.sort(key=lambda f: order[id(f)])
    groups.sort(key=lambda g: min(order[id(f)] for f in g[1]))
    return groups


def dot(low: Lowering, factors: list[eq.Expr], node: eq.Reduce, own: Frame) -> Py | None:
    """``x @ y`` of two different vectors."""
    if own or len(node.axes) != 1 or len(factors) != 2 or factors[0] is factors[1]:
        return None
    if node.type.kind == "bool" or any(f.type.kind == "bool" for f in factors):
        return None
    return py.Bin("@", *operands(low, node, factors, lambda _: node.axes))


def operands(low: Lowering, node: eq.Reduce, factors: list[eq.Expr], frame: Callable[[int], Frame]) -> list[Py]:
    """The factors of a contraction over their frames, the first as numbers of the sum's type if it is open what they
    all hold: JAX's product adds bytes up in bytes, and of booleans it makes a boolean."""
    if not all(map(is_open, factors)) or node.type not in (FLOAT, NUMBER):
        return [low.lower(f, frame(n)).py for n, f in enumerate(factors)]
    into, own = low.ctx.into.get(node), factors[0].version if isinstance(factors[0], eq.Read) else None
    if node.type == FLOAT or into is None or own is None or not _is_given(low, into, own):
        factors, into = [like(FLOAT if node.type == FLOAT else INT, factors[0]), *factors[1:]], None
    texts = [low.lower(f, frame(n)).py for n, f in enumerate(factors)]
    if into is not None and own is not None and into.array != own.array:
        of = [Atom(low.ctx.param_text(v.array)) for v in (own, into)]
        texts[0] = py.method(texts[0], "astype", py.call("jnp.result_type", *of))
    return texts


def _is_given(low: Lowering, *versions: eq.Version) -> bool:
    """Whether arrays are arguments of the function."""
    return all(v.array in low.ctx.ndim and v.array not in low.ctx.extents for v in versions)


def _product(members: list[eq.Expr]) -> eq.Expr:
    out = members[0]
    for m in members[1:]:
        out = eq.Op("mul", (out, m), m.type)
    return out


def _total(
    low: Lowering,
    inside: list[eq.Expr],
    groups: list[tuple[frozenset[str], list[eq.Expr]]],
    node: eq.Reduce,
    own: Frame,
) -> Val:
    names = frozenset(a.name for a in node.axes)
    if len(groups) == 1 or any(f.type.kind == "bool" for f in inside):
        body = _product(inside)
        rest = eq.Reduce("add", node.axes, body, None, node.type)
        kept = tuple(a for a in own if a.name in low.ctx.free(rest))
        return _plain(low, rest, kept)
    # sum at once what only one factor holds
    factors: list[eq.Expr] = []
    left = set(names)
    for held, members in groups:
        others = frozenset().union(*(h for h, m in groups if m is not members))
        alone = (held & names) - others
        factor = _product(members)
        if alone:
            axes = tuple(a for a in node.axes if a.name in alone)
            factor = eq.Reduce("add", axes, factor, None, _sum_type(node.type, factor))
            left -= alone
        factors.append(factor)
    axes = tuple(a for a in node.axes if a.name in left)
    kept = tuple(a for a in own if any(a.name in low.ctx.free(f) for f in factors))
    if not axes:
        values = [low.lower(f, kept) for f in factors]
        text = values[0].py
        for v in values[1:]:
            text = py.Bin("*", text, v.py)
        return Val(text, kept, len(kept))
    return Val(_contraction(low, node, factors, kept, axes), kept, len(kept))


def _sum_type(kind: ScalarType, factor: eq.Expr) -> ScalarType:
    return factor.type if factor.type.kind != "bool" and not (kind == FLOAT and is_open(factor)) else kind


def _plain(low: Lowering, node: eq.Reduce, own: Frame) -> Val:
    from kraise.emit.sums.reductions import reduction

    if len(node.axes) == 1 and not own:
        match node.body:
            case eq.Op(name="mul", args=(a, b)) if a is not b and low.ctx.uses[node.body] == 0:
                pair = dot(low, [a, b], node, own)
                if pair is not None:
                    return Val(pair, (), 0)
    inner = (*own, *node.axes)
    value = low.lower(node.body, inner)
    axes = tuple(range(len(own), len(inner)))
    width = summed_width(low.ctx, node)
    return Val(reduction("sum", value.py, axes if own else (), None, width), own, len(own))


def _contraction(low: Lowering, node: eq.Reduce, factors: list[eq.Expr], out: Frame, summed: Frame) -> Py:
    frame = (*out, *summed)
    held = [tuple(a for a in frame if a.name in low.ctx.free(f)) for f in factors]
    if len(factors) == 2 and len(summed) == 1:
        (k,) = summed
        if out and out[0] not in held[0]:
            factors, held = factors[::-1], held[::-1]
        if len(out) == 1 and held[1] == (k,) and natural(low, factors[0], held[0]) == (k, *out):
            factors, held = factors[::-1], held[::-1]  # x @ A, not A.T @ x: nothing is turned round
        a, b = (tuple(x for x in h if x is not k) for h in held)
        if len(a) <= 1 and len(b) <= 1 and (*a, *b) == out:
            return py.Bin("@", *operands(low, node, factors, ((*a, k), (k, *b)).__getitem__))
    letters = _letters(frame)
    orders: list[Frame] = []

    def order(n: int) -> Frame:
        orders.append(natural(low, factors[n], held[n]))  # after the factors before it, which may have named it
        return orders[n]

    texts = operands(low, node, factors, order)
    inputs = ",".join("".join(letters[a] for a in axes) for axes in orders)
    text = f'"{inputs}->{"".join(letters[a] for a in out)}"'
    return py.call("jnp.einsum", Atom(text), *texts)


def natural(low: Lowering, node: eq.Expr, held: Frame) -> Frame:
    """The order of the axes in which a factor is at hand: that of its variable, of a load's subscripts, or of all loads
    of as many axes in a product and the like."""
    known = low.variable(node, held)
    if known is not None and len(known[1]) == len(held):
        return known[1]
    inner = topological((node,), lambda e: () if isinstance(e, eq.Read) else children(e))
    orders = {_by_subscripts(n, held) for n in inner if isinstance(n, eq.Read)}
    orders = {o for o in orders if len(o) == len(held)}
    return orders.pop() if len(orders) == 1 else held


def _by_subscripts(node: eq.Read, held: Frame) -> Frame:
    order: list[eq.Axis] = []
    for s in node.subscripts:
        for atom, _ in sorted(linear(s).terms, key=lambda term: -term[1]):  # rows before the places in them
            found = next((a for a in held if isinstance(atom, eq.Index) and atom.name == a.name), None)
            if found is not None and found not in order:
                order.append(found)
    return tuple(order)


def _letters(frame: Frame) -> dict[eq.Axis, str]:
    out: dict[eq.Axis, str] = {}
    spare = iter("abcdefghijklmnopqrstuvwxyz")
    wanted = {a.name for a in frame}
    for a in frame:
        letter = a.name[0].lower() if a.name[0].isascii() and a.name[0].isalpha() else "a"
        if len(a.name) > 1 and letter in wanted:
            letter = ""
        while not letter or letter in out.values():
            letter = next(spare)
            if letter in wanted:
                letter = ""
        out[a] = letter
    return out

"""What a softmax over ragged rows subtracts has no derivative, either: it is a maximum that lies in an array of rows.

``top[row[e]]`` for every entry e, ``total[row[e]] += exp(x[e] - top[row[e]])``, and then ``exp(x[e] - top[row[e]]) /
total[row[e]]``: as in :mod:`.shifts`, with the sums in an array of rows, too. A sum is the power of ``exp(-top)`` that
its terms are, at the same row. Side conditions: the maxima and such sums are looked at in the row of the entry alone,
neither is returned, and no other value depends on them.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir.equations import Expr, Fold, Kernel, Op, Read, Stmt, Version, Write
from kraise.ir.walk import statement_expressions, topological, transform
from kraise.raising.gradients.shifts import Degrees


def unshifted_rows(kernel: Kernel) -> Kernel:
    """The kernel with the maxima of rows that cancel behind ``stop_gradient``."""
    for at, s in enumerate(kernel.body):
        if isinstance(s, Write) and s.segments and s.accumulate in ("min", "max") and _cancels(kernel, s):
            stopped = replace(s, value=Op("stop_gradient", (s.value,), s.value.type))
            kernel = replace(kernel, body=(*kernel.body[:at], stopped, *kernel.body[at + 1 :]))
    return kernel


def _cancels(kernel: Kernel, peak: Write) -> bool:
    """Whether nothing that a kernel stores or returns depends on the maxima, but for sums of rows that only ratios
    use."""
    degrees: dict[Version, int] = {peak.after: 0}  # of the sums
    for s in kernel.body:
        nodes = topological(statement_expressions(s))
        loads = [n for n in nodes if isinstance(n, Read) and n.version in degrees]
        if not loads:
            continue
        if any(n.subscripts != peak.subscripts for n in loads) or not isinstance(s, Write):
            return False
        degree = _degree(s, peak, degrees)
        if degree is None:
            return False
        if degree and not (s.segments and s.accumulate == "add" and s.subscripts == peak.subscripts):
            return False
        if degree:
            degrees[s.after] = degree
    values = [r for r in kernel.returns if not isinstance(r, Version)]
    seen = any(isinstance(n, Read) and n.version in degrees for n in topological(values))
    return len(degrees) > 1 and not seen and not degrees.keys() & {*kernel.returns} and not _built_on(kernel, degrees)


def _built_on(kernel: Kernel, degrees: dict[Version, int]) -> bool:
    """Whether a statement makes another version of one of the arrays."""

    def builds(s: Stmt) -> bool:
        match s:
            case Write(before=before):
                return before in degrees
            case Fold(arrays=arrays):
                return any(c.outside in degrees for c in arrays) or any(map(builds, s.body))
        return False

    return any(map(builds, kernel.body))


def _degree(s: Write, peak: Write, degrees: dict[Version, int]) -> int | None:
    """The power of ``exp(-top)`` that a stored value is where the store is made."""
    parts = (*s.subscripts, *(() if s.where is None else (s.where,)))
    if any(isinstance(n, Read) and n.version in degrees for n in topological(parts)):
        return None
    held = _conjuncts(s.where)

    def chosen(node: Expr) -> Expr:
        match node:
            case Op(name="select", args=(c, a, _)) if _conjuncts(c) <= held:
                return a
        return node

    value = transform(s.value, chosen)
    nodes = topological((value,))
    shifts = frozenset(n for n in nodes if isinstance(n, Read) and n.version is peak.after)
    own: set[Op] = set()
    for n in nodes:
        match n:
            case Op(name="exp", args=(Op(name="sub", args=(_, m)),)) if m in shifts:
                own.add(n)
    known: dict[Expr, int] = {}
    known |= {n: degrees[n.version] for n in nodes if isinstance(n, Read) and n.version in degrees and n not in shifts}
    return Degrees(shifts, own, known).of(value)


def _conjuncts(mask: Expr | None) -> frozenset[Expr]:
    match mask:
        case None:
            return frozenset()
        case Op(name="and", args=(a, b)):
            return _conjuncts(a) | _conjuncts(b)
    return frozenset((mask,))


__all__ = ["unshifted_rows"]

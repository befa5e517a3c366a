"""A copy that each round of a loop makes anew and never reads is made once, after the loop.

``v = step(u); u = v`` over the same cells leaves in ``v`` what is in ``u``: the loop carries ``u`` alone.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL
from kraise.ir.walk import free_indices, statement_expressions, substitute, topological


def copied_after(stmts: tuple[eq.Stmt, ...]) -> tuple[eq.Stmt, ...]:
    """``stmts`` with the copies of folds behind them, within folds too."""
    out: list[eq.Stmt] = []
    for s in stmts:
        if isinstance(s, eq.Fold):
            s = replace(s, body=copied_after(s.body))
            out += _apart(s)
        else:
            out.append(s)
    return tuple(out)


def _apart(fold: eq.Fold) -> list[eq.Stmt]:
    """The fold without the arrays that are copies of others after each round, and the copies."""
    later: list[eq.Stmt] = []
    for carry in fold.arrays:
        taken = _forwarded(fold, carry)
        found = _original(taken, carry)
        if found is None:
            continue
        fold = taken
        copy, original, cells = found
        some = _some_round(fold)
        value = eq.Read(original.result, cells, copy.value.type, copy.view)
        covers = copy.covers and some is None
        later.append(replace(copy, before=carry.outside, after=carry.result, value=value, where=some, covers=covers))
        arrays = tuple(a for a in fold.arrays if a is not carry)
        fold = replace(fold, arrays=arrays, body=tuple(s for s in fold.body if s is not copy))
    return [fold, *later]


def _original(fold: eq.Fold, carry: eq.ArrayCarry) -> tuple[eq.Write, eq.ArrayCarry, tuple[eq.Expr, ...]] | None:
    """The one store to an array in a round, another array that holds the same in the same cells when the round is over,
    and these cells there; None where the array is no such copy."""
    if fold.axis is None or fold.mapped or fold.unroll or _read(fold, {carry.entry, carry.exit}):
        return None
    stores = [s for s in fold.body if isinstance(s, eq.Write) and s.after is carry.exit]
    copy = stores[0] if stores else None
    if copy is None or copy.before is not carry.entry or not same_cells_each_round(fold, copy):
        return None
    for other in fold.arrays:
        last = next((s for s in fold.body if isinstance(s, eq.Write) and s.after is other.exit), None)
        if other is carry or last is None or last is copy or last.view != copy.view or not plain(last):
            continue
        value, *cells = _renamed(last, copy.axes) or (None,)
        if value is copy.value and injective(last):
            return copy, other, tuple(cells)
    return None


def _forwarded(fold: eq.Fold, carry: eq.ArrayCarry) -> eq.Fold:
    """The fold with ``u[k] = v[k]`` as what ``v`` was given, where the indices have other names than there."""
    given = next((s for s in fold.body if isinstance(s, eq.Write) and s.after is carry.exit), None)
    if given is None:
        return fold
    body = list(fold.body)
    for at, s in enumerate(body):
        if isinstance(s, eq.Write) and isinstance(s.value, eq.Read) and s.value.version is carry.exit:
            value, *cells = _renamed(given, s.axes) or (None,)
            if value is not None and s.value.subscripts == tuple(cells) and s.value.view == given.view:
                body[at] = replace(s, value=value)
    return replace(fold, body=tuple(body))


def _renamed(s: eq.Write, axes: tuple[eq.Axis, ...]) -> tuple[eq.Expr, ...]:
    """What a write stores and where, its indices named as those of other axes of the same ranges."""
    held = (s.value, *s.subscripts)
    if [(a.lo, a.hi, a.step) for a in s.axes] != [(a.lo, a.hi, a.step) for a in axes]:
        return ()
    names = {a.name: b.name for a, b in zip(s.axes, axes, strict=True)}
    moved = [n for n in topological(held) if isinstance(n, eq.Index) and n.name in names]
    return tuple(substitute(e, {n: eq.Index(names[n.name], n.type) for n in moved}) for e in held)


def _read(fold: eq.Fold, versions: set[eq.Version]) -> bool:
    """Whether a round reads one of the versions, or another statement than the store builds on it."""
    used = [e for s in fold.body for e in statement_expressions(s)]
    used += [*(s.update for s in fold.scalars), *(o.value for o in fold.outputs)]
    if any(isinstance(n, eq.Read) and n.version in versions for n in topological(used)):
        return True
    builders = [s for s in fold.body if isinstance(s, eq.Write) and s.before in versions]
    within = [a for s in fold.body if isinstance(s, eq.Fold) for a in s.arrays if a.outside in versions]
    return len(builders) > 1 or bool(within)


def plain(s: eq.Write) -> bool:
    """Whether a store is made by every instance, of one value, to a cell of the array."""
    return s.where is None and not s.accumulate and not s.safe and not s.segments


def same_cells_each_round(fold: eq.Fold, s: eq.Write) -> bool:
    """Whether a plain store of a counted loop is to the same cells in every round."""
    assert fold.axis is not None
    about = [*s.subscripts, *(b for a in s.axes for b in (a.lo, a.hi)), *s.view]
    fixed = not any(isinstance(n, eq.Read | eq.CarryIn | eq.FoldResult) for n in topological(about))
    return plain(s) and fixed and not any(fold.axis.name in free_indices(e) for e in about)


def injective(s: eq.Write) -> bool:
    """Whether each subscript is an index of its own, moved, so that no cell is stored to twice."""
    names: list[str] = []
    for e in s.subscripts:
        poly = to_poly(e)
        moved = [n for n in poly.atoms() if isinstance(n, eq.Index)]
        if len(moved) != 1 or poly.coefficient(moved[0]).value not in (1, -1):
            return False
        if free_indices(e) != {moved[0].name}:
            return False
        names.append(moved[0].name)
    return sorted(names) == sorted(a.name for a in s.axes)


def _some_round(fold: eq.Fold) -> eq.Expr | None:
    """That there is a round, None where there surely is."""
    assert fold.axis is not None
    rounds = (to_poly(fold.axis.hi) - to_poly(fold.axis.lo)).value
    return None if rounds is not None and rounds > 0 else eq.Op("gt", (fold.axis.hi, fold.axis.lo), BOOL)

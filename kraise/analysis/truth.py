"""What follows from conditions by logic alone, whatever they compare: a truth table over their comparisons.

The affine facts of :mod:`kraise.analysis.dependence` say nothing of an "or" of comparisons of data; here nothing is
known of a comparison but that it holds or not.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import product

from kraise.ir import equations as eq

_MOST = 8  # comparisons in one table
_OPPOSITE = {"ne": "eq", "ge": "lt", "le": "gt"}


def follows(path: Iterable[eq.Expr], condition: eq.Expr) -> bool:
    """Whether ``condition`` holds wherever all of ``path`` does, by logic (False where the table would be too long)."""
    return _follows(tuple(path), condition)


@lru_cache(maxsize=20_000)
def _follows(path: tuple[eq.Expr, ...], condition: eq.Expr) -> bool:
    atoms = dict.fromkeys(_atoms(condition))
    known = [(c, frozenset(_atoms(c))) for c in path]
    given: list[eq.Expr] = []
    while len(atoms) <= _MOST and (near := [(c, own) for c, own in known if own & atoms.keys() and c not in given]):
        given += [c for c, _ in near]
        atoms |= dict.fromkeys(a for _, own in near for a in own)
    if not given or len(atoms) > _MOST:
        return False
    for row in product((False, True), repeat=len(atoms)):
        values = dict(zip(atoms, row, strict=True))
        if all(_value(c, values) for c in given) and not _value(condition, values):
            return False
    return True


def _parts(e: eq.Expr) -> tuple[eq.Expr, ...] | None:
    """The conditions of which ``e`` is made, None where it is a comparison."""
    if isinstance(e, eq.Op) and e.type.kind == "bool" and e.name in ("and", "or", "not", "select"):
        return e.args if all(a.type.kind == "bool" for a in e.args) else None
    return () if isinstance(e, eq.Const) and e.type.kind == "bool" else None


def _atom(e: eq.Expr) -> tuple[eq.Expr, bool]:
    """The comparison that ``e`` is, and whether it is that or its opposite (of floats, only == has one)."""
    if isinstance(e, eq.Op) and e.name in _OPPOSITE and (e.name == "ne" or all(a.type.is_integer for a in e.args)):
        return eq.Op(_OPPOSITE[e.name], e.args, e.type), False
    return e, True


def _atoms(e: eq.Expr) -> tuple[eq.Expr, ...]:
    """The comparisons in ``e``, in the order in which they are met."""
    found: dict[eq.Expr, None] = {}
    seen: set[eq.Expr] = set()
    open_parts = [e]
    while open_parts:
        part = open_parts.pop()
        if part in seen:
            continue
        seen.add(part)
        below = _parts(part)
        if below is None:
            found[_atom(part)[0]] = None
        open_parts += reversed(below or ())
    return tuple(found)


def _value(e: eq.Expr, values: dict[eq.Expr, bool]) -> bool:
    """What ``e`` is in a row of the table; ``values`` learns what its parts are."""
    if e in values:
        return values[e]
    parts = _parts(e)
    if parts is None:
        atom, same = _atom(e)
        return values[atom] is same
    known = [_value(p, values) for p in parts]
    match e:
        case eq.Const(value=value):
            found = bool(value)
        case eq.Op(name="not"):
            found = not known[0]
        case eq.Op(name="select"):
            found = known[1] if known[0] else known[2]
        case eq.Op(name="and"):
            found = all(known)
        case _:
            found = any(known)
    values[e] = found
    return found

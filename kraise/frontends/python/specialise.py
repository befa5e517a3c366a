"""A helper that is given part of an array (``norm(points[i])``): a copy that takes the whole array and the indices.

``norm(v)`` called with ``points[i]`` becomes ``norm_at(v, v_index)`` with ``v[k]`` read as ``v[v_index, k]``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace

from kraise.frontends.python.scope import Summary
from kraise.frontends.python.views import Piece
from kraise.ir.kernel import ArrayRef, Call, CallStmt, Expr, Function, Load, Param, Shape, Var
from kraise.ir.types import INT, ArrayType

FREE, FIXED = "free", "fixed"
# one entry an axis of the whole array: the helper sees all of it, none of it, or (a number) a slice with that step
Pattern = tuple[str | int, ...]


class PassedOn(Exception):
    """The helper hands the array on to a function that makes no copy: a part of it, or one that is not known."""


@dataclass(frozen=True)
class _Part:
    pattern: Pattern
    indices: tuple[Expr | Piece, ...]  # for the axes that are not free

    def whole(self, subscripts: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The subscripts into the whole array for subscripts into the part."""
        given, fixed = iter(subscripts), iter(self.indices)
        found: list[Expr] = []
        for kind in self.pattern:
            part = None if kind == FREE else next(fixed)
            if isinstance(part, Piece):
                found.append(part.at(next(given)))
            else:
                found.append(next(given) if part is None else part)
        return tuple(found)

    def extent(self, shape: Shape) -> Expr:
        """The extent of an axis of the part."""
        axis = [k for k, kind in enumerate(self.pattern) if kind != FIXED][shape.axis]
        part = None if self.pattern[axis] == FREE else self.indices[sum(k != FREE for k in self.pattern[:axis])]
        return part.extent if isinstance(part, Piece) else replace(shape, axis=axis)


Copies = Callable[[str, dict[int, Pattern]], Summary | None]  # of a function: by the places of the arrays


def specialise(summary: Summary, patterns: dict[str, Pattern], name: str, used: set[str], copies: Copies) -> Summary:
    """The copy of a helper for whole arrays; each partial array is followed by its indices among the parameters.

    ``copies`` gives the copy of a function that the helper hands such an array on to, under its name.
    """
    params: list[Param] = []
    parts: dict[str, _Part] = {}
    written: set[int] = set()
    ranks = dict(summary.ranks)
    for k, param in enumerate(summary.function.params):
        if k in summary.written:
            written.add(len(params))
        pattern = patterns.get(param.name)
        if pattern is None:
            params.append(param)
            continue
        assert isinstance(param.type, ArrayType)
        params.append(replace(param, type=ArrayType(param.type.element, len(pattern))))
        ranks[param.name] = len(pattern)
        indices: list[Expr | Piece] = []
        for kind in pattern:
            if kind == FREE:
                continue
            wishes = ("index",) if kind == FIXED else ("start", "extent")
            names_ = [_fresh(f"{param.name}_{wish}", used) for wish in wishes]
            made: list[Expr] = [Var(n, INT, span=param.span) for n in names_]
            params.extend(Param(n, INT, span=param.span) for n in names_)
            indices.append(Piece(made[0], made[1], int(kind)) if isinstance(kind, int) else made[0])
        parts[param.name] = _Part(pattern, tuple(indices))
    body = _rebuild(summary.function.body, parts, copies)
    function = replace(summary.function, name=name, kind="device", params=tuple(params), body=body)
    return replace(summary, function=function, written=frozenset(written), ranks=ranks)


def _fresh(wish: str, used: set[str]) -> str:
    name, number = wish, 2
    while name in used:
        name, number = f"{wish}_{number}", number + 1
    used.add(name)
    return name


def names(function: Function) -> set[str]:
    """Every name that occurs in a function."""
    found = {p.name for p in function.params}
    stack: list = [function.body]
    while stack:
        top = stack.pop()
        if isinstance(top, tuple):
            stack.extend(top)
        elif is_dataclass(top):
            found.update(v for v in (getattr(top, a, None) for a in ("name", "var", "result")) if isinstance(v, str))
            stack.extend(getattr(top, f.name) for f in fields(top))
    return found


def _handed_on(node: Call | CallStmt, parts: dict[str, _Part], copies: Copies) -> Call | CallStmt:
    """A call that hands parts on, of the copy of its function for whole arrays."""
    given = {n: a for n, a in enumerate(node.args) if isinstance(a, ArrayRef) and a.array in parts}
    if not given:
        return node
    if any(a.offset is not None or a.rows for a in given.values()):
        raise PassedOn
    made = copies(node.function, {n: parts[a.array].pattern for n, a in given.items()})
    if made is None:
        raise PassedOn
    args: list[Expr | ArrayRef] = []
    for n, a in enumerate(node.args):
        args.append(a)
        if n in given:
            for index in parts[given[n].array].indices:
                args.extend((index.start, index.extent) if isinstance(index, Piece) else (index,))
    return replace(node, function=made.function.name, args=tuple(args))


def _rebuild(node, parts: dict[str, _Part], copies: Copies):
    """A node with the parts' accesses made accesses of the whole; what does not change is shared."""
    if isinstance(node, tuple):
        return tuple(_rebuild(n, parts, copies) for n in node)
    if not is_dataclass(node) or isinstance(node, type):
        return node
    if isinstance(node, Call | CallStmt):
        handed = {a.array for a in node.args if isinstance(a, ArrayRef)} & set(parts)
        if handed:
            others = tuple(a if isinstance(a, ArrayRef) else _rebuild(a, parts, copies) for a in node.args)
            return _handed_on(replace(node, args=others), parts, copies)
    if isinstance(node, ArrayRef) and node.array in parts:
        raise PassedOn
    if isinstance(node, Shape) and node.array in parts:
        return parts[node.array].extent(node)
    changes = {}
    for item in fields(node):
        if item.name in ("span", "type"):
            continue
        before = getattr(node, item.name)
        if isinstance(before, tuple) or is_dataclass(before):
            after = _rebuild(before, parts, copies)
            if after is not before:
                changes[item.name] = after
    array = getattr(node, "array", None)
    if array in parts and (isinstance(node, Load) or hasattr(node, "subscripts")):
        changes["subscripts"] = parts[array].whole(changes.get("subscripts", node.subscripts))  # type: ignore[attr-defined]
    return replace(node, **changes) if changes else node  # type: ignore[type-var]

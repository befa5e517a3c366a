"""Names of plain functions that stand for several things, or for the same in another order, written as these.

- ``p = (x, y)``, bound again later (``p = q``): ``p_0, p_1 = x, y``, and ``p_1`` for ``p[1]``.
- ``T = M.T``: ``M[j, i]`` for ``T[i, j]``.

Side conditions, checked: such a tuple is only ever bound to tuples of its length or to others of its kind, and
subscripted by numbers, unpacked, returned; a transposed array is bound once, is of an array that is bound no more, and
all subscripts, its shape and its length are asked of it. No function or lambda within sees these names.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import libcst as cst

from kraise.frontends.python.number_lists import names_in, targets_of
from kraise.frontends.python.source import Source, placed, rebuilt, walk

_HIDES = cst.Lambda | cst.FunctionDef | cst.ListComp | cst.GeneratorExp | cst.SetComp | cst.DictComp


def _bindings(node: cst.FunctionDef) -> Counter[str]:
    """How often each name is bound, parameters once."""
    found = Counter(p.name.value for p in walk(node.params) if isinstance(p, cst.Param))
    for inner in walk(node.body):
        if isinstance(inner, cst.AssignTarget | cst.For | cst.AugAssign | cst.NamedExpr | cst.AnnAssign | cst.CompFor):
            found.update(targets_of(inner.target))
    return found


def _hidden(node: cst.FunctionDef) -> set[str]:
    return {n for inner in walk(node.body) if isinstance(inner, _HIDES) for n in names_in(inner)}


# --- tuples ----------------------------------------------------------------------------------


def without_tuples(parsed: Source, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with a name for each element of tuples whose names are bound again."""
    bindings, hidden = _bindings(node), _hidden(node)
    sizes: dict[str, int] = {}
    moves: list[tuple[str, str]] = []
    counted: Counter[str] = Counter()
    for inner in walk(node.body):
        match inner:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Tuple() as value):
                size = len(value.elements) if not any(isinstance(e, cst.StarredElement) for e in value.elements) else 0
                sizes[name] = size if sizes.get(name, size) == size else 0
                counted[name] += 1
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Name(value=other)):
                moves.append((name, other))
                counted[name] += 1
    for _ in moves:
        sizes |= {a: sizes[b] for a, b in moves if a not in sizes and b in sizes}
    found = {n for n, size in sizes.items() if size > 1 and bindings[n] == counted[n] and n not in hidden}
    again = True
    while again:
        wrong = {a for a, b in moves if a in found and (b not in found or sizes[b] != sizes[a])}
        wrong |= {b for a, b in moves if b in found and a not in found}
        again, found = bool(wrong), found - wrong
    allowed = _allowed(node, found, sizes)
    found -= {n.value for n in walk(node.body) if isinstance(n, cst.Name) and n.value in found and id(n) not in allowed}
    found = {n for n in found if all((a in found) == (b in found) for a, b in moves if n in (a, b))}
    if not any(bindings[n] > 1 for n in found):
        return node
    taken = names_in(parsed.tree)
    parts = {n: [_fresh(f"{n}_{k}", taken) for k in range(sizes[n])] for n in sorted(found)}

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name)) as to]) if name in parts:
                value = rebuilt(parsed, inner.value, change)
                value = (
                    value if isinstance(value, cst.Tuple) else placed(parsed, _tuple(parts[value.value]), inner.value)
                )
                target = placed(parsed, _tuple(parts[name]), to.target)
                return inner.with_changes(targets=[to.with_changes(target=target)], value=value)
            case cst.Subscript(value=cst.Name(value=name), slice=[one]) if name in parts:
                return cst.Name(parts[name][_number(one)])  # type: ignore[index]
            case cst.Name(value=name) if name in parts:
                return _tuple(parts[name])
        return None

    return placed(parsed, node.with_changes(body=rebuilt(parsed, node.body, change)), node)  # type: ignore[no-any-return]


def _allowed(node: cst.FunctionDef, names: set[str], sizes: dict[str, int]) -> set[int]:
    """The places of names where their elements can stand for them."""
    found: set[int] = set()
    for inner in walk(node.body):
        match inner:
            case cst.Subscript(value=cst.Name(value=name) as base, slice=[one]) if name in names:
                at = _number(one)
                found |= {id(base)} if at is not None and -sizes[name] <= at < sizes[name] else set()
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name() as target)], value=value):
                found |= {id(target), id(value)}
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Tuple())], value=value):
                found.add(id(value))
            case cst.Return(value=cst.Name() as value):
                found.add(id(value))
    return found


def _number(element: cst.SubscriptElement) -> int | None:
    match element.slice:
        case cst.Index(value=cst.Integer(value=text)):
            return int(text, 0)
        case cst.Index(value=cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer(value=text))):
            return -int(text, 0)
    return None


def _tuple(names: list[str]) -> cst.Tuple:
    return cst.Tuple([cst.Element(cst.Name(n)) for n in names])


def _fresh(wish: str, taken: set[str]) -> str:
    while wish in taken:
        wish += "_"
    taken.add(wish)
    return wish


# --- transposed arrays -----------------------------------------------------------------------


def without_transposed(parsed: Source, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with the elements of an array for those of what is that array transposed."""
    bindings, hidden = _bindings(node), _hidden(node)
    found: dict[str, str] = {}
    for line in node.body.body:
        match line:
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(
                        targets=[cst.AssignTarget(target=cst.Name(value=name))],
                        value=cst.Attribute(value=cst.Name(value=array), attr=cst.Name(value="T")),
                    )
                ]
            ) if bindings[name] == bindings[array] == 1 and not {name, array} & hidden:
                found[name] = array
    members = {id(n.attr) for n in walk(node.body) if isinstance(n, cst.Attribute)}
    left = Counter(n.value for n in walk(node.body) if isinstance(n, cst.Name) and id(n) not in members)
    left.subtract(list(found))  # where they are bound

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Subscript(value=cst.Name(value=name) as base, slice=[one, other]) if name in found:
                if isinstance(one.slice, cst.Index) and isinstance(other.slice, cst.Index):
                    left[name] -= 1
                    first, second = (rebuilt(parsed, e.slice, change) for e in (one, other))
                    turned = [one.with_changes(slice=second), other.with_changes(slice=first)]
                    return inner.with_changes(value=base.with_changes(value=found[name]), slice=turned)
            case cst.Subscript(
                value=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="shape")), slice=[one]
            ):
                if name in found and (at := _number(one)) in (0, 1):
                    left[name] -= 1
                    return _extent(found[name], 1 - at)
            case cst.Call(func=cst.Name(value="len"), args=[cst.Arg(value=cst.Name(value=name))]) if name in found:
                left[name] -= 1
                return _extent(found[name], 1)
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Tuple(elements=[one, other]) as target) as to],
                value=cst.Attribute(value=cst.Name(value=name) as base, attr=cst.Name(value="shape")) as value,
            ) if name in found:
                left[name] -= 1
                turned_target = target.with_changes(elements=[cst.Element(other.value), cst.Element(one.value)])
                shape = value.with_changes(value=base.with_changes(value=found[name]))
                return inner.with_changes(targets=[to.with_changes(target=turned_target)], value=shape)
        return None

    body = rebuilt(parsed, node.body, change)
    if not found or any(left[n] for n in found):
        return node
    lines: list[Any] = [n for old, n in zip(node.body.body, body.body, strict=True) if not _is_made(old, found)]
    return placed(parsed, node.with_changes(body=body.with_changes(body=lines)), node)  # type: ignore[no-any-return]


def _is_made(line: cst.CSTNode, found: dict[str, str]) -> bool:
    match line:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Attribute())]
        ):
            return name in found
    return False


def _extent(array: str, axis: int) -> cst.Subscript:
    index = cst.SubscriptElement(cst.Index(cst.Integer(str(axis))))
    return cst.Subscript(cst.Attribute(cst.Name(array), cst.Name("shape")), [index])

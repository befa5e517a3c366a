"""Names for the extents that a function uses: ``rows, cols = img.shape``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from kraise.emit.context import Assign, Context, Def, Do, Raw, Stmt
from kraise.emit.text import python as py
from kraise.emit.text.names import OWN
from kraise.emit.text.python import Atom, Py, Sub
from kraise.ir import equations as eq
from kraise.ir.types import INT32

_FALLBACK = {1: (("n",), ("m",)), 2: (("rows", "cols"),)}


def named(context: Context, stmts: list[Stmt]) -> tuple[list[Stmt], list[Stmt]]:
    """Assignments of names to extents, and the statements with those names in place of ``x.shape[0]``."""
    counts: Counter[tuple[str, int]] = Counter()

    def count(node: Py) -> Py:
        key = _extent(node)
        if key is not None:
            counts[key] += 1
        return node

    _rewritten(stmts, count, lambda text: _count_text(text, counts))
    names: dict[tuple[str, int], str] = {}
    head: list[Stmt] = []
    context.names.take(_hiding(stmts))
    arrays = dict.fromkeys(a for a, _ in counts)
    # the source's own names are given before those that are made up
    for array in sorted(arrays, key=lambda a: not any(eq.Shape(a, k, INT32) in context.wishes for k in range(9))):
        used = sorted({k for a, k in counts if a == array})
        wishes = {k: context.wishes.get(eq.Shape(array, k, INT32)) for k in used}
        if sum(counts[(array, k)] for k in used) < 2 and not any(wishes.values()):
            continue
        fallback = _fallback(context, array)
        for k in used:
            wish = wishes[k]
            names[(array, k)] = context.names.fresh(wish.name if wish is not None else fallback[k])
    for array in arrays:
        used = [k for k in range(9) if (array, k) in names]
        if not used:
            continue
        ndim = context.ndim.get(array, 0)
        shape = f"{context.param_text(array)}.shape"
        if len(used) == ndim and ndim > 1:
            head.append(Assign(", ".join(names[(array, k)] for k in used), Atom(shape)))
        else:
            head += [Assign(names[(array, k)], Sub(Atom(shape), (py.number(k),))) for k in used]

    shorter: Counter[str] = Counter()
    calls: dict[str, Py] = {}

    def count_shorter(node: Py) -> Py:
        if _is_shorter(node):
            calls.setdefault(py.flat(node), node)
            shorter[py.flat(node)] += 1
        return node

    _rewritten(stmts, count_shorter, lambda text: text)
    lengths = {text: context.names.fresh("length") for text, times in shorter.items() if times > 1}

    def put(node: Py) -> Py:
        key = _extent(node)
        return Atom(names[key]) if key is not None and key in names else node

    def put_text(text: str) -> str:
        return _EXTENT.sub(lambda m: names.get((m[1], int(m[2])), m[0]), text)

    for text, name in lengths.items():
        head.append(Assign(name, py.mapped(calls[text], put)))

    def put_length(node: Py) -> Py:
        return Atom(lengths[py.flat(node)]) if _is_shorter(node) and py.flat(node) in lengths else node

    return head, _rewritten(_rewritten(stmts, put_length, lambda text: text), put, put_text)


def _hiding(stmts: list[Stmt]) -> set[str]:
    """The names of local functions' own variables that would hide an extent's name, where they mention extents."""
    found: set[str] = set()
    for s in stmts:
        match s:
            case Raw(body=body):
                found |= _hiding(body)
            case Def() if _mentions([s]):
                found |= _bound([s])
    return found


def _mentions(stmts: list[Stmt]) -> bool:
    counts: Counter[tuple[str, int]] = Counter()

    def count(node: Py) -> Py:
        key = _extent(node)
        counts.update([key] if key is not None else [])
        return node

    _rewritten(stmts, count, lambda text: _count_text(text, counts))
    return bool(counts)


def _bound(stmts: list[Stmt]) -> set[str]:
    """All names that statements bind, those of local functions and their parameters too."""
    found: set[str] = set()
    for s in stmts:
        match s:
            case Assign(target=target) if target is not None:
                found |= set(re.findall(r"\w+", target))
            case Def(name=name, parameters=parameters, body=body):
                found |= {name, *parameters} | _bound(body)
            case Raw(text=text, body=body):
                found |= set(re.findall(r"\w+", text)) | _bound(body)
    return found


def _is_shorter(node: Py) -> bool:
    """Whether it is the length of the shortest of several arrays."""
    return (
        isinstance(node, py.Call)
        and isinstance(node.func, Atom)
        and node.func.text == "min"
        and not node.keywords
        and all(_extent(a) is not None for a in node.args)
    )


_EXTENT = re.compile(rf"(?<![\w.])({OWN}?[A-Za-z_][\w.]*)\.shape\[(\d+)\]")


def _extent(node: Py) -> tuple[str, int] | None:
    match node:
        case Sub(value=Atom(text=text), items=(Atom(text=k),)) if text.endswith(".shape") and k.isdigit():
            return text.removesuffix(".shape"), int(k)
    return None


def _count_text(text: str, counts: Counter[tuple[str, int]]) -> str:
    for m in _EXTENT.finditer(text):
        counts[(m[1], int(m[2]))] += 1
    return text


def _fallback(context: Context, array: str) -> tuple[str, ...]:
    """Names for the axes of an array that the source does not name."""
    ndim = context.ndim.get(array, 1)
    last = array.split(".")[-1]
    for wish in _FALLBACK.get(ndim, ()):
        if all(context.names.is_free(w) for w in wish):
            return wish
    if ndim == 1:
        return (f"{last}_size",)
    if ndim == 2:
        return f"{last}_rows", f"{last}_cols"
    return tuple(f"n{k}" for k in range(ndim))


def _rewritten(stmts: list[Stmt], change: Callable[[Py], Py], change_text: Callable[[str], str]) -> list[Stmt]:
    out: list[Stmt] = []
    for s in stmts:
        match s:
            case Assign(target=target, value=value, mark=mark, named=name):
                out.append(Assign(target, py.mapped(value, change), mark, name))
            case Do(value=value):
                out.append(Do(py.mapped(value, change)))
            case Raw(text=text, body=body):
                out.append(Raw(change_text(text), _rewritten(body, change, change_text)))
            case Def(name=name_, parameters=parameters, body=body):
                out.append(Def(name_, parameters, _rewritten(body, change, change_text)))
    return out

"""What plain functions spell in another way than kernels do, written as these are, before anything is read of them.

- Imports within a function: the module's (a name must mean one thing in all of it).
- ``u = u.copy()`` of a parameter: an array of another name from there on. It is a statement of the function itself, so
  every use below it is of the new array, and none above. (See :mod:`handed` for ``u = new`` in each round.)
- Functions that ``numba.stencil`` decorates (see :mod:`stencils`).
- ``a[i, ...]`` is ``a[i, :]``.
- ``a.sort()`` of a parameter is ``a[:] = np.sort(a)``.
- ``match``, and names that the test of a ``while`` gives (see :mod:`cases`), in functions of any kind.
- Tuples that are bound again, transposed arrays (see :mod:`apart`), lists of numbers (see :mod:`number_lists`) and
  lists that grow (see :mod:`grown_lists`).

Functions that launch kernels are left to the front end of hosts, and lists to it where there is one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import libcst as cst

from kraise.frontends.python import apart, cases, grown_lists, handed, number_lists, stencils
from kraise.frontends.python.names import Imports, read_imports
from kraise.frontends.python.source import Source, dotted, placed, rebuilt, subscripted, walk
from kraise.frontends.python.survey import decorated_as, is_host


def as_kernels(parsed: Source, imports: Imports, kernel_decorators: tuple[str, ...]) -> Source:
    """The source with its plain functions so rewritten."""
    functions = [
        n for n in parsed.tree.body if isinstance(n, cst.FunctionDef) and isinstance(n.body, cst.IndentedBlock)
    ]
    done: dict[int, Any] = {id(f): cases.as_branches(parsed, f) for f in functions}
    bare = {i: stencils.as_loops(parsed, _without_imports(parsed, f), imports) for i, f in done.items()}
    hosts = {i for i, f in bare.items() if is_host(f, imports)}
    for f in functions:
        if id(f) not in hosts and decorated_as(f, imports, kernel_decorators) != "kernel":
            new = _sorted(parsed, _without_dots(parsed, bare[id(f)]), imports)
            new = _copied(parsed, handed.with_copies(parsed, new))
            new = apart.without_transposed(parsed, apart.without_tuples(parsed, new))
            if not hosts:
                new = number_lists.as_arrays(parsed, grown_lists.as_loops(parsed, new, imports), imports)
            done[id(f)] = new
    body = [done.get(id(n), n) for n in parsed.tree.body]
    if all(new is old for new, old in zip(body, parsed.tree.body, strict=True)):
        return parsed
    return replace(parsed, tree=placed(parsed, parsed.tree.with_changes(body=body), parsed.tree))


# --- imports ---------------------------------------------------------------------------------


def _without_imports(parsed: Source, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function without the imports at its head, where the whole module means the same by their names."""
    rest: list[Any] = []
    for line in node.body.body:
        match line:
            case cst.SimpleStatementLine(body=[cst.Import() | cst.ImportFrom()]) if _agreed(parsed, line):
                continue
        rest.append(line)
    if len(rest) == len(node.body.body) or not rest:
        return node
    return placed(parsed, node.with_changes(body=node.body.with_changes(body=rest)), node)  # type: ignore[no-any-return]


def _agreed(parsed: Source, line: cst.SimpleStatementLine) -> bool:
    own = read_imports(cst.Module([line])).bound
    each: list[tuple[str, str]] = []
    for other in walk(parsed.tree):
        if isinstance(other, cst.Import | cst.ImportFrom):
            each += read_imports(cst.Module([cst.SimpleStatementLine([other])])).bound.items()
        elif isinstance(other, cst.AssignTarget | cst.Param | cst.FunctionDef | cst.For):
            target = other.target if isinstance(other, cst.AssignTarget | cst.For) else other.name
            each += [(n.value, "") for n in walk(target) if isinstance(n, cst.Name)]
    return bool(own) and all(own.get(n, q) == q for n, q in each)


# --- the rest of the axes ---------------------------------------------------------------------


def _without_dots(parsed: Source, node: cst.FunctionDef) -> cst.FunctionDef:
    """``a[i, :]`` for ``a[i, ...]`` and ``a[:]`` for ``a[...]``: a slice takes the axes after it, too, and how many
    axes the array has is asked where it matters."""

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Subscript(slice=[*before, cst.SubscriptElement(slice=cst.Index(value=cst.Ellipsis()))]):
                if any(isinstance(n, cst.Ellipsis) for e in before for n in walk(e)):
                    return None
                own = [rebuilt(parsed, e, change) for e in before]
                return inner.with_changes(
                    value=rebuilt(parsed, inner.value, change),
                    slice=[*own, cst.SubscriptElement(cst.Slice(lower=None, upper=None))],
                )
        return None

    return rebuilt(parsed, node, change)  # type: ignore[no-any-return]


# --- arrays that are sorted in place ----------------------------------------------------------


def _sorted(parsed: Source, node: cst.FunctionDef, imports: Imports) -> cst.FunctionDef:
    """``a[:] = np.sort(a)`` for ``a.sort()``, and ``a[i] = np.sort(a[i])`` for that of a row, of parameters."""
    numpy = next((n for n, whole in imports.bound.items() if whole == "numpy"), None)
    params = {p.name.value for p in walk(node.params) if isinstance(p, cst.Param)}

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.SimpleStatementLine(
                body=[cst.Expr(value=cst.Call(func=cst.Attribute(value=array, attr=cst.Name(value="sort")), args=[]))]
            ) if isinstance(array, cst.Name | cst.Subscript) and subscripted(array) in params:
                every = [cst.SubscriptElement(cst.Slice(lower=None, upper=None))]
                target: Any = cst.Subscript(array, every) if isinstance(array, cst.Name) else array
                target = placed(parsed, target, array)
                func = placed(parsed, cst.Attribute(cst.Name(numpy), cst.Name("sort")), array)  # type: ignore[arg-type]
                call = placed(parsed, cst.Call(func, [cst.Arg(array)]), array)
                line = placed(parsed, cst.Assign([cst.AssignTarget(target)], call), inner)
                return placed(parsed, cst.SimpleStatementLine([line]), inner)  # type: ignore[no-any-return]
        return None

    return node if numpy is None else rebuilt(parsed, node, change)  # type: ignore[no-any-return]


# --- parameters that are bound again ---------------------------------------------------------


def _copied(parsed: Source, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function in which a copy of a parameter under its own name has another one."""
    params = {p.name.value for p in walk(node.params) if isinstance(p, cst.Param)}
    taken = {n.value for n in walk(parsed.tree) if isinstance(n, cst.Name)}
    apart = cst.Lambda | cst.FunctionDef | cst.ListComp | cst.GeneratorExp
    hidden = {n.value for a in walk(node.body) if isinstance(a, apart) for n in walk(a) if isinstance(n, cst.Name)}
    seen: Counter[str] = Counter()
    lines: list[Any] = list(node.body.body)
    for at, line in enumerate(lines):
        name = _own_copy(line)
        if name in params and name not in hidden and not seen[name]:
            seen[name] += 1
            new = _fresh(name, taken)
            taken.add(new)
            (assign,) = line.body
            renamed = assign.with_changes(targets=[_renamed(parsed, assign.targets[0], name, new)])
            lines[at] = placed(parsed, line.with_changes(body=[placed(parsed, renamed, assign)]), line)
            lines[at + 1 :] = [_renamed(parsed, after, name, new) for after in lines[at + 1 :]]
    if not seen:
        return node
    return placed(parsed, node.with_changes(body=node.body.with_changes(body=lines)), node)  # type: ignore[no-any-return]


def _own_copy(line: cst.CSTNode) -> str:
    """The name of ``u = u.copy()``, ``u = np.copy(u)``; "" for anything else."""
    match line:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call() as call)]
        ):
            match call:
                case cst.Call(func=cst.Attribute(value=cst.Name(value=own), attr=cst.Name(value="copy")), args=[]):
                    return name if own == name else ""
                case cst.Call(func=func, args=[cst.Arg(keyword=None, star="", value=cst.Name(value=own))]):
                    return name if own == name and dotted(func).rpartition(".")[2] == "copy" else ""
    return ""


def _fresh(name: str, taken: set[str]) -> str:
    new, number = f"{name}_new", 2
    while new in taken:
        new, number = f"{name}_new_{number}", number + 1
    return new


def _renamed(parsed: Source, node: Any, name: str, new: str) -> Any:
    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Name(value=word) if word == name:
                return inner.with_changes(value=new)
            case cst.Attribute(value=value, attr=attr):
                return inner.with_changes(value=_renamed(parsed, value, name, new), attr=attr)
            case cst.Arg(keyword=cst.Name() as word, value=value):
                return inner.with_changes(keyword=word, value=_renamed(parsed, value, name, new))
        return None

    return rebuilt(parsed, node, change)


__all__ = ["as_kernels"]

"""Python host functions in fewer words, before anything else looks at them.

``d.copy_to_host(ary=h)`` is ``d.copy_to_host(h)``, ``launch = kernel.forall(n)`` stands where ``launch(x)`` does,
``divmod(a, b)`` is ``(a // b, a % b)``, ``max([a, b])`` is ``max(a, b)``, ``np.dtype(np.float64).itemsize`` is 8,
``np.hstack([x, [1.0]])`` joins ``x`` and ``np.array([1.0])``, ``enumerate(zip((1, 2), (3, 4)))`` is the tuple of its
values, ``np.nonzero(m)[0].size`` is ``np.count_nonzero(m)``, and ``best = None`` that nobody reads is nothing.

Side conditions, checked: ``launch`` is set once, and so is every name in its ``forall``; the operands of ``divmod``
call nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import libcst as cst

from kraise.frontends.python.annotations import scalar_type
from kraise.frontends.python.host_arguments import is_number
from kraise.frontends.python.host_inlined import bracketed
from kraise.frontends.python.host_rounds import integer, number, tuple_of
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import times_set
from kraise.frontends.python.source import all_of, dotted, placed, rebuilt, walk

_COPIES = ("copy_to_host", "copy_to_device")
_JOINS = ("numpy.hstack", "numpy.concatenate", "numpy.append", "cupy.hstack", "cupy.concatenate", "cupy.append")


def in_plain_words(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with these words."""
    plain = _Plain(scope, node)
    return rebuilt(scope.source, node, plain.change)  # type: ignore[no-any-return]


class _Plain:
    def __init__(self, scope: HostScope, node: cst.FunctionDef):
        self.scope = scope
        self.times = times_set(node)
        self.read = Counter(n.value for n in all_of(cst.Name, node.body))
        self.launchers: dict[str, cst.Call] = {}
        self.numpy = next((n for n, q in scope.imports.bound.items() if q in ("numpy", "cupy")), "")
        for inner in walk(node.body):
            match inner:
                case cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Name(value=name))],
                    value=cst.Call(func=cst.Attribute(value=kernel, attr=cst.Name(value="forall"))) as call,
                ) if dotted(kernel) in {*scope.functions, *scope.refused} and self.times[name] == 1:
                    used = {n.value for a in call.args for n in all_of(cst.Name, a.value)}
                    if all(self.times[n] <= 1 for n in used):
                        self.launchers[name] = call

    def change(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What stands in place of a node; None: the node itself, its parts changed."""
        match node:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value):
                if name in self.launchers or (dotted(value) == "None" and self.times[name] == self.read[name] == 1):
                    return cst.Pass()
            case cst.Call(func=cst.Name(value=name)) if name in self.launchers:
                args = [rebuilt(self.scope.source, a, self.change) for a in node.args]
                return node.with_changes(func=self.launchers[name], args=args)
            case cst.Call():
                return self.call(node)
            case cst.Attribute(value=cst.Call(func=func, args=[cst.Arg(value=kind)]), attr=cst.Name(value="itemsize")):
                if self.scope.imports.qualified(dotted(func)) in ("numpy.dtype", "cupy.dtype"):
                    found = scalar_type(self.scope.imports.qualified(dotted(kind)))
                    return cst.Integer(str(found.bits // 8)) if found is not None and found.bits else None
            case cst.Attribute(value=found, attr=cst.Name(value="size")):
                return self.counted(found)
            case cst.For(target=target, iter=cst.Call(func=cst.Name(value="enumerate")) as call):
                rows = self.enumerated(call)
                if rows is not None and isinstance(target, cst.Tuple) and len(target.elements) == 2:
                    body = rebuilt(self.scope.source, node.body, self.change)
                    return node.with_changes(target=_flat(target), iter=tuple_of(rows), body=body)
        return None

    def call(self, node: cst.Call) -> cst.CSTNode | None:
        """A call in fewer words."""
        name = self.scope.imports.qualified(dotted(node.func)) or dotted(node.func)
        words = [a.keyword.value if a.keyword is not None else "" for a in node.args]
        args = [rebuilt(self.scope.source, a, self.change) for a in node.args]
        match node.func:
            case cst.Attribute(attr=cst.Name(value=method)) if method in _COPIES and "ary" in words:
                at = words.index("ary")
                first = cst.Arg(args.pop(at).value)
                rest = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in args]
                return node.with_changes(args=[first, *rest])
        if name in ("len", "builtins.len") and len(node.args) == 1 and (count := self.counted(node.args[0].value)):
            return count
        if name in ("divmod", "builtins.divmod") and len(args) == 2 and not any(
            isinstance(n, cst.Call) for a in args for n in walk(a)
        ):  # fmt: skip
            a, b = (bracketed(x.value) for x in args)
            return tuple_of([cst.BinaryOperation(a, sign(), b) for sign in (cst.FloorDivide, cst.Modulo)])
        if name in ("max", "min", "builtins.max", "builtins.min") and len(args) == 1:
            parts = _listed(args[0].value)
            return node.with_changes(args=[cst.Arg(p) for p in parts]) if len(parts) > 1 else None
        parts = _listed(args[0].value) if name in _JOINS and self.numpy and args else []
        if any(map(_of_numbers, parts)):
            joined = [self.array(p) if _of_numbers(p) else p for p in parts]
            return node.with_changes(args=[cst.Arg(tuple_of(joined)), *args[1:]])
        return None

    def counted(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """``np.count_nonzero(m)`` for how many places ``np.nonzero(m)[0]`` gives."""
        match node:
            case cst.Subscript(value=cst.Call() as call, slice=[cst.SubscriptElement(slice=cst.Index(value=at))]):
                known: tuple[str, ...] = ("nonzero", "where") if number(at) == 0 else ()
            case cst.Call() as call:
                known = ("flatnonzero",)
            case _:
                return None
        module, _, name = self.scope.imports.qualified(dotted(call.func)).rpartition(".")
        if name not in known or module not in ("numpy", "cupy") or len(call.args) != 1:
            return None
        made = cst.Attribute(cst.Name(dotted(call.func).partition(".")[0]), cst.Name("count_nonzero"))
        operand = rebuilt(self.scope.source, call.args[0].value, self.change)
        new = cst.Call(placed(self.scope.source, made, call), [cst.Arg(operand)])
        return placed(self.scope.source, new, call)  # type: ignore[no-any-return]

    def array(self, numbers: cst.BaseExpression) -> cst.BaseExpression:
        """``np.array([1.0])``"""
        made = cst.Call(cst.Attribute(cst.Name(self.numpy), cst.Name("array")), [cst.Arg(numbers)])
        for part in walk(made):
            placed(self.scope.source, part, numbers)
        return made

    def enumerated(self, call: cst.Call) -> list[cst.BaseExpression] | None:
        """The values of ``enumerate(zip((1, 2), (3, 4)), start=1)``; None where they are not known."""
        words = {a.keyword.value: a.value for a in call.args if a.keyword is not None}
        places = [a.value for a in call.args if a.keyword is None]
        first = [*places[1:], *([words["start"]] if "start" in words else [])]
        begin = number(first[0]) if first else 0
        match places[:1]:
            case [cst.Call(func=cst.Name(value="zip"), args=args)] if isinstance(begin, int) and not any(
                a.star or a.keyword for a in args
            ):
                columns = [_listed(a.value) for a in args]
                if all(columns):
                    return [
                        tuple_of([integer(begin + n), *row]) for n, row in enumerate(zip(*columns, strict=False))
                    ]  # fmt: skip
        return None


def _listed(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The elements of a list or tuple that is written out."""
    if not isinstance(node, cst.List | cst.Tuple) or any(not isinstance(e, cst.Element) for e in node.elements):
        return []
    return [e.value for e in node.elements]


def _of_numbers(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.List) and bool(_listed(node)) and all(map(is_number, _listed(node)))


def _flat(target: cst.Tuple) -> cst.Tuple:
    """``i, (a, b)`` as ``i, a, b``."""
    parts: list[Any] = []
    for e in target.elements:
        parts += e.value.elements if isinstance(e.value, cst.Tuple | cst.List) else [e]
    return cst.Tuple([cst.Element(p.value) for p in parts])

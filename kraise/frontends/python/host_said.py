"""What stands between a list of a Python host function and the loop that fills it, and has no part in the values.

``print(losses[-1])`` in the loop goes, the statements of ``try: … finally: …`` and of ``with cuda.pinned(x):`` stand in
the block around, and ``for t, b in enumerate(betas)`` is a loop over numbers with ``b = betas[t]`` first.

Side conditions, checked: what is printed calls nothing that changes a value; nothing leaves the ``try``, which handles
nothing; the loop sets neither the array nor its number.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_kept import reads
from kraise.frontends.python.host_scope import HostScope, ignored_call
from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.source import all_of, dotted, placed, walk
from kraise.ir.host_names import fresh


def plain(scope: HostScope, lines: Any, names: set[str], taken: set[str], ranks: dict[str, int]) -> list[Any]:
    """The statements of a block in which the lists ``names`` are only made and filled."""
    return [new for line in lines for new in _Plain(scope, names, taken, ranks).line(line)]


class _Plain:
    def __init__(self, scope: HostScope, names: set[str], taken: set[str], ranks: dict[str, int]):
        self.scope, self.names, self.taken, self.ranks = scope, names, taken, ranks

    def line(self, node: Any) -> list[Any]:
        """One statement: those that stand for it."""
        match node:
            case cst.SimpleStatementLine(body=parts):
                left = [p for p in parts if not self.only_says(p)]
                return [node] if len(left) == len(parts) else [node.with_changes(body=left)] if left else []
            case cst.FunctionDef() | cst.ClassDef():
                return [node]
        if not any(n.value in self.names for n in all_of(cst.Name, node)):
            return [node]
        match node:
            case cst.Try(body=body, handlers=[], orelse=None, finalbody=final) if not leaves(body):
                rest = final.body.body if final is not None else ()
                return [new for line in (*body.body, *rest) for new in self.line(line)]
            case cst.With(items=items, body=body) if all(
                i.asname is None and isinstance(i.item, cst.Call)
                and ignored_call(self.scope.imports.qualified(dotted(i.item.func)))
                for i in items
            ):  # fmt: skip
                self.scope.drop(node.items[0], "memory management")
                return [new for line in body.body for new in self.line(line)]
        changes: dict[str, Any] = {}
        for name in ("body", "orelse", "finalbody"):
            part = getattr(node, name, None)
            if isinstance(part, cst.IndentedBlock):
                changes[name] = part.with_changes(body=self.block(part))
            elif isinstance(part, cst.Else | cst.Finally) and isinstance(part.body, cst.IndentedBlock):
                changes[name] = part.with_changes(body=part.body.with_changes(body=self.block(part.body)))
            elif isinstance(part, cst.If):
                changes[name] = self.line(part)[0]
        return [self.counted(placed(self.scope.source, node.with_changes(**changes), node))]

    def block(self, block: cst.IndentedBlock) -> list[Any]:
        """The statements of a block."""
        lines = [new for line in block.body for new in self.line(line)]
        return lines or [cst.SimpleStatementLine([cst.Pass()])]

    def only_says(self, small: Any) -> bool:
        """Is a statement about one of the lists, and without a part in the values?"""
        match small:
            case cst.Expr(value=cst.Call(func=func, args=args) as call) if (
                what := ignored_call(self.scope.imports.qualified(dotted(func)))
            ):  # fmt: skip
                inner = [n for a in args for n in walk(a)]
                if not any(isinstance(n, cst.Name) and n.value in self.names for n in inner):
                    return False
                if not all(reads(n, self.scope.imports) for n in inner if isinstance(n, cst.Call)):
                    return False
                self.scope.drop(call, what)
                return True
        return False

    def counted(self, node: Any) -> Any:
        """``for t, b in enumerate(betas)`` and ``for b in betas`` of an array as loops over numbers."""
        count, over = "", getattr(node, "iter", None)
        target = getattr(node, "target", None)
        match node:
            case cst.For(
                target=cst.Tuple(elements=[cst.Element(value=cst.Name(value=count)), cst.Element(value=target)]),
                iter=cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(value=over)]),
            ):
                pass
        name = dotted(over) if isinstance(over, cst.BaseExpression) else ""
        if not isinstance(node, cst.For) or node.orelse is not None or not isinstance(target, cst.Name):
            return node
        if name not in self.scope.arrays or self.ranks.get(name) != 1 or not name.isidentifier():
            return node
        if {name, count, target.value} & assigned(node.body) or not isinstance(node.body, cst.IndentedBlock):
            return node
        at = count or fresh(self.taken, f"{target.value}_at")
        subscript = cst.Subscript(cst.Name(name), [cst.SubscriptElement(cst.Index(cst.Name(at)))])
        first = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(target)], subscript)])
        for new in (subscript, first.body[0], first):
            placed(self.scope.source, new, node)
        body = node.body.with_changes(body=[first, *node.body.body])
        rounds = cst.parse_expression(f"range({name}.shape[0])")
        return placed(self.scope.source, node.with_changes(target=cst.Name(at), iter=rounds, body=body), node)


def leaves(body: cst.CSTNode) -> bool:
    """May a block be left before its end?"""
    return bool(all_of(cst.Return | cst.Break | cst.Continue | cst.Raise, body))

"""Helpers in which threads meet (shuffles, barriers, shared arrays) in place of their calls: Kernel IR to Kernel IR.

Such a helper is no function of values alone; what it does can only be seen together with what is around it. Nor is one
that is handed an array of the thread's own, where such arrays are to be scalars.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from kraise.ir import kernel as k
from kraise.ir.rename import with_names
from kraise.ir.types import ArrayType, ScalarType
from kraise.raising.run.exits import structure
from kraise.raising.run.liveness import assigned

_DEPTH = 8


def inlined(module: k.Module, function: k.Function, body: tuple[k.Stmt, ...], own: bool = False) -> tuple[k.Stmt, ...]:
    """``body`` with the calls of helpers in which threads meet replaced by what they do, and with ``own`` the calls
    that are handed arrays of the thread's own, too; others stay."""
    inliner = _Inliner({f.name: f for f in module.functions})
    inliner.own = _arrays(body, "local") if own else None
    inliner.taken |= {p.name for p in function.params} | set(assigned(body)) | _arrays(body)
    return inliner.block(body, 0)


@dataclass
class _Inliner:
    functions: dict[str, k.Function]
    taken: set[str] = field(default_factory=set)
    meets: dict[str, bool] = field(default_factory=dict)
    calls: int = 0
    own: set[str] | None = None  # arrays of the thread's own that are not to be handed on

    def opens(self, name: str, args: tuple[k.Expr | k.ArrayRef, ...]) -> bool:
        """Whether a call is replaced by what the helper does."""
        handed = {a.array for a in args if isinstance(a, k.ArrayRef)} & (self.own or set())
        return self.joint(name) or (bool(handed) and name in self.functions)

    def joint(self, name: str) -> bool:
        """Whether threads meet in the helper, or in one that it calls."""
        if name not in self.meets:
            self.meets[name] = False
            function = self.functions.get(name)
            self.meets[name] = function is not None and self._meets(function.body)
        return self.meets[name]

    def _meets(self, body: object) -> bool:
        for x in _nodes(body):
            if isinstance(x, k.Warp | k.Barrier) or (isinstance(x, k.LocalArray) and x.space == "shared"):
                return True
            if isinstance(x, k.Call | k.CallStmt) and self.joint(x.function):
                return True
        return False

    def block(self, stmts: tuple[k.Stmt, ...], depth: int) -> tuple[k.Stmt, ...]:
        out: list[k.Stmt] = []
        for s in stmts:
            out += self.statement(s, depth)
        return tuple(out)

    def statement(self, s: k.Stmt, depth: int) -> list[k.Stmt]:
        if depth > _DEPTH:
            return [s]
        before: list[k.Stmt] = []
        match s:
            case k.If():
                before, condition = self._expression(s.condition, depth)
                body, orelse = self.block(s.body, depth), self.block(s.orelse, depth)
                return [*before, replace(s, condition=condition, body=body, orelse=orelse)]
            case k.For() | k.While():
                return [replace(s, body=self.block(s.body, depth))]
            case k.Assign(value=v) | k.Store(value=v):
                before, v = self._expression(v, depth)
                return [*before, replace(s, value=v)]
            case k.Atomic(values=(v,)):
                before, v = self._expression(v, depth)
                return [*before, replace(s, values=(v,))]
            case k.CallStmt(function=name, args=args) if self.opens(name, args):
                return self._opened(name, s.args, s.results, s.types, depth, s)
        return [s]

    def _expression(self, e: k.Expr, depth: int) -> tuple[list[k.Stmt], k.Expr]:
        """The calls in ``e`` that are made whatever the data, done before it."""
        before: list[k.Stmt] = []

        def visit(x: Any) -> Any:
            match x:
                case k.Call(function=name, args=args) if self.opens(name, args):
                    given = tuple(visit(a) for a in args)
                    result = self._fresh(f"{name}_result")
                    before.extend(self._opened(name, given, (result,), (x.type,), depth, x))
                    return k.Var(result, x.type, span=x.span)
                case k.Op(name="and" | "or" | "select", args=(first, *rest)):
                    return replace(x, args=(visit(first), *rest))
                case k.Op(args=args) | k.Warp(args=args):
                    return replace(x, args=tuple(visit(a) for a in args))
                case k.Cast(arg=a):
                    return replace(x, arg=visit(a))
            return x

        new = visit(e)
        return before, new if before else e

    def _opened(
        self,
        name: str,
        args: tuple[k.Expr | k.ArrayRef, ...],
        results: tuple[str, ...],
        types: tuple[ScalarType, ...],
        depth: int,
        at: k.Call | k.CallStmt,
    ) -> list[k.Stmt]:
        function = self.functions[name]
        found = structure(function)
        whole = any(r is not None for r in found.returns) or len(args) > len(function.params)
        if whole or any(isinstance(a, k.ArrayRef) and a.offset is not None for a in args):
            return [at if isinstance(at, k.CallStmt) else k.CallStmt(name, args, results, types, span=at.span)]
        self.calls += 1
        names: dict[str, str] = {}
        out: list[k.Stmt] = []
        for p, a in zip(function.params, (*args, *(p.default for p in function.params[len(args) :])), strict=True):
            if isinstance(a, k.ArrayRef):
                names[p.name] = a.array
            elif isinstance(p.type, ArrayType) or a is None or not isinstance(p.type, ScalarType):
                return [at if isinstance(at, k.CallStmt) else k.CallStmt(name, args, results, types, span=at.span)]
            else:
                names[p.name] = self._fresh(p.name)
                out.append(k.Assign(names[p.name], a, p.type, span=at.span))
        for own in (*assigned(found.body), *sorted(_arrays(found.body))):
            names.setdefault(own, self._fresh(own))
        if self.own is not None:
            self.own |= {names[n] for n in _arrays(found.body, "local")}
        body = _renamed(found.body, names)
        out += self.block(body, depth + 1)
        for n, (target, t) in enumerate(zip(results, types, strict=False)):
            value = names.get(f"$ret{n}")
            if value is not None:
                out.append(k.Assign(target, k.Var(value, t, span=at.span), t, span=at.span))
        return out

    def _fresh(self, name: str) -> str:
        new, number = name, 1
        while new in self.taken:
            number += 1
            new = f"{name}_{number}"
        self.taken.add(new)
        return new


def _nodes(x: object) -> list[object]:
    out: list[object] = []
    stack = [x]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple | list):
            stack.extend(node)
        elif is_dataclass(node):
            out.append(node)
            stack.extend(getattr(node, f.name) for f in fields(node) if f.name not in ("span", "type"))
    return out


def _arrays(body: object, space: str = "") -> set[str]:
    """The arrays that are made in ``body``."""
    return {x.name for x in _nodes(body) if isinstance(x, k.LocalArray) and space in ("", x.space)}


def _renamed(x: Any, names: dict[str, str]) -> Any:
    """``x`` with locals and arrays under other names, the members of a struct with it."""

    def new(name: str) -> str:
        head, dot, rest = name.partition(".")
        return names.get(name, names.get(head, head) + dot + rest)

    return with_names(x, new)


__all__ = ["inlined"]

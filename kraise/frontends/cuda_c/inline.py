"""Bodies lowered in place: parameters bound to what is passed, returns turned into structure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.frontends.cuda_c.arithmetic import is_simple
from kraise.frontends.cuda_c.c_types import AUTO, VOID, CType, Pointer, Reference, Struct
from kraise.frontends.cuda_c.effects import changed
from kraise.frontends.cuda_c.exits import has_exit, remove_exits
from kraise.frontends.cuda_c.overloads import Overloads, Parameter
from kraise.frontends.cuda_c.roving import roving
from kraise.frontends.cuda_c.specialised import mark
from kraise.frontends.cuda_c.structs import Definition
from kraise.frontends.cuda_c.trees import child, trees
from kraise.frontends.cuda_c.usage import usage
from kraise.frontends.cuda_c.values import (
    Alias,
    Bound,
    Cell,
    Constant,
    Group,
    Lambda,
    Named,
    NoValue,
    PointerPlace,
    PointerValue,
    StructPlace,
    StructValue,
    Text,
    VarPlace,
)
from kraise.ir.kernel import Assign, Var
from kraise.ir.types import ScalarType


class ReferenceResult:
    """The place that a function returns a reference to: one place, whichever way the function is left."""

    def __init__(self, name: str):
        self.name = name
        self.place: Any = None


class AutoResult:
    """The result of a body whose return type is deduced: its variable is made at the first return."""

    def __init__(self, low: Any, name: str):
        self.low, self.name, self.place = low, name, None

    def bind(self, value: Any) -> Any:
        if self.place is None:
            self.place = self.low._result_place(self.low.type_of_value(value), self.name)
        return self.place


def _target_name(b: Any) -> str:
    """The variable that an argument lets a body write, or ""."""
    target = b.target if isinstance(b, PointerValue) else b
    return target.name if isinstance(target, VarPlace) else ""


def _assigns(stmts: list[Any], name: str) -> bool:
    return name in changed(stmts)[0]


class Inline(Overloads):
    """Calls that leave no call behind."""

    def user_call(
        self, name: str, found: list[Definition], explicit: list[Any], arguments: list[Tree], node: Tree
    ) -> Any:
        """Call the best of the functions called ``name``."""
        raise NotImplementedError

    written_here: set[str]  # variables that the body may write: an argument that names one is copied

    def _inline(
        self,
        d: Definition,
        tree: Tree,
        scope: dict[str, Any],
        parameters: list[Parameter],
        bound: list[Any],
        returns: CType,
        node: Tree,
        members: dict[str, Any] | None = None,
    ) -> Any:
        body = child(tree, "compound_statement")
        if body is None:
            raise self.refuse("KR103", f"`{d.name}` is declared but not defined", node)
        if mark(d, scope) in self.program.active or len(self.program.active) > 60:
            raise self.refuse("KR209", f"`{d.name}` calls itself", node, "write the recursion as a loop")
        self.program.active.append(mark(d, scope))
        try:
            return self._run_body(body, [d.scope, scope, members or {}], parameters, bound, returns, node, d.name)
        finally:
            self.program.active.pop()

    def _run_body(
        self,
        body: Tree,
        scopes: list[dict[str, Any]],
        parameters: list[Parameter],
        bound: list[Any],
        returns: CType,
        node: Tree,
        name: str,
    ) -> Any:
        saved = (
            self.scopes,
            self.usage,
            self.roving,
            self.block_end,
            self.loops,
            self.inline_label,
            self.inline_result,
            self.returns,
            self.discard,
            self.after,
        )
        reserved, self.reserved = self.reserved, frozenset(self.names)
        label = self.fresh("exit")
        self.scopes = [*scopes, {}]
        self.usage = usage(body, frozenset(self.program.reference_functions))
        named = tuple(p.name for p in parameters)
        found = roving(body, named, self.usage.modified)
        self.roving = {} if found.keys() & set(named) else found
        self.block_end, self.loops, self.discard, self.after = 1 << 60, [], False, []
        self.inline_label, self.returns = label, returns
        try:
            self.written_here = {*self.usage.modified, *(_target_name(b) for b in bound)}
            for p, b in zip(parameters, bound, strict=False):
                self._bind(p, b, node)
            self.inline_result = self._result_place(returns, name)
            with self.captured() as statements:
                self.statement(body)
                fenced = self.fenced
            self.fenced = fenced and not has_exit([*statements], label)
            result = self.inline_result
        finally:
            (
                self.scopes,
                self.usage,
                self.roving,
                self.block_end,
                self.loops,
                self.inline_label,
                self.inline_result,
                self.returns,
                self.discard,
                self.after,
            ) = saved
            self.reserved = reserved
        tail = list(statements)
        if has_exit(tail, label):
            known = len(self.names)
            tail = remove_exits(tail, label, self.fresh)
            if len(self.names) > known and isinstance(result, VarPlace):
                # set under flags on every way out, which no later stage sees
                tail.insert(0, Assign(result.name, self.zero(result.type, node), result.type, span=self.span(node)))
        self.names.pop(label, None)
        return self._finish_inline(tail, result, node)

    def _finish_inline(self, tail: list[Any], result: Any, node: Tree) -> Any:
        """Emit an inlined body; a result that is set once at its end is the value itself."""
        if isinstance(result, VarPlace) and tail:
            last = tail[-1]
            if isinstance(last, Assign) and last.name == result.name and not _assigns(tail[:-1], result.name):
                self.out.extend(tail[:-1])
                self.names.pop(result.name, None)
                return last.value
        if isinstance(result, StructPlace):
            names = [f.name for _, f in result.fields if isinstance(f, VarPlace)]
            n = len(names)
            ending = tail[-n:] if n else []
            set_at_end = len(ending) == n == len(result.fields) and all(
                isinstance(s, Assign) and s.name == x for s, x in zip(ending, names, strict=True)
            )
            if set_at_end and not any(_assigns(tail[:-n], x) for x in names):
                self.out.extend(tail[:-n])
                fields = tuple((f, s.value) for (f, _), s in zip(result.fields, ending, strict=True))
                if all(is_simple(v) for _, v in fields) or True:
                    return StructValue(result.type, fields)
        self.out.extend(tail)
        if isinstance(result, ReferenceResult):
            self.last_reference = result.place
        if isinstance(result, ReferenceResult | AutoResult):
            result = result.place
        return self.read(result, node) if result is not None else NoValue()

    def _result_place(self, returns: CType, name: str) -> Any:
        if isinstance(returns, ScalarType):
            return VarPlace(self.fresh(f"{name}_result"), returns)
        if isinstance(returns, Struct):
            return self.struct_place(self._struct_name(f"{name}_result"), returns)
        if isinstance(returns, Reference):
            return ReferenceResult(name)
        if isinstance(returns, Pointer):
            return PointerPlace(f"{name}_result", returns)
        if returns == AUTO:
            return AutoResult(self, name)
        return None

    def _struct_name(self, hint: str) -> str:
        known = [n.removeprefix(f"{hint}_") for n in self.names if n.startswith(f"{hint}_")]
        taken = {rest.split("_")[0] for rest in known if "_" in rest}
        number = next(k for k in range(2, len(taken) + 3) if str(k) not in taken)
        name = f"{hint}_{number}" if known else hint
        self.made.add(f"{name}_")
        return name

    def _bind(self, p: Parameter, b: Any, node: Tree) -> None:
        """Make a parameter of an inlined function mean what is passed."""
        if not p.name:
            return
        changed = bool(self.usage.modified.get(p.name))
        if isinstance(b, Lambda | Group | Text | Constant):
            self.declare(p.name, b if not isinstance(b, Text) else Bound(b))
            return
        if isinstance(p.type, Reference) and isinstance(b, VarPlace | Cell | StructPlace | PointerPlace | Alias):
            if isinstance(b, Cell):
                b = replace(
                    b,
                    subscripts=tuple(
                        s if is_simple(s) else self.temporary(s, f"{p.name}_index", node) for s in b.subscripts
                    ),
                )
            self.declare(p.name, Alias(b))
            return
        t = p.type.to if isinstance(p.type, Reference) else p.type
        if isinstance(b, PointerValue):
            self.volatile |= {b.array} if p.volatile else set()
            place = PointerPlace(p.name, t if isinstance(t, Pointer) else Pointer(b.to))
            self.declare(p.name, place)
            if changed and b.target is None and b.arms is None:
                place.offset_name = self.fresh(f"{p.name}_offset")
                place.value = replace(b, offset=None)
                self.emit(Assign(place.offset_name, self._offset(b), self._offset(b).type))
            else:
                if b.offset is not None and not is_simple(b.offset):
                    b = replace(b, offset=self.temporary(b.offset, f"{p.name}_offset", node))
                place.value = b
            return
        if isinstance(b, StructValue):
            if not changed:
                fields = tuple((n, self._kept(v, f"{p.name}_{n}", node)) for n, v in b.fields)
                self.declare(p.name, Bound(StructValue(b.type, fields)))
                return
            struct = self.struct_place(self._struct_name(p.name), b.type)
            self.declare(p.name, struct)
            self.write(struct, b, node)
            return
        if isinstance(b, VarPlace | Cell):
            b = self.read(b, node)
        if not changed and is_simple(b) and not (isinstance(b, Var) and b.name in self.written_here):
            self.declare(p.name, Bound(b))
            return
        if isinstance(b, NoValue):
            raise self.refuse("KR104", "an argument has no value", node)
        variable = VarPlace(self.fresh(p.name), b.type)
        self.names[variable.name] = b.type
        self.emit(Assign(variable.name, b, b.type, span=self.span(node)))
        self.declare(p.name, variable)

    def _kept(self, v: Any, hint: str, node: Tree) -> Any:
        if isinstance(v, StructValue):
            return StructValue(v.type, tuple((n, self._kept(x, f"{hint}_{n}", node)) for n, x in v.fields))
        if is_simple(v) or isinstance(v, PointerValue):
            return v
        return self.temporary(v, hint, node)

    def _inline_lambda(self, value: Any, arguments: list[Tree], node: Tree) -> Any:
        if not isinstance(value, Lambda):
            raise self.refuse("KR103", "this cannot be called", node)
        if isinstance(value, Named):
            return self.user_call(value.name, self.program.functions[value.name], [], arguments, node)
        tree = value.tree
        captures = [str(c) for t in trees(tree, "capture") for c in t.children]
        body = child(tree, "compound_statement")
        assert body is not None
        if value in self.program.active:
            raise self.refuse("KR209", "a lambda calls itself", node)
        declarator = child(tree, "lambda_declarator")
        saved, self.scopes = self.scopes, list(value.scopes)
        try:
            parameters = self.parameters(declarator) if declarator is not None else []
        finally:
            self.scopes = saved
        if "&" not in captures and captures and body is not None:
            inside = {str(t) for t in body.scan_values(lambda t: getattr(t, "type", "") == "NAME")}
            for n in inside - {p.name for p in parameters}:
                if self.usage.modified_in(n, getattr(tree.meta, "end_pos", 0), 1 << 60) and any(
                    n in s for s in value.scopes
                ):
                    raise self.refuse("KR299", f"`{n}` is captured by value and changes later: not raised", node)
        bound = [self._argument(p, a) for p, a in zip(parameters, arguments, strict=False)]
        parameters = [
            replace(p, type=self.type_of_value(b)) if p.type == AUTO and not isinstance(b, Lambda) else p
            for p, b in zip(parameters, bound, strict=False)
        ]
        trailing = child(declarator, "trailing_return_type") if declarator is not None else None
        returns: CType = AUTO
        if trailing is not None:
            basic = child(trailing, "basic_type")
            assert basic is not None
            returns = self.specifiers(basic).type
        elif not any(t.children for t in body.find_data("return_statement")):
            returns = VOID
        self.program.active.append(value)
        try:
            return self._run_body(body, list(value.scopes), parameters, bound, returns, node, "lambda_")
        finally:
            self.program.active.pop()

"""Kernels that a function of the module makes from numbers and functions: ``cubic = make_kernel(3, decay)``.

A factory is a function of the module whose statements are assignments to names, one kernel, and ``return kernel``. A
name of the module that is one call of it with these is a kernel of that name: what the factory computes before stands
in its text as a number. The module's tree is rewritten before anything is read of it.

Side conditions, checked: all arguments are numbers known from the text, or the names of functions that the module
defines once (or of a library's, ``math.exp``); the kernel sets none of the factory's names; each of these is set once,
to what can be computed here; the file sets the name once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import libcst as cst

from kraise.frontends.python.constants import Folder
from kraise.frontends.python.host_units import times_set
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, placed, rebuilt, walk
from kraise.ir.kernel import Constant


@dataclass(frozen=True)
class _Factory:
    node: cst.FunctionDef
    before: tuple[cst.Assign, ...]
    kernel: cst.FunctionDef


def with_kernels(parsed: Source, imports: Imports, constants: dict[str, Constant]) -> Source:
    """The source with a kernel for each such name."""
    factories = {n.name.value: f for n in parsed.tree.body if isinstance(n, cst.FunctionDef) and (f := _factory(n))}
    if not factories:
        return parsed
    times = times_set(parsed.tree)
    uses = Counter(n.value for n in all_of(cst.Name, parsed.tree))
    made: dict[str, cst.FunctionDef] = {}

    def kernel_of(line: cst.CSTNode) -> cst.FunctionDef | None:
        match line:
            case cst.SimpleStatementLine(
                body=[
                    cst.Assign(
                        targets=[cst.AssignTarget(target=cst.Name(value=name))],
                        value=cst.Call(func=cst.Name(value=called), args=args),
                    )
                ]
            ) if called in factories and times[name] == 1:
                kernel = _instance(parsed, imports, constants, factories[called], name, args)
                if kernel is not None:
                    made[name] = kernel
                    uses[called] -= 1
                return kernel
        return None

    def within(node: Any) -> Any:
        lines: list[Any] = [s for s in node.body.body if kernel_of(s) is None]
        if len(lines) == len(node.body.body):
            return node
        lines = lines or [cst.SimpleStatementLine([cst.Pass()])]
        return placed(parsed, node.with_changes(body=node.body.with_changes(body=lines)), node)

    body: list[Any] = []
    for line in parsed.tree.body:
        if isinstance(line, cst.FunctionDef) and line.name.value not in factories:
            new = within(line) if isinstance(line.body, cst.IndentedBlock) else line
        else:
            new = kernel_of(line) or line
        body += [*(k for k in made.values() if k is not new and k not in body), new]
    if not made:
        return parsed
    gone = {n for n in factories if uses[n] == 1}  # nothing else is done with it
    body = [n for n in body if not (isinstance(n, cst.FunctionDef) and n.name.value in gone)]
    return replace(parsed, tree=parsed.tree.with_changes(body=body))


def _factory(node: cst.FunctionDef) -> _Factory | None:
    """A function as a factory; None where it does something else."""
    if node.decorators or not isinstance(node.body, cst.IndentedBlock):
        return None
    before: list[cst.Assign] = []
    kernel: cst.FunctionDef | None = None
    for line in node.body.body:
        match line:
            case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())]):
                continue
            case cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name())]) as made]) if (
                kernel is None
            ):
                before.append(made)
            case cst.FunctionDef(decorators=[_, *_]) if kernel is None:
                kernel = line
            case cst.SimpleStatementLine(body=[cst.Return(value=cst.Name(value=name))]) if (
                kernel is not None and name == kernel.name.value and line is node.body.body[-1]
            ):
                return _Factory(node, tuple(before), kernel)
            case _:
                return None
    return None


def _instance(
    parsed: Source, imports: Imports, constants: dict[str, Constant], factory: _Factory, name: str, args: Any
) -> cst.FunctionDef | None:
    """The kernel of one call; None where something is not known."""
    params = [*factory.node.params.posonly_params, *factory.node.params.params, *factory.node.params.kwonly_params]
    folder = Folder(imports)
    folder.values = dict(constants)
    given: dict[str, cst.BaseExpression] = {p.name.value: p.default for p in params if p.default is not None}
    for at, a in enumerate(args):
        word = a.keyword.value if a.keyword is not None else params[at].name.value if at < len(params) else ""
        if a.star or word not in {p.name.value for p in params}:
            return None
        given[word] = a.value
    own: dict[str, cst.BaseExpression] = {}
    for word, value in [*given.items(), *((m.targets[0].target.value, m.value) for m in factory.before)]:  # type: ignore[attr-defined]
        number = folder.number(value)
        if (
            number is None
            and word in given
            and word not in own
            and _is_function(parsed, imports, value, factory.kernel)
        ):
            own[word] = value
            continue
        if number is None or type(number[0]) not in (int, float) or word in own:
            return None
        own[word] = _literal(number[0])  # type: ignore[arg-type]
        folder.values[word] = Constant(word, number[1], (number[0],))  # type: ignore[arg-type]
    kernel = factory.kernel
    if len(own) < len(params) + len(factory.before) or own.keys() & _set_by(kernel):
        return None

    def change(node: cst.CSTNode) -> cst.CSTNode | None:
        match node:
            case cst.Name(value=word) if word in own:
                return own[word].deep_clone()
            case cst.Arg(keyword=cst.Name() as word, value=value):
                return node.with_changes(keyword=word, value=rebuilt(parsed, value, change))
            case cst.Attribute(value=value, attr=attr):
                return node.with_changes(value=rebuilt(parsed, value, change), attr=attr)
        return None

    copy = kernel.deep_clone()
    for new, old in zip(walk(copy), walk(kernel), strict=True):
        placed(parsed, new, old)
    changed = rebuilt(parsed, copy.body, change)
    found = copy.with_changes(name=cst.Name(name), body=changed)
    placed(parsed, found.name, kernel.name)
    return placed(parsed, found, kernel)  # type: ignore[no-any-return]


def _is_function(parsed: Source, imports: Imports, value: cst.BaseExpression, kernel: cst.FunctionDef) -> bool:
    """Is it the name of a function, which the kernel takes for the same one?"""
    head = dotted(value).partition(".")[0]
    if not head or head in _set_by(kernel):
        return False
    if isinstance(value, cst.Attribute):
        return head in imports.bound
    defined = {n.name.value for n in parsed.tree.body if isinstance(n, cst.FunctionDef)}
    return head in defined and times_set(parsed.tree)[head] == 1


def _set_by(kernel: cst.FunctionDef) -> set[str]:
    found = {p.name.value for p in kernel.params.params}
    for node in walk(kernel.body):
        match node:
            case cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.For(target=target):
                found |= {n.value for n in all_of(cst.Name, target)}
    return found


def _literal(value: float) -> cst.BaseExpression:
    text = repr(abs(value))
    made: cst.BaseExpression = cst.Integer(text) if isinstance(value, int) else cst.Float(text)
    if str(value).startswith("-"):
        return cst.UnaryOperation(cst.Minus(), made, lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return made


__all__ = ["with_kernels"]

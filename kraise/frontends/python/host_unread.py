"""What launches in a Python file without being a kernel of it: why the functions that do are not host functions.

A function that launches something never vanishes without a word.
"""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from kraise.diagnostics import Diagnostic
from kraise.frontends.python import host_classes, host_raw
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, walk

_HINT = "write it as a kernel of numba.cuda with its guard, or as an expression of arrays"


def generated(tree: cst.Module, imports: Imports) -> tuple[set[str], dict[str, str]]:
    """The functions of a file that become kernels when they are called with arrays: those of one expression at each
    element (``@vectorize``, ``cupy.fuse``), whose calls may be written out, and the others with what they are."""
    elementwise: set[str] = set()
    others: dict[str, str] = {}
    for node in [n for n in tree.body if isinstance(n, cst.FunctionDef)]:
        for d in node.decorators:
            call = d.decorator if isinstance(d.decorator, cst.Call) else None
            made = imports.qualified(dotted(d.decorator if call is None else call.func))
            on_device = any(
                a.keyword is not None and a.keyword.value == "target" and "cuda" in tree.code_for_node(a.value)
                for a in (call.args if call is not None else ())
            )
            if made == "cupy.fuse" or (made == "numba.vectorize" and on_device):
                if all_of(cst.For | cst.While, node.body):
                    others[node.name.value] = "a function of elements with a loop"
                elif all_of(cst.IfExp | cst.If, node.body) and not _polynomial(node):
                    others[node.name.value] = "a function of elements whose branches may fail where they are not taken"
                else:
                    elementwise.add(node.name.value)
            elif made == "numba.guvectorize" and on_device:
                others[node.name.value] = "a generalized ufunc"
            elif made.startswith("cupyx.jit."):
                others[node.name.value] = "a kernel of cupyx.jit"
    return elementwise, others


def _polynomial(node: cst.FunctionDef) -> bool:
    """Is all that a function computes sums and products? Both arms of a branch may be computed then, and their
    derivatives are finite."""
    for inner in walk(node.body):
        if isinstance(inner, cst.Call) and dotted(inner.func) not in ("float", "abs", "min", "max"):
            return False
        if isinstance(inner, cst.BinaryOperation) and not isinstance(
            inner.operator, cst.Add | cst.Subtract | cst.Multiply
        ):
            return False
    return True


def refusals(
    source: Source,
    imports: Imports,
    others: dict[str, str],
    kernels: set[str],
    known: Collection[str],
    classes: Collection[str],
) -> list[Diagnostic]:
    """One for each function and method that launches what is not read and is not among ``known``, the functions that
    are raised or refused. Of ``classes`` the objects are written out: who makes one has them."""
    found: list[Diagnostic] = []
    modules = imports.bound.values()
    if not any(q.split(".")[0] in ("cupy", "cupyx") or q.startswith("numba.cuda") for q in modules):
        return []
    every = _every_function(source.tree)
    made = {dotted(n.func) for _, _, node in every for n in all_of(cst.Call, node.body)} & set(classes)
    parents = {
        n.name.value: [dotted(b.value) for b in n.bases] for n in source.tree.body if isinstance(n, cst.ClassDef)
    }
    while more := {b for c in made for b in parents.get(c, ()) if b in classes} - made:
        made |= more
    for name, owner, node in every:
        if name in known or owner in made or (not owner and node.name.value in {*kernels, *others}):
            continue
        call = host_raw.not_launched(node, dict.fromkeys(others, ""))
        if call is not None:
            reason = f"{call[0]}, which is called here, is {others[call[0]]}: it is not read"
            found.append(Diagnostic("KR213", reason, source.span(call[1]), _HINT, name))
        elif (launch := _launch(node)) is not None:
            spelled = " ".join(source.tree.code_for_node(launch[0]).split())
            reason = f"what `{spelled}` is, which is launched here, is not known when the file is read"
            hint = "launch a kernel by its name"
            if owner and spelled in kernels:
                reason = f"the class {owner}, which launches {spelled} here, is not read"
                hint = "its bases and decorators are not known: write it without them"
            found.append(Diagnostic("KR213", reason, source.span(launch[1]), hint, name))
    return found


def _launch(node: cst.FunctionDef) -> tuple[cst.BaseExpression, cst.Call] | None:
    """The first launch of a function, and what it launches."""
    for inner in walk(node.body):
        match inner:
            case cst.Call(func=cst.Subscript(value=kernel)):
                return kernel, inner
            case cst.Call(func=cst.Call(func=cst.Attribute(value=kernel, attr=cst.Name(value="forall")))):
                return kernel, inner
    return None


def _every_function(tree: cst.Module) -> list[tuple[str, str, cst.FunctionDef]]:
    """The functions of a module and the methods of its classes, under the names that they have as functions, with
    their class."""
    out: list[tuple[str, str, cst.FunctionDef]] = []
    for node in tree.body:
        if isinstance(node, cst.FunctionDef):
            out.append((node.name.value, "", node))
        elif isinstance(node, cst.ClassDef) and isinstance(node.body, cst.IndentedBlock):
            own = node.name.value
            methods = [m for m in node.body.body if isinstance(m, cst.FunctionDef)]
            out += [(host_classes.function_name(own, m.name.value), own, m) for m in methods]
    return out

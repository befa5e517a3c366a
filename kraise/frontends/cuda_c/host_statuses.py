"""What tests of error codes give in CUDA C hosts where nothing fails, which is what is raised (contract, section 6).

``return status == cudaSuccess ? 0 : 1;`` gives 0, and ``ok(cudaMalloc(&d, n))`` what ``bool ok(cudaError_t e)`` of the
file gives for ``cudaSuccess``.

Side conditions, each checked: such a function takes an error code first, and what it gives for ``cudaSuccess`` is plain
from its tests of the code; what stands behind ``&&`` and ``||`` is evaluated where nothing fails.
"""

from __future__ import annotations

from typing import Any

from lark import Tree

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import host_effects
from kraise.frontends.cuda_c.host_names import callee
from kraise.frontends.cuda_c.trees import Node, child, kind, last_name, strip, tokens, trees
from kraise.frontends.cuda_c.values import VarPlace
from kraise.ir import host as h
from kraise.ir import kernel as k

STATUS = frozenset(
    ("cudaError_t", "hipError_t", "cudaError", "CUresult", "cublasStatus_t", "cufftResult", "cufftResult_t")
)
FINE = frozenset(("cudaSuccess", "hipSuccess", "CUBLAS_STATUS_SUCCESS", "CUFFT_SUCCESS", "CURAND_STATUS_SUCCESS"))
_WORDS = {"true": 1, "false": 0, "EXIT_SUCCESS": 0, "EXIT_FAILURE": 1}


def tests_status(reader: Any, node: Node) -> bool:
    """Is it a call of a function of the file that tests an error code, which a call of the runtime gives it?"""
    node = strip(node)
    if not isinstance(node, Tree) or node.data != "call_expression" or len(trees(node)) < 2:
        return False
    return predicate(reader, callee(node.children[0])) is not None


def predicate(reader: Any, name: str) -> int | None:
    """What a function of the file gives for ``cudaSuccess``; None where it tests no error code."""
    known = reader.program.status_tests
    if name not in known:
        known[name] = _predicate(reader, name)
    return known[name] if name != reader.name else None  # type: ignore[no-any-return]


def _predicate(reader: Any, name: str) -> int | None:
    found = [d for d in reader.program.functions.get(name, []) if d.item is not None and d.kind == "host"]
    if len(found) != 1:
        return None
    toks = reader.program.unit.tokens
    if not STATUS & {toks[n].text for n in range(found[0].item.first, found[0].item.last + 1)}:
        return None
    try:
        tree = reader.program.load(found[0])
    except Refused:
        return None
    declarator, body = child(tree, "function_declarator"), child(tree, "compound_statement")
    first = trees(declarator, "parameter_declaration")[:1] if declarator is not None else []
    named = [t for p in first for d in p.find_data("declarator_id") if (t := last_name(d)) is not None]
    if (
        body is None
        or not named
        or not STATUS & {str(t) for t in tokens(first[0])}
        or "*" in map(str, tokens(first[0]))
    ):
        return None
    if host_effects.of_tree(reader.program, body).changes:
        return None
    return _given(trees(body), str(named[0]))


def _given(lines: list[Tree], code: str) -> int | None:
    """What statements return where the error code ``code`` is fine."""
    for line in lines:
        inner: Any = line
        if inner.data in ("if_statement", "if_else_statement"):
            test, *sides = [c for c in inner.children if isinstance(c, Tree)]
            holds = _known(test, code)
            if holds is None and any(inner.find_data("return_statement")):
                return None
            taken = sides[:1] if holds else sides[1:2]
            for side in taken if holds is not None else []:
                rest = trees(side) if side.data == "compound_statement" else [side]
                if any(side.find_data("return_statement")):
                    return _given([*rest, *lines[lines.index(line) + 1 :]], code)
        elif inner.data == "return_statement":
            value = next((c for c in inner.children if isinstance(c, Tree)), None)
            return None if value is None else _known(value, code)
        elif any(inner.find_data("return_statement")):
            return None
    return None


def _known(node: Any, code: str) -> int | None:
    """The value of an expression of an error code that is fine."""
    node = strip(node)
    text = "".join(str(t) for t in tokens(node))
    if text == code or text in FINE:
        return 0
    if text in _WORDS or text.lstrip("-").isdigit():
        return _WORDS.get(text, int(text) if text.lstrip("-").isdigit() else 0)
    match kind(node):
        case "unary_expression" if str(node.children[0]) == "!":
            inner = _known(node.children[1], code)
            return None if inner is None else int(not inner)
        case "equality_expression":
            one, two = (_known(c, code) for c in trees(node))
            same = any(str(c) == "==" for c in node.children)
            return None if one is None or two is None else int((one == two) is same)
        case "conditional_expression":
            test, first, second = trees(node)[:3]
            holds = _known(test, code)
            return None if holds is None else _known(first if holds else second, code)
    return None


def value(reader: Any, node: Any) -> int | None:
    """What an expression of error codes gives where nothing fails; None for any other expression."""
    node = strip(node)
    if not isinstance(node, Tree):
        return None
    text = "".join(str(t) for t in tokens(node))
    if text in FINE:
        return 0
    match node.data:
        case "id_expression" if reader._is_status(callee(node)):
            return 0
        case "call_expression" if tests_status(reader, node):
            inner = value(reader, trees(node)[1])
            return predicate(reader, callee(node.children[0])) if inner == 0 else None
        case "call_expression" if reader.runtime_call(node) is not None:
            return 0
        case "unary_expression" if str(node.children[0]) == "!":
            inner = value(reader, node.children[1])
            return None if inner is None else int(not inner)
        case "equality_expression":
            one, two = (value(reader, c) for c in trees(node))
            same = any(str(c) == "==" for c in node.children)
            return None if one is None or two is None else int((one == two) is same)
        case "logical_and_expression" | "logical_or_expression":
            sides = [value(reader, c) for c in trees(node)]
            goes_on = int(node.data == "logical_and_expression")  # the next side is evaluated
            if None in sides or any(bool(s) is not bool(goes_on) for s in sides[:-1]):
                return None
            return int(bool(sides[-1]))
        case "conditional_expression":
            test, first, second = trees(node)[:3]
            holds = value(reader, test)
            return None if holds is None else _known(first if holds else second, "")
    return None


def calls(reader: Any, node: Any) -> list[Tree]:
    """The calls of the runtime in such an expression, in their order."""
    inner = strip(node)
    if not isinstance(inner, Tree):
        return []
    if inner.data == "call_expression":
        call = reader.runtime_call(inner)
        return [call] if call is not None else []
    return [c for part in trees(inner) for c in calls(reader, part)]


def declared(reader: Any, name: str, t: Any, node: Tree) -> list[h.Stmt] | None:
    """``bool fine = ok(cudaMalloc(…)) && ok(cudaMemcpy(…));``; None for any other value."""
    if not any(tests_status(reader, c) for c in node.find_data("call_expression")):
        return None
    code = value(reader, node)
    if code is None:
        return None
    done = [s for c in calls(reader, node) for s in reader.effect(c)]
    reader.scalar(name, t)
    return [*done, h.Assign(name, k.Const(code, t), t, span=reader.low.span(node))]


def given(reader: Any, name: str, node: Tree) -> list[h.Stmt] | None:
    """``fine = ok(cudaMemcpy(…));`` of a number of the function; None for any other assignment."""
    place = reader.low.lookup(name) if name else None
    if not isinstance(place, VarPlace):
        return None
    found = declared(reader, name, place.type, node)
    if found is not None:
        reader.forget(name)
        reader.unset.discard(name)
        reader.ignored.discard(name)
    return found


def returned(reader: Any, node: Tree) -> list[h.Stmt] | None:
    """``return status == cudaSuccess ? 0 : 1;`` of a function that returns numbers elsewhere; None for other values."""
    code = value(reader, node)
    if code is None:
        return None
    done = [s for c in calls(reader, node) for s in reader.effect(c)]
    return [*done, h.Return((k.Const(code, reader.returns),), span=reader.low.span(node))]


def gives_numbers(body: Tree) -> bool:
    """Does a body return a number that stands there: ``return -1;``, ``return false;``?"""
    returns = [trees(r) for r in body.find_data("return_statement")]
    return any(r and _known(r[0], "") is not None for r in returns)

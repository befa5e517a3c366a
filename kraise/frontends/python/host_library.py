"""Calls of library rows (grammar/host_library.toml) in Python host functions: their operands, keywords, orders."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from kraise import dialects
from kraise.frontends.host_rows import library
from kraise.frontends.python import host_numpy
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.source import dotted, walk
from kraise.ir import host as h
from kraise.ir.types import NUMBER

Value = Callable[[cst.BaseExpression], h.Expr]
_OTHER_ROWS = {
    ("irfft", 2): "irfft_to",
    ("arange", 2): "arange_from",
    ("arange", 3): "arange_by",
    ("diag", 2): "diag_at",
    ("triu", 2): "triu_at",
    ("tril", 2): "tril_at",
    ("fftfreq", 2): "fftfreq_by",
    ("rfftfreq", 2): "rfftfreq_by",
    ("roll", 3): "roll_along",
}  # rows by the number of operands


def _check_order(scope: HostScope, node: cst.Call, operand: cst.BaseExpression, order: cst.BaseExpression) -> None:
    """A norm of order 2 is the root of the sum of squares, for vectors; every other order is refused."""
    names = {n.value for n in walk(operand) if isinstance(n, cst.Name) and n.value in scope.arrays}
    vector = bool(names) and all(scope.ranks.get(n) == 1 for n in names)
    if scope.text(order) in ("None", "'fro'", '"fro"') or (vector and scope.text(order) in ("2", "2.0")):
        return
    raise scope.refuse(
        node, f"the order {scope.text(order)} of this norm is not known",
        "for vectors, np.max(np.abs(x)) and np.sum(np.abs(x)) are the orders inf and 1", "KR213",
    )  # fmt: skip


def called(scope: HostScope, node: cst.Call, row: str, value: Value) -> h.Expr:
    """The call of a row of the table. Refused: keywords and operands that it does not know."""
    facts = dialects.table("host_library")["rows"][row]
    method = isinstance(node.func, cst.Attribute) and scope.qualified(node.func).startswith("array.")
    words = {a.keyword.value: a.value for a in node.args if a.keyword is not None}
    args = [a.value for a in node.args if a.keyword is None]
    operands = [node.func.value, *args] if method else args  # type: ignore[attr-defined]
    if facts.get("order") and (len(operands) == 2 or "ord" in words):
        order = operands.pop() if len(operands) == 2 else words.pop("ord")
        _check_order(scope, node, operands[0], order)
    if "axis" in facts and len(operands) == 2 and "axis" not in words:
        words["axis"] = operands.pop()
    if row == "roll" and len(operands) == 2 and set(words) == {"axis"}:
        operands.append(words.pop("axis"))
    if row == "clip" and len(operands) == 3 and (open_ := [n for n in (1, 2) if dotted(operands[n]) == "None"]):
        row = "minimum" if 1 in open_ else "maximum"
        del operands[open_[0]]
    if words:
        plain = library(row, tuple(value(o) for o in operands), scope.span(node))
        found = host_numpy.along(row, plain, words) if len(operands) == 1 else None
        if found is not None:
            return found
        raise scope.refuse(
            node, f"`{scope.text(node)}`: keywords of {scope.text(node.func)} are not known", 
            "known are axis (a number) and keepdims of reductions; write the others out", "KR213",
        )  # fmt: skip
    row = _OTHER_ROWS.get((row, len(operands)), row)
    facts = dialects.table("host_library")["rows"][row]
    wanted = sum(f"{{{n}}}" in facts["jnp"] for n in range(3))
    if len(operands) != wanted:
        raise scope.refuse(node, f"{scope.text(node.func)} is known with {wanted} operands only", "", "KR213")
    array = bool(facts.get("array")) or (bool(facts.get("elementwise")) and any(scope.is_array(o) for o in operands))
    if row == "sum" and scope.qualified(node.func) == "builtins.sum" and dotted(operands[0]) not in scope.recorded:
        first = scope.ranks.get(dotted(operands[0]), 1)  # of a matrix: the sum of its rows
        text = "jnp.sum({0}, axis=0)"
        return h.Library(row, (value(operands[0]),), NUMBER, first > 1, text, "linear", span=scope.span(node))
    if row == "matmul" and scope.is_scalar_product(node):
        row, array = "dot", False
    return library(row, tuple(value(o) for o in operands), scope.span(node), array=array)

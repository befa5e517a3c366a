"""Calls of library rows (grammar/host_library.toml) in Python host functions: their operands, keywords, orders."""

from __future__ import annotations

import re
from collections.abc import Callable

import libcst as cst

from kraise import dialects
from kraise.diagnostics import Refused
from kraise.frontends.host_rows import KINDS, library
from kraise.frontends.python import host_numpy
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.source import all_of, dotted, walk
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import INT, NUMBER

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
    ("eye", 2): "eye_of",
    ("repeat", 3): "repeat_along",
    ("gradient", 2): "gradient_by",
}  # rows by the number of operands
_PLACE = re.compile(r"\{\d\}")


def unknown(scope: HostScope, node: cst.Call) -> Refused:
    """The refusal of a call that no table knows."""
    name = scope.imports.qualified(dotted(node.func)) or dotted(node.func)
    if name.partition(".")[0] in scope.lost:  # why it is not known has been said
        return Refused()
    hint = "the functions known here are the rows of grammar/host_library.toml"
    for pattern, said in dialects.table("host_library")["hints"].items():
        if pattern == name or (pattern.endswith("*") and f"{name}.".startswith(f"{pattern[:-1]}.")):
            hint = said
    return scope.refuse(node, f"the call of {scope.text(node.func)} is not known in a host function", hint, "KR213")


def is_pure(scope: HostScope, node: cst.Call) -> bool:
    """Does a call give a value only, and change nothing?"""
    for inner in walk(node):
        if isinstance(inner, cst.Call):
            name = scope.qualified(inner.func)
            concept = dialects.table("host_library")["python"].get(name, "")
            moves = concept in ("clone", "alias", "convert") or (concept == "fetch" and not inner.args)
            if not moves and (name not in dialects.host_rows("python") or any(a.keyword for a in inner.args)):
                return False
    return True


def _check_order(scope: HostScope, node: cst.Call, operand: cst.BaseExpression, order: cst.BaseExpression) -> None:
    """A norm of order 2 is the root of the sum of squares, for vectors; every other order is refused."""
    names = {n.value for n in all_of(cst.Name, operand) if n.value in scope.arrays}
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
    row, operands = _placed(scope, row, operands, words)
    facts = dialects.table("host_library")["rows"][row]
    if facts.get("order") and (len(operands) == 2 or "ord" in words):
        order = operands.pop() if len(operands) == 2 else words.pop("ord")
        _check_order(scope, node, operands[0], order)
    if "axis" in facts and len(operands) == 2 and "axis" not in words and facts.get("words", ("", "axis"))[1] == "axis":
        words["axis"] = operands.pop()
    if row == "clip" and len(operands) == 3 and (open_ := [n for n in (1, 2) if dotted(operands[n]) == "None"]):
        row = "minimum" if 1 in open_ else "maximum"
        del operands[open_[0]]
    if row == "taken" and isinstance(operands[-1], cst.List | cst.Tuple):
        raise scope.refuse(
            node, f"`{scope.text(node)}`: a list of places is not known", "give an array of them", "KR213"
        )
    if facts.get("vector") and "axis" not in words and scope.rank(operands[0]) != 1:
        raise scope.refuse(node, f"how many arrays `{scope.text(node)}` gives is not known", "say its axis", "KR213")
    if words:
        plain = _spread(scope, row, operands[:1], value, node)
        found = host_numpy.along(row, plain, words) if len(operands) == 1 else None
        if found is not None:
            return found
        raise scope.refuse(
            node, f"`{scope.text(node)}`: keywords of {scope.text(node.func)} are not known",
            "known are axis (numbers) and keepdims of reductions; write the others out", "KR213",
        )  # fmt: skip
    row = _OTHER_ROWS.get((row, len(operands)), row)
    facts = dialects.table("host_library")["rows"][row]
    wanted = sum(f"{{{n}}}" in facts["jnp"] for n in range(4))
    if len(operands) != wanted:
        raise scope.refuse(node, f"{scope.text(node.func)} is known with {wanted} operands only", "", "KR213")
    if row == "sum" and scope.qualified(node.func) == "builtins.sum" and dotted(operands[0]) not in scope.recorded:
        first = scope.ranks.get(dotted(operands[0]), 1)  # of a matrix: the sum of its rows
        text = "jnp.sum({0}, axis=0)"
        return h.Library(row, (value(operands[0]),), NUMBER, first > 1, text, "linear", span=scope.span(node))
    if row == "matmul" and scope.is_scalar_product(node):
        row = "inner"
    return _spread(scope, row, operands, value, node)


def _placed(
    scope: HostScope, row: str, given: list[cst.BaseExpression], words: dict[str, cst.BaseExpression]
) -> tuple[str, list[cst.BaseExpression]]:
    """The row and its operands, with those that are given by their names at their places, and without those that only
    choose among rows (``mode="edge"``). ``words`` loses what was placed."""
    facts = dialects.table("host_library")["rows"][row]
    names: list[str] = facts.get("words", [])
    options: dict[str, dict[str, str]] = facts.get("options", {})
    operands: list[cst.BaseExpression] = list(given)
    for other, name in facts.get("aliases", {}).items():
        if other in words:
            words[name] = words.pop(other)
    for at, name in enumerate(names):
        if at >= len(operands) and name in words:
            operands += [cst.Name("None")] * (at - len(operands)) + [words.pop(name)]
    for name, rows in options.items():
        at = names.index(name) if name in names else len(operands)
        chosen = operands[at] if at < len(operands) else words.get(name)
        if chosen is None:
            continue
        other = rows.get(scope.text(chosen).replace("'", '"'))
        if other is None:
            raise scope.refuse(
                chosen, f"{name}={scope.text(chosen)} is not known here", f"known: {', '.join(rows)}", "KR213"
            )
        row = other
        words.pop(name, None)
        del operands[at : at + 1]
    named = ", ".join(n for n, o in zip(names, operands, strict=False) if dotted(o) != "None")
    form = facts.get("forms", {}).get(named)
    if form is not None:
        return form, [o for o in operands if dotted(o) != "None"]
    while len(operands) > 1 and dotted(operands[-1]) == "None" and row != "clip":
        operands.pop()
    return row, operands


def _spread(scope: HostScope, row: str, operands: list[cst.BaseExpression], value: Value, node: cst.Call) -> h.Library:
    """A row over its operands, tuples among them: ``((1, 1), (0, k))`` is its numbers, in a text with the brackets."""
    facts = dialects.table("host_library")["rows"][row]
    array = bool(facts.get("array")) or (bool(facts.get("elementwise")) and any(scope.is_array(o) for o in operands))
    if not any(isinstance(o, cst.Tuple | cst.List) for o in operands):
        return library(row, tuple(value(o) for o in operands), scope.span(node), array=array)
    flat: list[h.Expr] = []
    texts: dict[str, str] = {}
    shapes: list[int] = []

    def text(part: cst.BaseExpression, shaping: bool) -> str:
        if isinstance(part, cst.Tuple | cst.List):
            inner = ", ".join(text(e.value, shaping) for e in part.elements)
            return f"({inner},)" if len(part.elements) == 1 else f"({inner})"
        found = value(part)
        if isinstance(found, k.Const) and not found.name and found.type == INT:
            return str(int(found.value.real))
        shapes.extend([len(flat)] if shaping else [])
        flat.append(found)
        return f"{{{len(flat) - 1}}}"

    for at, o in enumerate(operands):
        texts[f"{{{at}}}"] = text(o, at in facts.get("shapes", ()))
    if len(flat) > host_numpy.MOST_OPERANDS:
        raise scope.refuse(node, f"`{scope.text(node)}` has too many operands", "give parts of it names", "KR213")

    def spelled(spelling: str) -> str:
        return _PLACE.sub(lambda m: texts.get(m[0], m[0]), spelling)

    return h.Library(
        row, tuple(flat), KINDS.get(facts.get("type", ""), NUMBER), array, spelled(facts["jnp"]),
        spelled(facts["derivative"]), bool(facts.get("static")), tuple(shapes), spelled(facts.get("numpy", "")),
        span=scope.span(node),
    )  # fmt: skip

"""Loops over powers of two: what their rounds shift by is a number of the index arithmetic.

``for (s = 1; s < 128; s *= 2) { v = u[t - s] … }`` (cyclic reduction, scans of more than one value) is a loop over
``stage``, of whose rounds each shifts by ``1 << stage``: loads that are that far away are slices that move.

The powers fit their type (the rounds of :mod:`kraise.raising.loops.doubling` end before they do not), and so does, as
all index arithmetic, what is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.operations import COMPARISONS
from kraise.ir.types import INT
from kraise.ir.walk import map_statement, statement_expressions, statements, substitute, topological, transform
from kraise.raising.run.arithmetic import RING, index_like, operation


def in_stages(stmts: tuple[eq.Stmt, ...]) -> tuple[tuple[eq.Stmt, ...], Callable[[eq.Expr], eq.Expr]]:
    """The statements with the rounds of such loops as stages, and what names values by their new form."""
    staged = [s.axis.name for s in statements(stmts) if isinstance(s, eq.Fold) and s.axis is not None and _shifts(s)]
    if not staged:
        return stmts, lambda e: e
    chosen = {old: f"stage{number or ''}" for number, old in enumerate(staged)}
    as_numbers = _numbers(staged)
    indices = {eq.Index(old, INT): eq.Index(new, INT) for old, new in chosen.items()}

    def fn(e: eq.Expr) -> eq.Expr:
        return substitute(as_numbers(e), indices)

    return tuple(_renamed(map_statement(s, fn), chosen) for s in stmts), fn


def _renamed(s: eq.Stmt, chosen: Mapping[str, str]) -> eq.Stmt:
    if not isinstance(s, eq.Fold):
        return s
    s = replace(s, body=tuple(_renamed(x, chosen) for x in s.body))
    if s.axis is None or s.axis.name not in chosen:
        return s
    return replace(s, axis=replace(s.axis, name=chosen[s.axis.name]))


def _shifts(s: eq.Fold) -> bool:
    """Whether a round loads something a power of two away, which the round says."""
    assert s.axis is not None
    name = s.axis.name
    if s.mapped or s.outputs:
        return False
    places = (x for n in topological(statement_expressions(s)) if isinstance(n, eq.Read) for x in n.subscripts)
    return any(_power(n, (name,)) for n in topological(places))


def _power(e: eq.Expr, indices: Collection[str]) -> bool:
    match e:
        case eq.Op(name="shl" | "shr", args=(eq.Const(), by), type=t) if t.kind == "int" and index_like(by):
            form = to_poly(by.arg if isinstance(by, eq.Cast) else by)
            return (
                form.is_affine_in(indices) and not form.offset and form.indices() <= {*indices} and len(form.terms) == 1
            )
    return False


def _numbers(indices: Collection[str]) -> Callable[[eq.Expr], eq.Expr]:
    """What turns the powers of two, and index arithmetic with them, into numbers of the index arithmetic's type."""
    memo: dict[eq.Expr, eq.Expr] = {}
    known: set[eq.Expr] = set()

    def counted(e: eq.Expr) -> bool:
        return e in known or index_like(e)

    def bare(e: eq.Expr) -> eq.Expr:
        wide = isinstance(e, eq.Cast) and e.type.kind == "int" and (e.type.bits or 64) >= 32
        return e.arg if isinstance(e, eq.Cast) and wide and counted(e.arg) else e

    def one(node: eq.Expr) -> eq.Expr:
        if not isinstance(node, eq.Op) or node.name not in (*RING, *COMPARISONS, "shl", "shr"):
            return node
        args = tuple(map(bare, node.args))
        if _power(node, indices):
            made: eq.Expr = eq.Op(node.name, (replace(args[0], type=INT), to_expr(to_poly(args[1]))), INT)
        elif not any(a in known for a in args) or not all(map(counted, args)) or node.type.kind == "uint":
            return node
        elif node.name in COMPARISONS:
            return operation(node.name, args, node.type)
        else:
            made = operation(node.name, args, INT)
        known.add(made)
        return made

    return lambda e: transform(e, one, memo)

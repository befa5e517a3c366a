"""Triangular systems of cuBLAS, as ``jax.lax.linalg.triangular_solve``."""

from __future__ import annotations

from typing import Any

from kraise.ir import host as h
from kraise.ir.types import NUMBER


def triangular_solve(a: h.Expr, b: h.Expr, right: bool, upper: bool, trans: bool, unit: bool, span: Any) -> h.Library:
    """``op(A) X = B`` of column-major matrices, over rows: each matrix is its transpose, left is right."""
    whole = "np.tril({0}, -1) + np.eye(len({0}))" if upper else "np.triu({0}, 1) + np.eye(len({0}))"
    matrix = whole if unit else "np.tril({0})" if upper else "np.triu({0})"
    changed = matrix.replace("{0}", "d{0}").replace(" + np.eye(len(d{0}))", "")
    at, dt = (f"({m}).T" if trans else f"({m})" for m in (matrix, changed))
    if right:
        numpy, rule = f"np.linalg.solve({at}, {{1}})", f"np.linalg.solve({at}, d{{1}} - {dt} @ {{y}})"
    else:
        numpy = f"np.linalg.solve({at}.T, {{1}}.T).T"
        rule = f"np.linalg.solve({at}.T, (d{{1}} - {{y}} @ {dt}).T).T"
    words = [f"left_side={right}", f"lower={upper}", f"transpose_a={trans}", f"unit_diagonal={unit}"]
    given = ", ".join(w for w in words if not w.endswith("=False"))
    jnp = f"jax.lax.linalg.triangular_solve({{0}}, {{1}}{', ' + given if given else ''})"
    return h.Library("triangular_solve", (a, b), NUMBER, True, jnp, rule, numpy=numpy, span=span)

"""Conditions as conjunctions of integer facts."""

import itertools

import pytest

from kraise.analysis.conditions import classify, conjuncts, fact_to_expr, negate
from kraise.analysis.dependence import implied, impossible
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, FLOAT64, INT
from tests.analysis.test_poly import I, J, N, op
from tests.analysis.test_poly import evaluate as value


def c(name, a, b):
    args = tuple(eq.Const(x, INT) if isinstance(x, int) else x for x in (a, b))
    return eq.Op(name, args, BOOL)


def holds(e, env):
    if e.name == "not":
        return not holds(e.args[0], env)
    if e.name in ("and", "or"):
        parts = [holds(a, env) for a in e.args]
        return all(parts) if e.name == "and" else any(parts)
    a, b = (value(x, env) for x in e.args)
    return {"lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b, "eq": a == b, "ne": a != b}[e.name]


BASE = [c(r, I, op("sub", N, J)) for r in ("lt", "le", "gt", "ge", "eq", "ne")] + [
    c("ne", op("mod", I, 2), 0), c("ne", op("mod", op("sub", I, J), 2), 1), c("eq", op("mod", I, 3), 1),
    c("lt", I, eq.Op("min", (J, N), INT)), c("ge", I, eq.Op("max", (J, N), INT)), c("lt", I, eq.Op("max", (J, N), INT)),
]  # fmt: skip
ENVS = [dict(zip("ijn", v, strict=True)) for v in itertools.product(range(-2, 3), repeat=3)]


@pytest.mark.parametrize("at", range(len(BASE)))
def test_forms_keep_the_meaning(at):
    e = BASE[at]
    other = BASE[(at + 1) % len(BASE)]
    both = eq.Op("and", (e, negate(other)), BOOL)
    neither = eq.Op("not", (eq.Op("or", (e, other), BOOL),), BOOL)
    for env in ENVS:
        assert holds(negate(e), env) is not holds(e, env)
        assert all(holds(x, env) for x in conjuncts(e)) is holds(e, env)
        assert all(holds(x, env) for x in conjuncts(both)) is holds(both, env)
        assert all(holds(x, env) for x in conjuncts(neither)) is holds(neither, env)
        for sign in (e, negate(e)):
            fact = classify(sign)
            if fact is not None:
                assert holds(fact_to_expr(fact), env) is holds(sign, env)


def test_comparisons_of_floats_are_data():
    x = eq.Param("x", FLOAT64)
    less = eq.Op("lt", (x, eq.Const(0.0, FLOAT64)), BOOL)
    assert classify(less) is None
    assert negate(less) is eq.Op("not", (less,), BOOL)


@pytest.mark.parametrize("a", range(len(BASE)))
def test_implied_is_never_wrong(a):
    path = (BASE[a], c("ge", I, 0))
    for e in BASE:
        if implied(path, e):
            assert all(holds(e, env) for env in ENVS if all(holds(p, env) for p in path))
    assert not impossible(path) or not any(all(holds(p, env) for p in path) for env in ENVS)


def test_implied():
    assert implied((c("lt", I, J), c("lt", J, N)), c("lt", I, op("sub", N, 1)))
    assert not implied((c("lt", I, J), c("lt", J, N)), c("lt", I, op("sub", N, 2)))
    assert impossible((c("lt", I, J), c("lt", J, I)))
    assert not impossible((c("le", I, J), c("le", J, I)))

"""Index arithmetic in normal form, against plain evaluation."""

import random

import pytest

from kraise.analysis.poly import Poly, normal, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT

I, J, N = eq.Index("i", INT), eq.Index("j", INT), eq.Param("n", INT)  # noqa: E741


def op(name, *args):
    return eq.Op(name, tuple(eq.Const(a, INT) if isinstance(a, int) else a for a in args), INT)


def evaluate(e, env):
    match e:
        case eq.Const(value=v):
            return v
        case eq.Index(name=n) | eq.Param(name=n):
            return env[n]
        case eq.Op(name="neg", args=(a,)):
            return -evaluate(a, env)
        case eq.Op(name=name, args=(a, b)):
            a, b = evaluate(a, env), evaluate(b, env)
            more = {
                "floordiv": lambda: a // b,
                "mod": lambda: a % b,
                "min": lambda: min(a, b),
                "max": lambda: max(a, b),
            }
            return more[name]() if name in more else {"add": a + b, "sub": a - b, "mul": a * b}[name]
    raise AssertionError(e)


def grown(rng, depth):
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([I, J, N, eq.Const(rng.randint(-3, 3), INT)])
    if rng.random() < 0.15:
        return op("floordiv", grown(rng, depth - 1), 2)
    return op(rng.choice(["add", "sub", "mul"]), grown(rng, depth - 1), grown(rng, depth - 1))


@pytest.mark.parametrize("seed", range(40))
def test_the_normal_form_has_the_value(seed):
    rng = random.Random(seed)
    e = grown(rng, 4)
    for _ in range(5):
        env = {n: rng.randint(-4, 4) for n in "ijn"}
        assert evaluate(normal(e), env) == evaluate(e, env)
    assert normal(normal(e)) is normal(e)


def test_spellings_are_one():
    a = op("add", op("mul", I, N), J)
    b = op("sub", op("add", op("mul", N, op("add", I, 1)), J), N)
    assert to_poly(a) == to_poly(b) and hash(to_poly(a)) == hash(to_poly(b))
    assert to_poly(op("floordiv", I, 2)) != to_poly(I)


def test_parts():
    p = to_poly(op("add", op("mul", I, op("mul", 3, N)), op("sub", J, 4)))
    assert p.coefficient(I) == to_poly(op("mul", 3, N)) and p.coefficient(J).value == 1
    assert p.offset == -4 and p.value is None and (p - p).value == 0
    assert p.indices() == {"i", "j"} and p.without(I) == to_poly(op("sub", J, 4))
    assert p.is_affine_in({"i"}) and not to_poly(op("mul", I, J)).is_affine_in({"i", "j"})
    assert not to_poly(op("floordiv", I, 2)).is_affine_in({"i"})
    assert p.substitute(J, Poly({(): 9})) == to_poly(op("add", op("mul", op("mul", 3, N), I), 5))
    assert to_expr(Poly()) is eq.Const(0, INT)

"""Whether two accesses may meet, against enumeration."""

# ruff: noqa: E501 - kernels on one line

import itertools
import random

import pytest

from kraise.analysis.dependence import Access, may_meet
from tests.analysis.test_conditions import c, holds, value
from tests.analysis.test_poly import I, J, N, op

RANGE = (c("ge", I, 0), c("lt", I, N), c("ge", J, 0), c("lt", J, N))
SUBSCRIPTS = [I, J, op("add", I, 1), op("sub", I, 1), op("mul", 2, I), op("add", op("mul", 2, I), 1), op("sub", op("sub", N, 1), I),
              op("add", I, J), op("floordiv", I, 2), op("add", op("mul", 2, I), J)]  # fmt: skip
GUARDS = [
    (),
    (c("lt", J, I),),
    (c("gt", I, 1),),
    (c("eq", op("mod", I, 2), 0),),
    (c("ne", I, J),),
    (c("lt", op("mul", 2, I), op("sub", N, 1)),),
]
TEST = {"!=": lambda a, b: a != b, "<": lambda a, b: a < b, ">": lambda a, b: a > b}


def instances(a, n):
    for i, j in itertools.product(range(n), repeat=2):
        env = {"i": i, "j": j, "n": n}
        if all(holds(p, env) for p in a.path):
            yield env, tuple(value(s, env) for s in a.subscripts)


@pytest.mark.parametrize("seed", range(60))
def test_never_denied(seed):
    rng = random.Random(seed)
    two = rng.random() < 0.4
    accesses = [
        Access("y", tuple(rng.choices(SUBSCRIPTS, k=2 if two else 1)), (*RANGE, *rng.choice(GUARDS)), write)
        for write in (True, False)
    ]
    shared = frozenset("j") if rng.random() < 0.3 else frozenset()
    relation = rng.choice(list(TEST))
    answer = may_meet(*accesses, ("i",), shared, relation)
    met = any(
        at == to and TEST[relation](a["i"], b["i"]) and (not shared or a["j"] == b["j"])
        for n in (1, 2, 3, 4)
        for a, at in instances(accesses[0], n)
        for b, to in instances(accesses[1], n)
    )
    assert answer or not met


def test_affine_answers_are_exact():
    a = Access("y", (op("mul", 2, I),), RANGE, True)
    b = Access("y", (op("add", op("mul", 2, I), 1),), RANGE, False)
    assert not may_meet(a, b, ("i",), frozenset())
    shifted = Access("y", (op("add", I, 1),), RANGE, False)
    own = Access("y", (I,), RANGE, True)
    assert may_meet(own, shifted, ("i",), frozenset("j"), ">") and not may_meet(
        own, shifted, ("i",), frozenset("j"), "<"
    )
    assert not may_meet(own, own, ("i",), frozenset())
    assert not may_meet(own, Access("x", (I,), RANGE, False), ("i",), frozenset())


def test_unknown_subscripts_may_meet():
    from kraise.ir import equations as eq
    from kraise.ir.types import INT

    gather = Access("y", (eq.Read(eq.Version("k", 0), (I,), INT),), RANGE, True)
    assert may_meet(gather, gather, ("i",), frozenset())

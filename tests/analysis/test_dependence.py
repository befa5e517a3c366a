"""Whether two accesses may meet, against enumeration."""

# ruff: noqa: E501 - kernels on one line

import itertools
import random
from dataclasses import replace

import pytest

from kraise.analysis.dependence import Access, may_meet, nonnegative
from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from tests.analysis.test_conditions import c, holds, value
from tests.analysis.test_poly import I, J, N, op

RANGE = (c("ge", I, 0), c("lt", I, N), c("ge", J, 0), c("lt", J, N))
SUBSCRIPTS = [I, J, op("add", I, 1), op("sub", I, 1), op("mul", 2, I), op("add", op("mul", 2, I), 1), op("sub", op("sub", N, 1), I),
              op("add", I, J), op("floordiv", I, 2), op("add", op("mul", 2, I), J),
              op("add", op("mul", I, N), J), op("sub", op("mul", I, N), J), op("mul", J, N),
              op("add", op("mul", I, op("sub", N, 2)), J)]  # fmt: skip
GUARDS = [
    (c("ge", N, 1),),
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


def test_rows_of_a_size():
    cell = op("add", op("mul", I, N), J)
    sized = (*RANGE, c("ge", N, 1))
    rows = Access("y", (cell,), sized, True)
    assert not may_meet(rows, rows, ("i", "j"), frozenset())
    longer = Access("y", (cell,), (*sized[:3], c("le", J, N), sized[4]), True)
    assert may_meet(longer, longer, ("i", "j"), frozenset())


S = eq.Param("s", INT)


@pytest.mark.parametrize(
    ("rounds", "inside", "right"),
    [
        ("floordiv", c("lt", J, S), True),
        ("tdiv", c("lt", J, S), True),
        ("floordiv", c("le", J, S), False),
        ("tdiv", c("le", J, S), False),
    ],
)
def test_whole_tiles_stay_below_the_size(rounds, inside, right):
    """``i < n / s`` and ``j < s``: ``i * s + j < n``, where n is not negative."""
    path = (c("ge", I, 0), c("lt", I, op(rounds, N, S)), c("ge", J, 0), inside, c("ge", N, 0), c("ge", S, 1))
    assert nonnegative(path, to_poly(op("sub", op("sub", N, 1), op("add", op("mul", I, S), J)))) == right
    if not right:
        return
    for n, s in itertools.product(range(12), range(1, 6)):
        assert all(i * s + j < n for i in range(n // s) for j in range(s))


def test_unknown_subscripts_may_meet():
    gather = Access("y", (eq.Read(eq.Version("k", 0), (I,), INT),), RANGE, True)
    assert may_meet(gather, gather, ("i",), frozenset())


def test_stores_of_different_values_ask_once():
    """Whether two places meet does not depend on what is stored there, nor on when."""
    from kraise.analysis import dependence

    dependence._met.cache_clear()
    stores = [Access("y", (I,), RANGE, True, order=at, value=op("add", J, at)) for at in range(5)]
    assert not any(may_meet(a, b, ("i",), frozenset()) for a in stores for b in stores)
    assert dependence._met.cache_info().misses == 1
    assert may_meet(replace(stores[0], subscripts=(J,)), stores[1], ("i",), frozenset())
    folded = replace(stores[0], folds=("j",))
    assert not may_meet(folded, stores[1], ("i",), frozenset()) and dependence._met.cache_info().misses == 3

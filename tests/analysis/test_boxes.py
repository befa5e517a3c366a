"""Boxes: the axes and what they do not say, together exactly the condition."""

# ruff: noqa: E501 - kernels on one line

import itertools
import random

import pytest

from kraise.analysis.boxes import Unbounded, box
from kraise.ir import equations as eq
from kraise.ir.types import INT
from tests.analysis.test_conditions import c, holds, value
from tests.analysis.test_poly import I, J, N, op

RANGE = (c("ge", I, 0), c("lt", I, N), c("ge", J, 0), c("lt", J, N))
MORE = [
    c("lt", J, I), c("le", J, I), c("ge", op("add", I, J), 2), c("eq", I, J), c("ne", I, J), c("gt", I, 1), c("ne", I, 0),
    c("ne", I, op("sub", N, 1)), c("lt", op("mul", 2, I), N), c("ge", op("mul", 3, I), 4), c("eq", op("mod", I, 2), 1),
    c("eq", op("mod", op("sub", I, 1), 3), 0), c("ne", op("mod", I, 2), 0), c("eq", I, 2), c("eq", op("mul", 2, I), 4),
    c("lt", op("sub", I, J), 2), c("lt", op("mul", I, J), 3), c("le", I, op("floordiv", N, 2)), c("eq", op("mod", I, N), 1),
]  # fmt: skip


def points(found, n):
    spans = [range(value(a.lo, {"n": n}), value(a.hi, {"n": n}), a.step) for a in found.axes]
    for v in itertools.product(*spans):
        env = dict(zip((a.name for a in found.axes), v, strict=True)) | {"n": n}
        if all(holds(r, env) for r in found.residue):
            yield env["i"], env["j"]


@pytest.mark.parametrize("seed", range(60))
def test_exactly_the_condition(seed):
    rng = random.Random(seed)
    condition = (*RANGE, *(rng.sample(MORE, rng.choice((1, 2, 3)))))
    found = box(("i", "j"), condition)
    for n in (1, 2, 3, 5):
        every = itertools.product(range(n), repeat=2)
        expected = [(i, j) for i, j in every if all(holds(x, {"i": i, "j": j, "n": n}) for x in condition)]
        assert sorted(points(found, n)) == expected


def test_no_points():
    found = box(("i", "j"), RANGE)
    assert list(points(found, 0)) == []


def test_unbounded():
    with pytest.raises(Unbounded) as problem:
        box(("i",), (c("ge", I, 0),))
    assert (problem.value.name, problem.value.side) == ("i", "upper")
    with pytest.raises(Unbounded):
        box(("i",), (c("ge", I, 0), c("lt", I, eq.Read(eq.Version("k", 0), (J,), INT))))


def test_a_bound_by_the_context():
    found = box(("j",), (c("ge", J, 0), c("lt", J, I), c("ge", I, 0), c("lt", I, N)), ("i",))
    assert found.axes[0].hi is op("sub", N, 1) and c("lt", J, I) in found.residue

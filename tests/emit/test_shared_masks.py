"""A branch in a branch is chosen by the lanes for which an operand in it is made safe."""

import pytest

from kraise import pipeline
from kraise.emit.text.shared_masks import shared
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, FLOAT32, INT
from tests.checks import verified

SOURCE = """
import math

def f(x, y, out, n):
    for i in range(n):
        if x[i] <= 0.0:
            out[i] = 1.0
        elif {condition}:
            out[i] = {first}
        else:
            out[i] = {last}
"""
SAFE, PLAIN = "math.log(x[i] / y[i])", "2.0 * x[i]"


@pytest.mark.parametrize(
    ("condition", "first", "last"),
    [("y[i] == 0.0", PLAIN, SAFE), ("y[i] != 0.0", SAFE, PLAIN), ("not y[i] > 0.1", PLAIN, SAFE)],
)
def test_one_mask_for_both(condition, first, last):
    done = pipeline.translate(SOURCE.format(condition=condition, first=first, last=last), "k.py")
    assert done.text is not None and "jnp.where(both,jnp.log(" in "".join(done.text.split())
    ((report,), problems) = verified(done, pipeline.Request(shapes=dict.fromkeys(("x", "y", "out"), (9,))))
    assert report.ok and not problems


def test_not_by_the_lanes_of_other_conditions():
    x, y, one = (eq.Param(n, FLOAT32) for n in "xyw")
    a, b, c = (eq.Op("lt", (p, eq.Const(k, FLOAT32)), BOOL) for k, p in enumerate((x, y, one)))
    no = [eq.Op("not", (m,), BOOL) for m in (a, b, c)]

    def select(mask, first, second):
        return eq.Op("select", (mask, first, second), FLOAT32)

    def chosen(mask):
        value = select(a, x, select(b, y, select(mask, one, x)))
        axis = eq.Axis("i", eq.Const(0, INT), eq.Param("n", INT))
        before, after = eq.Version("z", 0), eq.Version("z", 1)
        write = eq.Write(before, after, (axis,), (eq.Index("i", INT),), value)
        return shared(eq.Kernel("f", (), (write,), (), ())).body[0].value, value

    both = eq.Op("and", (no[0], no[1]), BOOL)
    for other in (eq.Op("and", (no[0], no[2]), BOOL), eq.Op("and", (a, no[1]), BOOL), no[1]):
        after, before = chosen(other)
        assert after is before
    after, before = chosen(both)
    assert after is not before and after.args[2].args[0] is both


@pytest.mark.parametrize(("kind", "once"), [(INT, True), (FLOAT32, False)])  # neither way holds for a NaN
def test_integers_that_are_compared_in_both_ways_are_compared_once(kind, once):
    low, high = (eq.CarryIn("loop", n, (), kind) for n in ("low", "high"))
    less, more = (eq.Op(name, (low, high), BOOL) for name in ("le", "gt"))
    carried = tuple(
        eq.ScalarCarry(n.name, (), eq.Const(0, kind), eq.Op("select", (mask, high, low), kind), kind)
        for n, mask in ((low, less), (high, more))
    )
    axis = eq.Axis("r", eq.Const(0, INT), eq.Param("n", INT))
    loop = shared(eq.Kernel("f", (), (eq.Fold("loop", axis, carried, (), ()),), (), ())).body[0]
    assert loop.scalars[0].update.args[0] is less
    assert loop.scalars[1].update.args[0] is (eq.Op("not", (less,), BOOL) if once else more)

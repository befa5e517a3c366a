"""Numbers by thread: what divides by zero, or shifts by more than there are bits, is not known."""

import numpy as np
import pytest

from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.raising.collective.frame import THREAD, Frame, numbers

FRAME = Frame({}, None, False, eq.Const(64, INT), frozenset())
ONE, FORTY = eq.Const(1, INT), eq.Const(40, INT)


@pytest.mark.parametrize("name", ["shl", "floordiv"])
def test_what_is_no_number_is_not_known(name):
    e = eq.Op(name, (ONE, eq.Op("sub", (THREAD, FORTY), INT)), INT)
    assert numbers(FRAME, e, 64) is None


def test_what_is_one_is():
    np.testing.assert_array_equal(numbers(FRAME, eq.Op("shl", (THREAD, ONE), INT), 4), [0, 2, 4, 6])

"""Numbers by thread: what divides by zero, or shifts by more than there are bits, is not known."""

import numpy as np
import pytest

from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.raising.collective.frame import THREAD, Frame, known_numbers, numbers
from kraise.raising.collective.marks import Beyond

FRAME = Frame({}, None, False, eq.Const(64, INT), frozenset())
ONE, FORTY = eq.Const(1, INT), eq.Const(40, INT)


@pytest.mark.parametrize("name", ["shl", "floordiv"])
def test_what_is_no_number_is_not_known(name):
    e = eq.Op(name, (ONE, eq.Op("sub", (THREAD, FORTY), INT)), INT)
    assert known_numbers(FRAME, e, 64) is None
    with pytest.raises(Beyond):
        numbers(FRAME, e, 64)


def test_what_is_one_is():
    np.testing.assert_array_equal(known_numbers(FRAME, eq.Op("shl", (THREAD, ONE), INT), 4), [0, 2, 4, 6])

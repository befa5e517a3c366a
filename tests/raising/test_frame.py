"""What an expression is for each thread of a block."""

import numpy as np
import pytest

from kraise.ir import equations as eq
from kraise.ir.types import INT, INT32
from kraise.raising.collective.frame import THREAD, Frame, numbers

EXTENT = eq.Param("block.x", INT)


def const(v):
    return eq.Const(v, INT32)


@pytest.mark.parametrize(
    ("e", "expected"),
    [
        (eq.Op("shl", (const(1), THREAD), INT32), [1, 2, 4, 8]),
        (eq.Op("shr", (EXTENT, THREAD), INT32), [4, 2, 1, 0]),
        (eq.Op("shl", (const(1), eq.Op("mul", (EXTENT, const(16)), INT32)), INT32), None),  # by 64
        (eq.Op("mod", (THREAD, eq.Op("sub", (EXTENT, const(4)), INT32)), INT32), None),  # by 0
        (eq.Op("add", (THREAD, eq.Param("n", INT32)), INT32), None),
    ],
)
def test_numbers_of_the_threads_of_a_block(e, expected):
    found = numbers(Frame({}, None, False, EXTENT, frozenset(), {}), e, 4)
    assert (found is None) if expected is None else np.array_equal(found, expected)

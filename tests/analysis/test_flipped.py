"""What is said of flipped bits holds for all small numbers, signed and unsigned."""

import itertools
import re

import pytest

from kraise.analysis.flipped import Bits, Term, parts
from kraise.ir import equations as eq
from kraise.ir.types import INT, ScalarType

UNSIGNED, NARROW = ScalarType("uint", 32), ScalarType("uint", 8)


def said():
    bits = Bits()
    out = bits.add("xor", Term("x", "m", "fx")) + bits.add("and_", Term("x", "m", "ax"))
    return out + bits.add("and_", Term("y", "m", "ay")) + bits.add("xor", Term("y", "m", "fy"))


@pytest.mark.parametrize("unsigned", [False, True])
def test_it_holds(unsigned):
    whole = (1 << 32) - 1 if unsigned else -1
    for constraint in said():
        code = compile(re.sub(r"(?<![!<>])=", "==", constraint), "constraint", "eval")
        for x, y, m in itertools.product(range(-3, 9), range(-3, 9), range(-5, 9)):
            held = {"x": x, "y": y, "m": m, "fx": (x ^ m) & whole, "fy": (y ^ m) & whole}
            held |= {"ax": x & m & whole, "ay": y & m & whole}
            assert eval(code, {}, held), (constraint, held)  # noqa: S307


def test_what_a_narrow_type_cuts_off_is_no_flip():
    i, m = eq.Index("i", INT), eq.Param("m", ScalarType("int", 32))
    assert parts(eq.Op("xor", (eq.Cast(UNSIGNED, i), m), UNSIGNED)) == ("xor", i, m)
    assert parts(eq.Op("xor", (eq.Cast(NARROW, i), m), UNSIGNED)) == ("xor", eq.Cast(NARROW, i), m)
    assert parts(eq.Op("xor", (i, m), NARROW)) is None
    assert parts(eq.Op("xor", (i, eq.Index("k", INT)), UNSIGNED)) is None


def test_it_holds_of_masks_that_move():
    bits = Bits()
    said_of_both = bits.add("moving", Term("x", "m", "fx", True)) + bits.add("moving", Term("y", "k", "fy", True))
    for constraint in said_of_both + bits.add("xor", Term("y", "c", "gy")):
        code = compile(re.sub(r"(?<![!<>])=", "==", constraint), "constraint", "eval")
        for x, y, m, k in itertools.product(range(-2, 6), repeat=4):
            held = {"x": x, "y": y, "m": m, "k": k, "c": 3, "fx": x ^ m, "fy": y ^ k, "gy": y ^ 3}
            assert eval(code, {}, held), (constraint, held)  # noqa: S307
